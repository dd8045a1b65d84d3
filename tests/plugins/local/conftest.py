"""One local metric on one data point, as a run would have it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from genkit_eval import DataPoint, EvalMetric, GenkitEval, run_sync
from genkit_eval_local import local_metrics

Measure = Callable[..., EvalMetric]


@pytest.fixture
def measure() -> Measure:
    """What `measure(metric, output=…, reference=…, context=…, **options)` comes to."""
    ge = GenkitEval(plugins=[local_metrics()])

    def measured(metric: str, *, threshold: float | None = None, **point: object) -> EvalMetric:
        name = f"local/{metric}"
        ref = name if threshold is None else ge.ref(name, threshold=threshold)
        (score,) = run_sync(ge.score(DataPoint.model_validate(point), ref))
        return score

    return measured
