"""Repeats on the command line."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import CommandLine


def test_each_sample_runs_as_often_as_said(app: Path, genkit_eval: CommandLine) -> None:
    done = genkit_eval("run", "numbers.jsonl", "--target", "echo", "-e", "my/below", "--repeats", "3")

    assert "4 cases, 3 times each" in done.out
    assert "pass^3" in done.out


def test_the_document_has_the_verdicts_of_the_cases(app: Path, genkit_eval: CommandLine) -> None:
    genkit_eval("run", "numbers.jsonl", "--target", "echo", "-e", "my/below", "--repeats", "2")

    document = genkit_eval("show", "--json").json

    [row] = document["repeats"]
    assert [case["verdict"] for case in row["cases"]] == ["PASS", "PASS", "FAIL", "FAIL"]
    assert [(result["testCaseId"], result["repeat"]) for result in document["results"]][:3] == [
        ("n-0", 0),
        ("n-0", 1),
        ("n-1", 0),
    ]


def test_repeats_without_a_target_are_refused_before_anything_runs(app: Path, genkit_eval: CommandLine) -> None:
    (app / "given.jsonl").write_text('{"testCaseId": "a", "input": 1, "output": 1}\n', encoding="utf-8")

    done = genkit_eval("run", "given.jsonl", "--no-target", "-e", "my/yes", "--repeats", "2")

    assert done.code == 2
    assert "the target is to be repeated 2 times, but no target is called" in done.err


def test_judges_are_asked_as_often_as_said(app: Path, genkit_eval: CommandLine) -> None:
    code = app / "app.py"
    text = code.read_text(encoding="utf-8")
    judge = '\nanswers = iter([True, False, True])\n\n@ge.define_evaluator("my/asked", kind="agentic")\n'
    code.write_text(text + judge + "def asked(point):\n    return next(answers)\n", encoding="utf-8")

    done = genkit_eval(
        "run", "numbers.jsonl", "--target", "echo", "--limit", "1", "-e", "my/asked", "--judge-repeats", "3", "--json"
    )

    assert done.json["key"]["repeats"] == {"target": 1, "judge": 3}
    assert done.json["summary"][0]["passed"] == 1
