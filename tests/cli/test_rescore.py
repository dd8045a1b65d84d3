"""`genkit-eval rescore`: stored outputs, judged once more."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import CommandLine, run_files


def begun(genkit_eval: CommandLine, *more: str) -> str:
    done = genkit_eval("run", "numbers.jsonl", "--target", "echo", "-e", "my/below:limit=1", "--json", *more)
    return str(done.json["evalRunId"])


def test_the_outputs_of_a_run_are_judged_by_another_evaluator(app: Path, genkit_eval: CommandLine) -> None:
    parent = begun(genkit_eval)

    done = genkit_eval("rescore", parent, "-e", "my/below:limit=3", "--json")

    assert done.code == 0
    assert done.json["key"]["parent"] == parent
    assert done.json["summary"][0]["passed"] == 3
    assert "the flow prints" not in done.err
    assert len(run_files(app)) == 2


def test_without_an_evaluator_those_of_the_run_judge_with_their_options(app: Path, genkit_eval: CommandLine) -> None:
    parent = begun(genkit_eval)

    done = genkit_eval("rescore", parent)

    assert f"outputs of {parent}, judged once more" in done.out
    assert "1     3" in done.out


def test_a_gate_holds_for_the_new_run(app: Path, genkit_eval: CommandLine) -> None:
    parent = begun(genkit_eval)

    assert genkit_eval("rescore", parent, "--fail-under", "my/below=0.5").code == 100
    assert genkit_eval("rescore", parent, "--fail-under", "nothing=0.5").code == 2


def test_a_run_that_does_not_exist_is_refused(app: Path, genkit_eval: CommandLine) -> None:
    done = genkit_eval("rescore", "run-none", "-e", "my/yes")

    assert done.code == 2
    assert "run-none" in done.err


def test_repeats_are_summed_up_again(app: Path, genkit_eval: CommandLine) -> None:
    parent = begun(genkit_eval, "--repeats", "2")

    done = genkit_eval("rescore", parent, "-e", "my/below:limit=3", "--json")

    [row] = done.json["repeats"]
    assert row["caseVerdicts"]["PASS"] == 3
