"""`evaluator`, `init`, `doctor`, `resume` and the verbs of Genkit's command line."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from genkit_eval.settings import SETTINGS
from genkit_eval.starter import STARTER_COMMAND
from tests.cli.conftest import CommandLine, run_files


def test_evaluators_are_listed_with_what_they_say(genkit_eval: CommandLine, app: Path) -> None:
    done = genkit_eval("evaluator", "list")

    assert "my/below" in done.out
    assert "The output is below the limit." in done.out
    assert "genkitEval/regex" in done.out


def test_without_an_app_the_installed_plugins_are_asked(genkit_eval: CommandLine) -> None:
    done = genkit_eval("evaluator", "list", "--json")

    assert isinstance(done.json["evaluators"], list)


def test_an_evaluator_is_explained(genkit_eval: CommandLine, app: Path) -> None:
    done = genkit_eval("evaluator", "show", "my/below")

    assert "reads      output" in done.out
    assert "limit=2  whole number\n" in done.out
    assert genkit_eval("evaluator", "show", "/evaluator/my/below", "--json").json["options"]["title"] == "Options"


def test_an_unknown_evaluator_is_refused_with_the_nearest(genkit_eval: CommandLine, app: Path) -> None:
    done = genkit_eval("evaluator", "show", "my/belwo")

    assert done.code == 2
    assert "did you mean 'my/below'" in done.err


def test_what_init_writes_runs_at_once(genkit_eval: CommandLine, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = genkit_eval("init", "demo")
    monkeypatch.chdir(folder / "demo")

    done = genkit_eval(*STARTER_COMMAND)

    assert shlex.join(["genkit-eval", *STARTER_COMMAND]) in written.out
    assert done.code == 0
    assert "75 % of 4" in done.out


def test_init_overwrites_nothing(genkit_eval: CommandLine, folder: Path) -> None:
    (folder / "questions.jsonl").write_text("mine", encoding="utf-8")

    done = genkit_eval("init")

    assert done.code == 2
    assert "genkit-eval: questions.jsonl exists already" in done.err
    assert not (folder / "app.py").exists()
    assert (folder / "questions.jsonl").read_text(encoding="utf-8") == "mine"


def test_doctor_finds_nothing_wrong_with_a_sound_project(genkit_eval: CommandLine, app: Path) -> None:
    genkit_eval("run", "numbers.jsonl", "-t", "echo", "-e", "my/yes")

    done = genkit_eval("doctor")

    assert (done.code, done.last_line) == (0, "all is well")
    assert f"app.py:ge (from {app / 'genkit-eval.toml'})" in done.out
    assert "1 finished" in done.out


def test_doctor_points_at_what_is_broken_and_left_over(genkit_eval: CommandLine, app: Path) -> None:
    genkit_eval("run", "numbers.jsonl", "-t", "echo", "-e", "my/yes")
    genkit_eval("dataset", "add", "numbers-1", "numbers.jsonl")
    [file] = run_files(app)
    file.write_bytes(file.read_bytes()[:-9])
    (file.parent / ".index.json.1-ab.tmp").write_bytes(b"left")
    (file.parent / "index.json").write_bytes(b"{")

    done = genkit_eval("doctor")

    assert done.code == 2
    assert f"! run {file.stem}" in done.out
    assert "! index" in done.out
    assert "1 of killed processes, 4 bytes" in done.out
    assert done.last_line == "2 problems, marked with !"
    # reading has made the index anew
    assert genkit_eval("doctor", "--json").json["problems"] == 1


def test_doctor_shows_every_setting_with_its_place(
    genkit_eval: CommandLine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GENKIT_EVAL_PANEL", "mean")
    monkeypatch.setenv("GENKIT_EVAL_MODEL_LIMIT", "openai/a:concurrency=4")

    facts = {fact["name"]: fact["value"] for fact in genkit_eval("doctor", "--json").json["facts"]}

    assert set(SETTINGS) <= set(facts)
    assert facts["panel"] == "mean (from GENKIT_EVAL_PANEL)"
    assert facts["model_limit"] == "openai/a:concurrency=4 (from GENKIT_EVAL_MODEL_LIMIT)"


def test_doctor_shows_each_section_in_two_columns(genkit_eval: CommandLine) -> None:
    lines = genkit_eval("doctor").out.splitlines()

    start = lines.index("settings")
    settings = lines[start + 1 : lines.index("", start)]
    names = [text.split()[0] for text in settings]
    width = max(len(name) for name in names)
    assert all(text[2 + width] == " " and text[3 + width] != " " for text in settings)


def test_doctor_makes_no_folder(genkit_eval: CommandLine, folder: Path) -> None:
    genkit_eval("doctor")

    assert list(folder.iterdir()) == [folder / ".git"]


def test_a_finished_run_is_only_reported_by_resume(genkit_eval: CommandLine, app: Path) -> None:
    run_id = genkit_eval("run", "numbers.jsonl", "-t", "echo", "-e", "my/below", "--json").json["evalRunId"]

    done = genkit_eval("resume", run_id, "--fail-under", "my/below=0.9")

    assert done.code == 100
    assert "50 % of 4" in done.out
    assert f"{run_id} was complete already: nothing was done again" in done.err


def test_a_finished_run_is_reported_without_its_app(genkit_eval: CommandLine, app: Path) -> None:
    run_id = genkit_eval("run", "numbers.jsonl", "-t", "echo", "-e", "my/below", "--json").json["evalRunId"]
    (app / "genkit-eval.toml").unlink()

    done = genkit_eval("resume", run_id)

    assert done.code == 0
    assert "50 % of 4" in done.out


def test_resume_of_an_unknown_run_is_refused(genkit_eval: CommandLine, app: Path) -> None:
    done = genkit_eval("resume", "nowhere")

    assert (done.code, "does not exist" in done.err) == (2, True)


def test_eval_run_scores_the_outputs_of_a_file(genkit_eval: CommandLine, app: Path) -> None:
    (app / "answers.json").write_text('[{"input": 1, "output": 1, "reference": 1}]', encoding="utf-8")

    done = genkit_eval("eval:run", "answers.json", "--evaluators", "my/below, my/yes", "--force", "--batchSize", "3")

    assert done.code == 0
    assert "my/below" in done.out
    assert "my/yes" in done.out
    assert "my/judge" not in done.out


def test_eval_run_uses_all_evaluators_where_none_is_named(genkit_eval: CommandLine, app: Path) -> None:
    (app / "answers.json").write_text('[{"input": 1, "output": 1, "reference": "$ = 1"}]', encoding="utf-8")

    summary = genkit_eval("eval:run", "answers.json", "--force", "--json", "--max-failed", "9").json["summary"]

    assert {"/evaluator/my/yes", "/evaluator/my/judge", "/evaluator/genkitEval/regex"} < {
        row["evaluator"] for row in summary
    }


@pytest.mark.parametrize("source", [("--input", "numbers.jsonl"), ('[{"input": 1}]',)])
def test_eval_flow_runs_a_flow(genkit_eval: CommandLine, app: Path, source: tuple[str, ...]) -> None:
    done = genkit_eval("eval:flow", "echo", *source, "--evaluators", "my/yes", "--output", "out.json")

    assert done.code == 0
    assert json.loads((app / "out.json").read_text(encoding="utf-8"))[0]["metrics"][0]["status"] == "PASS"


@pytest.mark.parametrize("source", [(), ("[]", "--input", "numbers.jsonl"), ("{}",), ("nonsense",), ("[]",)])
def test_eval_flow_without_samples_is_refused(genkit_eval: CommandLine, app: Path, source: tuple[str, ...]) -> None:
    done = genkit_eval("eval:flow", "echo", *source, "--evaluators", "my/yes")

    assert (done.code, run_files(app)) == (2, [])


def test_init_says_what_it_wrote_as_json(genkit_eval: CommandLine, folder: Path) -> None:
    document = genkit_eval("init", "--json").json

    assert document["files"] == ["app.py", "questions.jsonl", "genkit-eval.toml"]
    assert document["next"][-1] == "genkit-eval show"


def test_init_in_a_place_that_is_no_folder_is_refused(genkit_eval: CommandLine, folder: Path) -> None:
    (folder / "file").write_text("", encoding="utf-8")

    done = genkit_eval("init", "file/demo")

    assert (done.code, len(done.err.splitlines())) == (2, 1)


def test_resume_takes_other_limits_and_other_data(genkit_eval: CommandLine, app: Path) -> None:
    run_id = genkit_eval("run", "numbers.jsonl", "-t", "echo", "-e", "my/yes", "--json").json["evalRunId"]

    done = genkit_eval("resume", run_id, "--data", "numbers.jsonl", "--max-concurrency", "1")

    assert done.code == 0


def test_eval_flow_without_any_evaluator_says_so(genkit_eval: CommandLine, folder: Path) -> None:
    (folder / "app.py").write_text(
        "from genkit_eval import GenkitEval\nge = GenkitEval()\nge.define_flow('echo', lambda value: value)\n",
        encoding="utf-8",
    )

    done = genkit_eval("eval:flow", "echo", '[{"input": 1}]', "--app", "app.py:ge")
    listed = genkit_eval("evaluator", "list", "--app", "app.py:ge")

    assert done.code == 2
    assert "no evaluator is defined" in done.err
    assert "no evaluator is defined" in listed.out


def test_doctor_names_an_interrupted_run_and_an_unreadable_dataset(genkit_eval: CommandLine, app: Path) -> None:
    genkit_eval("dataset", "add", "numbers-1", "numbers.jsonl")
    for path in (app / ".genkit" / "datasets").rglob("*.json"):
        if path.name in ("1.json", "numbers-1.json"):
            path.write_bytes(b"[{")
    runs = app / ".genkit" / "evals"
    runs.mkdir()
    key = {"evalRunId": "run-1", "createdAt": "2026-11-30T00:00:00.000Z"}
    (runs / "run-1.journal.jsonl").write_text(json.dumps({"key": key}) + "\n", encoding="utf-8")

    done = genkit_eval("doctor")

    assert done.code == 2
    assert "! dataset numbers-1" in done.out
    assert "run run-1" in done.out
    assert "genkit-eval resume goes on with it" in done.out


def test_an_evaluator_that_cannot_run_yet_says_why(genkit_eval: CommandLine, folder: Path) -> None:
    (folder / "judged.py").write_text(
        "from genkit_eval import GenkitEval\n"
        "ge = GenkitEval()\n"
        "ge.define_evaluator('t/judged', lambda point: True, needs='needs a judge: give one')\n",
        encoding="utf-8",
    )

    listed = genkit_eval("evaluator", "list", "--app", "judged.py:ge")
    shown = genkit_eval("evaluator", "show", "t/judged", "--app", "judged.py:ge")

    assert "not ready: needs a judge\n" in listed.out
    assert "needs a judge: give one" in shown.out
