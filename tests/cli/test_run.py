"""`genkit-eval run`: from the command line to a run file, a report and an exit code."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from genkit_eval.cli.options import parse_evaluator
from tests.cli.conftest import CommandLine, run_files

RUN = ("run", "numbers.jsonl", "-t", "echo")


def test_it_reports_and_says_where_the_run_lies(genkit_eval: CommandLine, app: Path) -> None:
    done = genkit_eval(*RUN, "-e", "my/below")

    [file] = run_files(app)
    assert done.code == 0
    assert "50 % of 4" in done.out
    assert "n-2  FAIL" in done.out
    assert f"run file  {file}" in done.out
    assert f"genkit-eval show {file.stem}" in done.out


def test_progress_goes_to_stderr_with_a_line_at_start_and_end(genkit_eval: CommandLine, app: Path) -> None:
    done = genkit_eval(*RUN, "-e", "my/yes")

    lines = [line for line in done.err.splitlines() if "prints" not in line]
    assert lines[0].endswith(": 4 cases")
    assert lines[-1].startswith("4 of 4 cases in ")
    assert lines[-1].endswith("100 % PASS of 4")


def test_what_the_app_prints_stays_out_of_the_report(genkit_eval: CommandLine, app: Path) -> None:
    done = genkit_eval(*RUN, "-e", "my/yes", "--json")

    assert done.json["summary"][0]["passRate"] == 1.0
    assert "the flow prints" in done.err
    assert "the app prints" in done.err


def test_options_of_an_evaluator_are_json_or_text(genkit_eval: CommandLine, app: Path) -> None:
    done = genkit_eval(*RUN, "-e", "my/below:limit=1,word=a=b", "--json")

    assert done.json["key"]["evaluators"][0]["options"] == {"limit": 1, "word": "a=b"}
    assert done.json["summary"][0]["passed"] == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a/b", ("a/b", {})),
        ("a/b:c", ("a/b:c", {})),
        ("a:x=1", ("a", {"x": 1})),
        ("a:x=1.5,y=true,z=null", ("a", {"x": 1.5, "y": True, "z": None})),
        ("a:x=[1,2],y=b", ("a", {"x": [1, 2], "y": "b"})),
        ('a:x={"k=":"v,y=2"},y=3', ("a", {"x": {"k=": "v,y=2"}, "y": 3})),
        ('a:x="p,y=2"', ("a", {"x": "p,y=2"})),
        ("a:x=b,c", ("a", {"x": "b,c"})),
        ("a:x=", ("a", {"x": ""})),
        ("a:x=NaN", ("a", {"x": "NaN"})),
        ("a:x=2026-11-30", ("a", {"x": "2026-11-30"})),
        ("a:x=9007199254740993", ("a", {"x": 9007199254740993})),
        ("a:x=12:30,y=^a{1,2}$", ("a", {"x": "12:30", "y": "^a{1,2}$"})),
    ],
)
def test_evaluator_specifications(text: str, expected: object) -> None:
    assert parse_evaluator(text) == expected


def test_given_outputs_need_no_target(genkit_eval: CommandLine, app: Path) -> None:
    (app / "answers.json").write_text('[{"input": 1, "output": "7", "reference": "7"}]', encoding="utf-8")

    done = genkit_eval("run", "answers.json", "-e", "genkitEval/regex", "--json")

    assert done.code == 0
    assert "actionRef" not in done.json["key"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((*RUN, "-e", "my/yes"), "unknown evaluator 'my/yes'"),
        (("run", "answers.json", "-t", "echo", "-e", "genkitEval/regex"), "unknown "),
        (RUN, "no evaluators are named"),
        (("evaluator", "show", "my/yes"), "unknown evaluator 'my/yes'"),
    ],
)
def test_a_forgotten_app_is_asked_for(
    genkit_eval: CommandLine, app: Path, arguments: tuple[str, ...], said: str
) -> None:
    (app / "genkit-eval.toml").write_text("timeout = 9\n", encoding="utf-8")
    (app / "answers.json").write_text('[{"input": 1, "reference": "7"}]', encoding="utf-8")

    done = genkit_eval(*arguments)

    assert done.code == 2
    assert said in done.err
    assert f"say which with --app, like --app app.py:ge, or as app in {app / 'genkit-eval.toml'}" in done.err


def test_a_name_that_the_app_lacks_is_no_forgotten_app(genkit_eval: CommandLine, app: Path) -> None:
    done = genkit_eval("run", "numbers.jsonl", "-t", "ehco", "-e", "my/yes")

    assert "did you mean 'echo'" in done.err
    assert "--app" not in done.err


@pytest.mark.parametrize("option", ["-e", "-m", "--evaluator", "--metric"])
def test_metrics_are_named_by_one_option_everywhere(genkit_eval: CommandLine, app: Path, option: str) -> None:
    run = genkit_eval(*RUN, option, "my/yes", "--json")
    stored = genkit_eval("dataset", "add", "numbers-1", "numbers.jsonl", option, "my/yes", "--json")

    assert [row["evaluator"] for row in run.json["key"]["evaluators"]] == ["/evaluator/my/yes"]
    assert stored.json["metricRefs"] == ["my/yes"]


def test_samples_come_from_stdin(genkit_eval: CommandLine, app: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"input": 1}\n')))

    done = genkit_eval("run", "-", "--format", "jsonl", "-t", "echo", "-e", "my/yes", "--json")

    assert (done.code, done.json["cases"]) == (0, 1)


def test_a_stored_dataset_brings_target_and_metrics(genkit_eval: CommandLine, app: Path) -> None:
    genkit_eval("dataset", "add", "numbers-1", "numbers.jsonl", "-t", "echo", "-m", "my/below")

    done = genkit_eval("run", "numbers-1", "--json")

    assert done.json["key"]["datasetId"] == "numbers-1"
    assert done.json["key"]["actionRef"] == "/flow/echo"
    assert done.json["summary"][0]["evaluator"] == "/evaluator/my/below"


def test_filters_choose_samples(genkit_eval: CommandLine, app: Path) -> None:
    def cases(*options: str) -> list[str]:
        genkit_eval(*RUN, "-e", "my/yes", *options)
        results = genkit_eval("show", "--json").json["results"]
        return [row["testCaseId"] for row in results]

    assert cases("--limit", "2") == ["n-0", "n-1"]
    assert cases("--id", "n-3", "--id", "n-1") == ["n-1", "n-3"]
    assert cases("--sample", "2", "--seed", "1") == cases("--sample", "2", "--seed", "1")


@pytest.mark.case("cli-ci/exit-codes")
def test_exit_codes_tell_product_from_tool(genkit_eval: CommandLine, app: Path) -> None:
    all_pass = genkit_eval(*RUN, "-e", "my/yes", "--fail-under", "my/yes=1")
    under_the_gate = genkit_eval(*RUN, "-e", "my/below", "--fail-under", "my/below=0.9")
    flow_error = genkit_eval("run", "numbers.jsonl", "-t", "fragile", "-e", "my/yes")
    bad_option = genkit_eval(*RUN, "-e", "my/below:limt=3")

    assert [done.code for done in (all_pass, under_the_gate, flow_error, bad_option)] == [0, 100, 1, 2]
    assert "gate missed: my/below: pass rate 0.5 (2 of 4 judged) is not at least 0.9" in under_the_gate.out
    assert "1 FAILED cell (tolerated: 0)" in flow_error.last_line
    assert "did you mean 'limit'" in bad_option.err


def test_some_failed_cells_may_be_tolerated(genkit_eval: CommandLine, app: Path) -> None:
    done = genkit_eval("run", "numbers.jsonl", "-t", "fragile", "-e", "my/yes", "--max-failed", "1")

    assert done.code == 0


@pytest.mark.case("cli-ci/nothing-judged")
def test_nothing_judged_is_said_last(genkit_eval: CommandLine, app: Path) -> None:
    done = genkit_eval(*RUN, "-e", "my/judge", "--max-failed", "99", "--yes")

    assert done.code == 1
    assert done.last_line == "nothing was judged: of 4 cells 4 FAILED"


@pytest.mark.case("cli-ci/gate-out-of-range")
@pytest.mark.parametrize("value", ["80", "1.5", "-0.1", "nan", "inf", "much", ""])
def test_a_bound_out_of_range_is_refused_before_the_run(genkit_eval: CommandLine, app: Path, value: str) -> None:
    done = genkit_eval(*RUN, "-e", "my/yes", "--fail-under", f"my/yes={value}")

    assert done.code == 2
    assert run_files(app) == []


def test_a_bound_on_an_unknown_metric_is_refused_before_the_run(genkit_eval: CommandLine, app: Path) -> None:
    done = genkit_eval(*RUN, "-e", "my/yes", "--fail-under", "my/yess=0.5")

    assert done.code == 2
    assert "did you mean 'my/yes'" in done.err
    assert run_files(app) == []


@pytest.mark.case("comparison/all-inconclusive")
def test_a_gate_on_nothing_judged_has_its_own_message(genkit_eval: CommandLine, app: Path) -> None:
    (app / "open.jsonl").write_text('{"input": 1}\n', encoding="utf-8")
    arguments = ("run", "open.jsonl", "-t", "echo", "-e", "genkitEval/regex", "-e", "my/yes")

    done = genkit_eval(*arguments, "--fail-under", "genkitEval/regex=0")

    assert done.code == 100
    assert "genkitEval/regex: nothing was judged" in done.last_line


@pytest.mark.case("cli-ci/output-path-checked-first")
def test_a_bad_output_path_is_refused_before_the_run(genkit_eval: CommandLine, app: Path) -> None:
    done = genkit_eval(*RUN, "-e", "my/yes", "--output", "missing_dir/out.json")

    assert done.code == 2
    assert "there is no folder" in done.err
    assert run_files(app) == []


@pytest.mark.case("cli-ci/unknown-format")
@pytest.mark.parametrize("options", [("--output-format", "xlsx", "-o", "out.json"), ("-o", "out.xlsx")])
def test_an_unknown_output_format_is_refused(genkit_eval: CommandLine, app: Path, options: tuple[str, ...]) -> None:
    done = genkit_eval(*RUN, "-e", "my/yes", *options)

    assert done.code == 2
    assert "csv, json, jsonl" in done.err
    assert run_files(app) == []


@pytest.mark.parametrize("name", ["out.csv", "out.json", "out.jsonl"])
def test_results_are_exported(genkit_eval: CommandLine, app: Path, name: str) -> None:
    done = genkit_eval(*RUN, "-e", "my/yes", "-o", name)

    assert f"results   {name}" in done.out
    assert "n-3" in (app / name).read_text(encoding="utf-8")


def test_the_output_format_may_differ_from_the_ending(genkit_eval: CommandLine, app: Path) -> None:
    genkit_eval(*RUN, "-e", "my/yes", "-o", "out.txt", "--output-format", "json")

    assert len(json.loads((app / "out.txt").read_text(encoding="utf-8"))) == 4


@pytest.mark.case("security/log-forging")
def test_line_ends_in_ids_and_errors_forge_no_line(genkit_eval: CommandLine, app: Path) -> None:
    forged = "INFO run finished: 100% passed"
    row = {"testCaseId": f"t1\n{forged}", "input": 2, f"key\n{forged}": 1}
    (app / "forged.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")

    done = genkit_eval("run", "forged.jsonl", "-t", "fragile", "-e", "my/yes")
    shown = genkit_eval("show", "--all")

    lines = (done.out + done.err + shown.out + shown.err).splitlines()
    assert not any(line.startswith(forged) for line in lines)
    assert any(rf"t1\n{forged}" in line for line in lines)


@pytest.mark.case("security/log-forging")
def test_line_ends_in_problems_of_a_file_forge_no_line(genkit_eval: CommandLine, app: Path) -> None:
    forged = "INFO run finished: 100% passed"
    row = {"testCaseId": f"t1\n{forged}", "input": 2, "tags": f"x\n{forged}"}
    (app / "forged.jsonl").write_text(f"{json.dumps(row)}\n{json.dumps(row)}\n", encoding="utf-8")

    done = genkit_eval("run", "forged.jsonl", "-t", "echo", "-e", "my/yes")

    assert done.code == 2
    assert not any(line.startswith(forged) for line in done.err.splitlines())


@pytest.mark.case("cli-ci/run-file-names")
def test_a_run_file_has_a_name_for_every_system(genkit_eval: CommandLine, app: Path) -> None:
    genkit_eval("run", "numbers.jsonl", "-t", "a/b:c", "-e", "my/yes")

    [file] = run_files(app)
    assert all(character.isascii() and (character.isalnum() or character in "._-") for character in file.name)


def test_a_folder_in_place_of_a_file_is_called_so(genkit_eval: CommandLine, app: Path) -> None:
    (app / "samples").mkdir()

    done = genkit_eval("run", "samples", "-e", "my/yes")

    assert done.code == 2
    assert "'samples' is a folder: name a file of samples in it" in done.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run",), "Missing argument 'DATA': name a dataset, or a file of samples like questions.jsonl (see"),
        (
            ("resume",),
            "Missing argument 'RUN': name a run; genkit-eval list shows them (see genkit-eval resume --help)",
        ),
        (("run", "numbers.jsonl", "-t", "echo"), "no evaluators are named"),
        (("run", "numbers.jsonl", "-t", "ehco", "-e", "my/yes"), "did you mean 'echo'"),
        (("run", "numbers.jsonl", "-t", "echo", "-e", "my/yse"), "did you mean 'my/yes'"),
        (("run", "missing.jsonl", "-e", "my/yes"), "missing.jsonl: cannot be read"),
        (("run", "missing", "-e", "my/yes"), "add it with genkit-eval dataset add missing FILE, or name a file"),
        (
            ("run", "numbers.jsonl", "-e", "my/yes", "--repeats", "0"),
            "'--repeats': '0': expected a whole number from 1",
        ),
        (("run", "numbers.jsonl", "-e", "my/yes", "--timeout", "soon"), "'--timeout': 'soon': expected seconds from 0"),
        (("run", "numbers.jsonl", "-e", "my/yes", "--budget-usd", "nan"), "'nan': expected a number above 0"),
        (("run", "numbers.jsonl", "-t", "echo", "-e", "yes"), "unknown evaluator 'yes': did you mean 'my/yes'?"),
        (("run", "numbers", "-e", "my/yes"), "did you mean the file 'numbers.jsonl'?"),
        (("run", "numbers.json", "-e", "my/yes"), "did you mean 'numbers.jsonl'?"),
        (("run", "app", "--format", "csv", "-e", "my/yes"), "app: cannot be read"),
        (("run", "genkit-eval.toml", "-e", "my/yes"), "name it with --format"),
        (("run", "numbers.jsonl", "-e", "my/yes"), "name one with --target, or say --no-target"),
        (("run", "-", "-e", "my/yes"), "samples from stdin need --format"),
        (("run", "numbers.jsonl", "-t", "echo", "--no-target", "-e", "my/yes"), "exclude each other"),
        (("run", "numbers.jsonl", "-e", "my/yes", "--seed", "1"), "give --sample too"),
        (("run", "numbers.jsonl", "-e", "my/below:limit=1,limit=2"), "given twice"),
        (("run", "numbers.jsonl", "-e", "my/yes", "--output-format", "csv"), "give both"),
        (("run", "numbers.jsonl", "-e", "my/yes", "--app", "nowhere:ge"), "there is no module 'nowhere'"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(
    genkit_eval: CommandLine, app: Path, arguments: tuple[str, ...], said: str
) -> None:
    done = genkit_eval(*arguments)

    lines = [line for line in done.err.splitlines() if "prints" not in line]
    assert (done.code, done.out, len(lines)) == (2, "", 1)
    assert said in lines[0]


def test_an_error_is_a_document_too_where_json_is_asked_for(genkit_eval: CommandLine, app: Path) -> None:
    done = genkit_eval("run", "missing.jsonl", "-e", "my/yes", "--json")

    assert done.code == done.json["exitCode"] == 2
    assert "missing.jsonl" in done.json["error"]


def test_a_root_that_was_chosen_is_repeated_in_the_next_command(genkit_eval: CommandLine, app: Path) -> None:
    done = genkit_eval(*RUN, "-e", "my/yes", "--root", "elsewhere")

    assert f"--root {app / 'elsewhere'}" in done.out
    assert list((app / "elsewhere" / "evals").glob("run-*.json"))


def test_limits_come_from_options_before_settings(genkit_eval: CommandLine, app: Path) -> None:
    (app / "genkit-eval.toml").write_text('app = "app.py:ge"\ntimeout = 7\nmax_concurrency = 3\n', encoding="utf-8")

    done = genkit_eval(*RUN, "-e", "my/yes", "--target-timeout", "0", "--json")

    assert done.json["key"]["limits"] == {"maxConcurrency": 3, "targetSeconds": None, "evaluatorSeconds": 7}


def test_a_store_that_fails_says_how_to_go_on(genkit_eval: CommandLine, app: Path) -> None:
    """The run file cannot be put into its place, because a folder is there."""
    with (app / "app.py").open("a", encoding="utf-8") as file:
        file.write(
            "\n@ge.flow('blocking')\ndef blocking(value):\n    from pathlib import Path\n"
            "    for journal in Path('.genkit/evals').glob('*.journal.jsonl'):\n"
            "        Path(str(journal).replace('.journal.jsonl', '.json')).mkdir(exist_ok=True)\n"
        )

    done = genkit_eval("run", "numbers.jsonl", "-t", "blocking", "-e", "my/yes")

    assert done.code == 2
    assert "what is finished is kept; go on with: genkit-eval resume run-" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("more", [[], ["--format", "jsonl"]])
def test_an_output_never_takes_the_place_of_the_samples(genkit_eval: CommandLine, app: Path, more: list[str]) -> None:
    before = (app / "numbers.jsonl").read_bytes()
    (app / "link.jsonl").symlink_to(app / "numbers.jsonl")

    for output in ("numbers.jsonl", "link.jsonl"):
        done = genkit_eval("run", "numbers.jsonl", *more, "-t", "echo", "-e", "my/yes", "-o", output)

        assert done.code == 2
        assert "is the file of the samples" in done.err
    assert (app / "numbers.jsonl").read_bytes() == before


@pytest.mark.parametrize("most", ["1", "0.25", "25%"])
def test_too_many_failures_stop_a_run_early_and_it_can_go_on(genkit_eval: CommandLine, app: Path, most: str) -> None:
    arguments = ["-t", "fragile", "-e", "my/yes", "--max-concurrency", "1", "--max-failures", most]

    done = genkit_eval("run", "numbers.jsonl", *arguments)
    shown = genkit_eval("run", "numbers.jsonl", *arguments, "--json")
    resumed = genkit_eval("resume", shown.json["evalRunId"], "--json")

    assert done.code == shown.code == 1
    assert done.last_line == "stopped early: 1 case FAILED, which ends the run (max_failures)"
    assert "INCOMPLETE: 3 of 4 cases so far" in done.out
    assert "what is finished is kept; go on with: genkit-eval resume" in done.err
    assert shown.json["key"]["stopped"]["cause"] == "failures"
    assert shown.json["resume"] == f"genkit-eval resume {shown.json['evalRunId']}"
    assert resumed.json["cases"] == 4
    assert resumed.json["state"] == "COMPLETE"


@pytest.mark.parametrize("most", ["0", "many", "1.5", "110%"])
def test_a_limit_of_failures_that_cannot_be_is_refused(genkit_eval: CommandLine, app: Path, most: str) -> None:
    done = genkit_eval("run", "numbers.jsonl", "-t", "echo", "-e", "my/yes", "--max-failures", most)

    assert done.code == 2
    assert "failures" in done.err
