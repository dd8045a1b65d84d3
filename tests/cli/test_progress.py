"""How far a run is, in words."""

from __future__ import annotations

import pytest

from genkit_eval import Progress
from genkit_eval.cli.progress import ProgressLine, progress_text


def at(done: int, **values: object) -> Progress:
    given = {"run_id": "run-1", "total": 100, "target_errors": 0, "passed": 0, "judged": 0, "seconds": 10.0, **values}
    return Progress(done=done, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("now", "text"),
    [
        (at(0, seconds=0.0), "0 of 100 cases"),
        (at(20), "20 of 100 cases, 2/s, 40 s left"),
        (at(60, resumed=50), "60 of 100 cases, 1/s, 40 s left"),
        (at(20, passed=199, judged=200), "20 of 100 cases, 2/s, 40 s left, 99.5 % PASS of 200"),
        (at(20, cost_usd=0.125), "20 of 100 cases, 2/s, 40 s left, 0.12 US $"),
        (at(20, repeats=5), "20 of 100 results, 2/s, 40 s left"),
        (at(20, stopping="the budget is spent"), "20 of 100 cases, 2/s"),
        (at(100, seconds=61.0, target_errors=2), "100 of 100 cases in 1 min 1 s, 2 FAILED in the target"),
    ],
)
def test_the_line(now: Progress, text: str) -> None:
    assert progress_text(now) == text


def test_notices_come_first_and_plain_lines_only_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressLine() as progress:
        progress(at(0, seconds=0.0, notices=("a\nb",)))
        for done in range(1, 100):
            progress(at(done))
        progress(at(100))

    lines = capsys.readouterr().err.splitlines()
    assert lines == [r"note: a\nb", "run-1: 100 cases", "100 of 100 cases in 10 s"]
    assert progress.run_id == "run-1"


def test_that_a_run_is_ending_early_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressLine() as progress:
        progress(at(0))
        for done in range(1, 5):
            progress(at(done, stopping="the budget is spent: 3 of 3 calls"))

    lines = capsys.readouterr().err.splitlines()
    assert lines[1] == "stopping: the budget is spent: 3 of 3 calls; what is under way ends"
    assert len(lines) == 3


def test_a_run_that_never_began_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressLine():
        pass

    assert capsys.readouterr().err == ""
