"""Evaluators of one's own in files, on the command line: begun, imported, run, exported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from genkit_eval.testing import Call, OpenAIServer
from tests.cli.conftest import CommandLine

WINDOW = """\
# yaml-language-server: $schema=evaluator.schema.json
name: custom/window
intent: Customers learn of the window.   # a comment
criterion: "{{response}} names the window."
scale: binary
"""
GEVAL = "kind: geval\nname: coherence\ncriterion: The sentences build on each other.\n"
STEPS = json.dumps({"steps": ["Read it.", "Rate it."]})


@pytest.fixture
def answers(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with an answer, two files of evaluators, and an environment with a key and no proxy."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-NOTREAL")
    (folder / "answers.json").write_text('[{"testCaseId": "a", "input": "Hi", "output": "Thirty days."}]')
    (folder / "window.yaml").write_text(WINDOW)
    (folder / "coherence.yaml").write_text(GEVAL)
    return folder


def judge(call: Call) -> str:
    """Says true, rates 4, and makes steps."""
    asked = json.dumps(call.body)
    if "You write down how to judge" in asked:
        return STEPS
    return '{"reason": "r", "verdict": true}' if "verdict" in asked else '{"reason": "r", "rating": 4}'


RUN = ("run", "answers.json", "--no-target", "--judge", "openai/any", "--yes", "--json")


def test_an_imported_criterion_is_run_by_its_name(
    genkit_eval: CommandLine, answers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    imported = genkit_eval("evaluator", "import", "window.yaml")
    with OpenAIServer(judge) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        done = genkit_eval(*RUN, "-e", "custom/window")

    assert imported.code == 0
    assert f"custom/window: {answers / '.genkit/evaluators/custom.window.yaml'}" in imported.out
    assert "genkit-eval run DATA -e custom/window" in imported.err
    [summary] = done.json["summary"]
    assert (done.code, summary["passed"], summary["mean"]) == (0, 1, 1)


def test_a_file_is_kept_as_it_is_and_exported_as_data(genkit_eval: CommandLine, answers: Path) -> None:
    genkit_eval("evaluator", "import", "window.yaml")

    exported = genkit_eval("evaluator", "export", "custom/window", "-o", "copy.yaml")
    shown = genkit_eval("evaluator", "export", "/evaluator/custom/window")

    assert (answers / ".genkit/evaluators/custom.window.yaml").read_text() == WINDOW
    assert exported.code == 0
    assert (answers / "copy.yaml").read_text() == shown.out
    assert shown.out.splitlines() == [
        "kind: criterion",
        "name: custom/window",
        "intent: Customers learn of the window.",
        "criterion: '{{response}} names the window.'",
        "scale: binary",
    ]
    again = genkit_eval("evaluator", "import", "copy.yaml", "--replace", "--json").json["imported"]
    assert [item["name"] for item in again] == ["custom/window"]


def test_the_steps_that_a_run_made_are_exported(
    genkit_eval: CommandLine, answers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    genkit_eval("evaluator", "import", "coherence.yaml")
    before = genkit_eval("evaluator", "export", "geval/coherence", "--json")
    with OpenAIServer(judge) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        done = genkit_eval(*RUN, "-e", "geval/coherence")
        after = genkit_eval("evaluator", "export", "geval_coherence", "--json")
        shown = genkit_eval("evaluator", "show", "geval/coherence", "--judge", "openai/any")
        version = done.json["key"]["evaluators"][0]["version"]

    assert done.json["summary"][0]["mean"] == 0.75
    assert (version in shown.out, "not ready" in shown.out) == (True, False)
    assert len(server.calls) == 2
    assert "steps" not in before.json["document"]
    assert after.json["document"]["steps"] == ["Read it.", "Rate it."]


def test_what_a_judge_is_sent_is_shown_with_steps_and_entries(
    genkit_eval: CommandLine, answers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    near = "\nvariables: [response, {name: like_it, nearest: {dataset: solved_cases, k: 1}}]\n"
    (answers / "window.yaml").write_text(WINDOW + near)
    genkit_eval("evaluator", "import", "window.yaml", "coherence.yaml")
    (answers / "solved.json").write_text('[{"input": "Hi there", "reference": "Hello."}]')
    genkit_eval("dataset", "add", "solved_cases", "solved.json")
    show = ("evaluator", "show", "--prompt", "--sample", "answers.json")
    early = genkit_eval(*show, "geval/coherence")
    with OpenAIServer(judge) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        genkit_eval(*RUN, "-e", "geval/coherence")

    steps, entries = genkit_eval(*show, "geval/coherence"), genkit_eval(*show, "custom/window")

    assert (early.code, "needs its steps" in early.err) == (2, True)
    assert "1. Read it.\n2. Rate it." in steps.out
    assert "1. Read it.\n2. Rate it." in genkit_eval("evaluator", "show", "--prompt", "geval/coherence").out
    assert "1. input: Hi there\n   reference: Hello." in entries.out


def test_a_plan_pays_for_no_steps_and_knows_those_that_are_there(
    genkit_eval: CommandLine, answers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    genkit_eval("evaluator", "import", "coherence.yaml")
    plan = ("plan", "answers.json", "--no-target", "--judge", "openai/any", "-e", "geval/coherence")
    with OpenAIServer(judge) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        early, asked = genkit_eval(*plan), len(server.calls)
        genkit_eval(*RUN, "-e", "geval/coherence")

        later = genkit_eval(*plan)

    said = "geval/coherence: one call more, before the first case, makes what it lacks"
    assert (early.code, asked, said in early.out) == (0, 0, True)
    assert (later.code, len(server.calls), "one call more" in later.out) == (0, 2, False)


def test_a_probe_tells_of_the_steps_that_it_had_made(
    genkit_eval: CommandLine, answers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    genkit_eval("evaluator", "import", "coherence.yaml")
    plan = ("plan", "answers.json", "--no-target", "--judge", "openai/any", "-e", "geval/coherence", "--probe", "1")
    with OpenAIServer(judge) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        first, second = genkit_eval(*plan), genkit_eval(*plan)

    assert [done.err.count("made before the first case") for done in (first, second)] == [1, 0]
    # one for the steps, and the reply about the case is in the cache then
    assert (len(server.calls), "one call more" in first.out) == (2, False)


def test_steps_are_paid_for_only_with_leave(
    genkit_eval: CommandLine, answers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    genkit_eval("evaluator", "import", "coherence.yaml")
    with OpenAIServer(judge) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        done = genkit_eval(*[word for word in RUN if word != "--yes"], "-e", "geval/coherence")

    assert done.code == 2
    assert "geval/coherence (openai/any) may cost money" in done.err
    assert len(server.calls) == 0


def test_an_evaluator_is_begun_with_a_file_that_can_be_imported(genkit_eval: CommandLine, folder: Path) -> None:
    begun = genkit_eval("evaluator", "new", "custom/tone")
    imported = genkit_eval("evaluator", "import", "tone.yaml")
    other = genkit_eval("evaluator", "new", "geval/flow", "-o", "deep/flow.yaml", "--json").json

    assert (begun.code, begun.out) == (0, "tone.yaml\n")
    assert "genkit-eval evaluator import tone.yaml" in begun.err
    assert (folder / "tone.yaml").read_text().startswith("# yaml-language-server: $schema=evaluator.schema.json\n")
    assert imported.code == 0
    assert (other["name"], other["file"]) == ("geval/flow", str(Path("deep/flow.yaml")))
    assert (folder / "deep/evaluator.schema.json").exists()


def test_the_help_says_where_a_new_one_is_written(genkit_eval: CommandLine) -> None:
    begun, printed = (" ".join(genkit_eval("evaluator", verb, "--help").out.split()) for verb in ("new", "schema"))

    assert "Write it there. Default: the last part of NAME, with .yaml." in begun
    assert "Write it there, in place of stdout." in printed


def test_an_evaluator_may_begin_with_what_another_says(genkit_eval: CommandLine, answers: Path) -> None:
    genkit_eval("evaluator", "import", "window.yaml")

    begun = genkit_eval("evaluator", "new", "custom/polite", "--from", "scorable/Politeness")
    copied = genkit_eval("evaluator", "new", "custom/copy", "--from", "custom/window")
    imported = genkit_eval("evaluator", "import", "polite.yaml", "copy.yaml")
    refused = genkit_eval("evaluator", "new", "custom/x", "--from", "judge/faithfulness")

    assert (begun.code, copied.code, imported.code, refused.code) == (0, 0, 0, 2)
    assert "needs a judge" not in begun.err + copied.err
    assert "is defined in code" in refused.err
    quality = genkit_eval("evaluator", "export", "quality/politeness", "--json").json["document"]
    polite = genkit_eval("evaluator", "export", "custom/polite", "--json").json["document"]
    window = genkit_eval("evaluator", "export", "custom/copy", "--json").json["document"]
    assert polite == {**{key: quality[key] for key in quality if key != "title"}, "name": "custom/polite"}
    assert window["criterion"] == "{{response}} names the window."


def test_one_that_begins_like_another_has_a_name_of_its_kind(genkit_eval: CommandLine, answers: Path) -> None:
    genkit_eval("evaluator", "import", "window.yaml", "coherence.yaml")

    begun = genkit_eval("evaluator", "new", "geval/flow", "--from", "geval/coherence")
    misnamed = genkit_eval("evaluator", "new", "custom/x", "--from", "geval/coherence")
    other = genkit_eval("evaluator", "new", "geval/y", "--from", "custom/window")

    assert (begun.code, misnamed.code, other.code) == (0, 2, 2)
    assert "would be called 'geval/custom/x', not 'custom/x'" in misnamed.err
    assert "'geval/y' is a name of kind geval" in other.err


def test_a_file_that_is_there_is_not_written_over(genkit_eval: CommandLine, answers: Path) -> None:
    genkit_eval("evaluator", "import", "window.yaml")
    (answers / "window.yaml").write_text(WINDOW.replace("binary", "continuous"))

    refused = genkit_eval("evaluator", "import", "window.yaml")
    begun = genkit_eval("evaluator", "new", "custom/window")
    replaced = genkit_eval("evaluator", "import", "window.yaml", "--replace")

    assert (refused.code, begun.code, replaced.code) == (2, 2, 0)
    assert "says something else: replace it (--replace)" in refused.err
    assert "continuous" in (answers / ".genkit/evaluators/custom.window.yaml").read_text()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (WINDOW.replace("binary", "ternary"), "window.yaml: scale"),
        (WINDOW.replace("custom/window", "judge/faithfulness"), "defined by the app or a plugin"),
        (WINDOW.replace("custom/window", "scorable/Clarity"), "'scorable/Clarity' is defined by the app or a plugin"),
        (WINDOW.replace('"{{response}} names the window."', "{{response}} is fine"), "in quotes"),
        (
            WINDOW.replace('"{{response}} names the window."', "{{response}}"),
            "put a text that begins with {{ in quotes",
        ),
        (WINDOW.replace('"{{response}} names the window."', "Window: it is named"), "holds a colon in quotes"),
        (WINDOW.replace("Customers", "@Customers"), "a text that begins with @, % or ` in quotes"),
        (f"{WINDOW}treshold: 1\n", "did you mean 'threshold'"),
    ],
)
def test_a_file_that_cannot_be_kept_is_refused(
    genkit_eval: CommandLine, answers: Path, text: str, problem: str
) -> None:
    (answers / "window.yaml").write_text(text)

    done = genkit_eval("evaluator", "import", "window.yaml", "coherence.yaml")

    assert done.code == 2
    assert problem in done.err
    assert not (answers / ".genkit/evaluators").exists()


def test_what_to_do_next_names_the_app_that_was_named(genkit_eval: CommandLine, folder: Path) -> None:
    imports = "from genkit_eval import GenkitEval\nfrom genkit_eval_judges import judges"
    (folder / "mine.py").write_text(f"{imports}\nge = GenkitEval(plugins=[judges()])\n")

    begun = genkit_eval("evaluator", "new", "custom/tone", "--app", "mine.py:ge")
    imported = genkit_eval("evaluator", "import", "tone.yaml", "--app", "mine.py:ge")

    assert "genkit-eval evaluator import tone.yaml --app mine.py:ge" in begun.err
    assert "genkit-eval run DATA -e custom/tone --app mine.py:ge" in imported.err


def test_of_several_files_all_are_kept_or_none(genkit_eval: CommandLine, answers: Path) -> None:
    genkit_eval("evaluator", "import", "window.yaml")
    (answers / "window.yaml").write_text(WINDOW.replace("binary", "continuous"))

    done = genkit_eval("evaluator", "import", "coherence.yaml", "window.yaml")

    assert done.code == 2
    assert [file.name for file in (answers / ".genkit/evaluators").iterdir()] == ["custom.window.yaml"]


def test_the_same_name_twice_is_refused(genkit_eval: CommandLine, answers: Path) -> None:
    (answers / "other.yaml").write_text(WINDOW)

    done = genkit_eval("evaluator", "import", "window.yaml", "other.yaml")

    assert (done.code, "is in window.yaml too" in done.err) == (2, True)


@pytest.mark.parametrize("replace", [[], ["--replace"]])
@pytest.mark.parametrize("at_once", [True, False])
def test_names_that_would_share_a_file_are_refused(
    genkit_eval: CommandLine, answers: Path, replace: list[str], at_once: bool
) -> None:
    (answers / "other.yaml").write_text(WINDOW.replace("custom/window", "custom.window"))
    if not at_once:
        genkit_eval("evaluator", "import", "window.yaml")

    done = genkit_eval("evaluator", "import", *["window.yaml"] * at_once, "other.yaml", *replace)

    assert done.code == 2
    assert "'custom.window' and 'custom/window' would be in one file, custom.window.yaml" in done.err
    kept = list((answers / ".genkit").glob("evaluators/*"))
    assert [file.read_text() for file in kept] == [WINDOW] * (not at_once)


def test_a_folder_without_any_is_refused(genkit_eval: CommandLine, folder: Path) -> None:
    (folder / "none").mkdir()

    done = genkit_eval("evaluator", "import", "none")

    assert (done.code, "folder none holds no file of an evaluator" in done.err) == (2, True)


def test_a_kept_file_that_is_broken_costs_only_itself(genkit_eval: CommandLine, answers: Path) -> None:
    genkit_eval("evaluator", "import", "window.yaml", "coherence.yaml")
    (answers / ".genkit/evaluators/custom.window.yaml").write_text("name: [")

    listed = genkit_eval("evaluator", "list", "--json")

    assert "custom.window.yaml is left out: line 2: not valid YAML" in listed.err
    checked = genkit_eval("doctor")
    assert (checked.code, "custom.window.yaml is left out" in checked.out) == (2, True)
    names = [item["name"] for item in listed.json["evaluators"]]
    assert ("geval/coherence" in names, "custom/window" in names) == (True, False)


def test_what_is_defined_in_code_has_no_file(genkit_eval: CommandLine, folder: Path) -> None:
    done = genkit_eval("evaluator", "export", "genkitEval/regex")

    assert (done.code, "is defined in code" in done.err) == (2, True)


def test_an_app_without_judges_has_no_evaluators_in_files(genkit_eval: CommandLine, app: Path) -> None:
    done = genkit_eval("evaluator", "new", "custom/tone")

    assert (done.code, "no plugin has evaluators in files" in done.err) == (2, True)


def test_the_schema_is_printed_and_written(genkit_eval: CommandLine, folder: Path) -> None:
    printed = genkit_eval("evaluator", "schema")
    genkit_eval("evaluator", "schema", "-o", "s.json")

    assert printed.json["$schema"].startswith("https://json-schema.org/")
    assert json.loads((folder / "s.json").read_text()) == printed.json


@pytest.mark.parametrize("name", ["custom/a b", "../evil", "custom/", "geval/x y"])
def test_none_is_begun_under_a_name_that_no_file_can_have(genkit_eval: CommandLine, folder: Path, name: str) -> None:
    refused = genkit_eval("evaluator", "new", name)

    assert refused.code == 2
    assert "name: expected letters, digits and _ . : - with / between them" in refused.err
    assert not list(folder.rglob("*.yaml"))
