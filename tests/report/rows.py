"""Metrics and results, as short as they can be written."""

from __future__ import annotations

from typing import Any

from genkit_eval import EvalResult


def metric(evaluator: str = "custom/check", **values: Any) -> dict[str, Any]:
    """A metric in its form on disk; a PASS unless said otherwise."""
    return {"evaluator": f"/evaluator/{evaluator}", "outcome": "VERDICT", "status": "UNKNOWN", **values}


def passed(**values: Any) -> dict[str, Any]:
    return metric(status="PASS", score=True, **values)


def failed(**values: Any) -> dict[str, Any]:
    return metric(status="FAIL", score=False, **values)


def broke(error: str = "ValueError: no", **values: Any) -> dict[str, Any]:
    return metric(outcome="FAILED", error=error, **values)


def inconclusive(**values: Any) -> dict[str, Any]:
    return metric(outcome="INCONCLUSIVE", rationale="no reference was given", **values)


def result(number: int, *metrics: dict[str, Any], **values: Any) -> EvalResult:
    row = {"testCaseId": f"case-{number}", "input": number, "output": number, "traceIds": [], **values}
    return EvalResult.model_validate({**row, "metrics": list(metrics)})
