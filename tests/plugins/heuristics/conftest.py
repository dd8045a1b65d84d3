"""One evaluator on one data point, as a run would have it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pydantic import JsonValue

from genkit_eval import DataPoint, EvalMetric, GenkitEval, run_sync
from genkit_eval_heuristics import heuristics

Measure = Callable[..., EvalMetric]


@pytest.fixture
def measure() -> Measure:
    """What `measure("heuristic/token_f1", {"tokens": "unicode"}, output=…, reference=…)` comes to."""
    ge = GenkitEval(plugins=[heuristics()])

    def measured(name: str, options: dict[str, JsonValue] | None = None, /, **point: object) -> EvalMetric:
        (score,) = run_sync(ge.score(DataPoint.model_validate(point), ge.ref(name, **(options or {}))))
        return score

    return measured
