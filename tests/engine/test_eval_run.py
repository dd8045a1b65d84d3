"""A run as users hold it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from genkit_eval import EvalResult, EvalRun, EvalRunKey, GenkitEval, LocalFileEvalStore

GENKIT = Path(__file__).parents[1] / "data" / "genkit" / "runs"


def result(name: str, *metrics: dict[str, Any], **values: Any) -> EvalResult:
    rows = [{"evaluator": "/evaluator/t/x", **metric} for metric in metrics]
    return EvalResult.model_validate({"testCaseId": name, "input": 1, **values, "metrics": rows})


PASS, FAIL = {"status": "PASS", "outcome": "VERDICT"}, {"status": "FAIL", "outcome": "VERDICT"}
FAILED = {"status": "UNKNOWN", "outcome": "FAILED", "error": "no"}


def test_failing_gives_what_is_wrong_and_what_broke_and_nothing_else(tmp_path: Path) -> None:
    store = LocalFileEvalStore(tmp_path)
    words = {"status": "FAIL", "outcome": "FAILED", "error": "of its own"}
    rows = [
        result("good", PASS),
        result("wrong", PASS, FAIL),
        result("judge-broke", FAILED),
        result("target-broke", error="ValueError: no"),
        result("speaks-of-it", PASS, output=words),
        result("empty"),
    ]
    store.save(EvalRunKey(eval_run_id="run-1", created_at=datetime.now(UTC)), rows)

    failing = list(EvalRun(store.load("run-1")).failing())

    assert [row.test_case_id for row in failing] == ["wrong", "judge-broke", "target-broke"]
    assert [row.target_failed for row in failing] == [False, False, True]


def test_one_tag_may_be_given_as_it_is(tmp_path: Path) -> None:
    runs = GenkitEval(root=tmp_path).runs
    key = EvalRunKey(eval_run_id="run-1", created_at=datetime.now(UTC))
    runs.store.save(key, [result("a", PASS, tags=["gold"]), result("b", PASS, tags=["old"])])

    found = runs.load("run-1").where(tags="gold")

    assert [row.test_case_id for row in found.results] == ["a"]
    assert [key.eval_run_id for key in runs.list(tags="gold")] == ["run-1"]


@pytest.mark.parametrize("path", sorted(GENKIT.glob("*.json")), ids=lambda path: path.stem[:8])
def test_failing_looks_into_runs_of_genkit_too(path: Path, tmp_path: Path) -> None:
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "run-1.json").write_bytes(path.read_bytes())

    run = EvalRun(LocalFileEvalStore(tmp_path).load("run-1"))

    assert list(run.failing()) == [result for result in run.results if result.fails]


def test_the_text_of_a_run_does_not_read_its_file(tmp_path: Path) -> None:
    """Asyncio takes the text of what a program's main task returns: that must not cost a look at every result."""
    store = LocalFileEvalStore(tmp_path)
    store.save(EvalRunKey(eval_run_id="run-1", created_at=datetime.now(UTC), case_count=2), [result("a"), result("b")])
    run = EvalRun(store.load("run-1"))
    run.path.unlink()

    assert repr(run) == "EvalRun('run-1', 2 results, complete)"


def test_the_text_of_a_part_of_a_run_tells_its_own_number(tmp_path: Path) -> None:
    store = LocalFileEvalStore(tmp_path)
    key = EvalRunKey(eval_run_id="run-1", created_at=datetime.now(UTC), case_count=2)
    store.save(key, [result("a", tags=["gold"]), result("b")])

    assert repr(EvalRun(store.load("run-1")).where(tags=["gold"])) == "EvalRun('run-1', 1 results, complete)"
