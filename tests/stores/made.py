"""What the tests of the stores make: samples, and runs as data and as lines of a journal."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from genkit_eval.stored import EvalMetric, EvalResult, EvalRunKey
from genkit_eval.stores import LocalFileEvalStore
from genkit_eval.types import Outcome, Sample, Status

__all__ = ["metric", "names", "read", "result", "results", "run_key", "samples"]


def samples(*ids: str, **more: Any) -> list[Sample]:
    """A sample for each id, which is its input."""
    return [Sample(test_case_id=name, input=name, **more) for name in ids]


def run_key(run_id: str = "run-1", *, minute: int = 0, **more: Any) -> EvalRunKey:
    """The key of a run that began at a minute."""
    created = datetime(2026, 1, 2, tzinfo=UTC) + timedelta(minutes=minute)
    return EvalRunKey.model_validate({"eval_run_id": run_id, "created_at": created, **more})


def results(*ids: str, **more: Any) -> list[EvalResult]:
    """A result for each case, with one metric."""
    scored = EvalMetric(evaluator="/evaluator/a/b", score=0, status=Status.PASS, outcome=Outcome.VERDICT)
    return [EvalResult(test_case_id=name, input=name, output=None, metrics=[scored], **more) for name in ids]


def result(name: str, *metrics: str, **more: object) -> bytes:
    """A result as a line of a journal, with metrics of these evaluators."""
    value = {"testCaseId": name, "input": name, **more, "traceIds": [], "metrics": [{"evaluator": m} for m in metrics]}
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def metric(name: str) -> bytes:
    """A metric that comes late, as a line of a journal."""
    return json.dumps({"evaluator": name}, separators=(",", ":")).encode()


def names(runs: LocalFileEvalStore, run_id: str = "run-1") -> list[str | None]:
    """The cases of a run, in order."""
    return [one.test_case_id for one in runs.load(run_id).results]


def read(path: Path) -> Any:
    """The JSON of a file."""
    return json.loads(path.read_text(encoding="utf-8"))
