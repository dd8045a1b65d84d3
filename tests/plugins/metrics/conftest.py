"""One metric on one output, as a run would have it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from genkit_eval import DataPoint, Registry, Score
from genkit_eval.scores import as_scores
from genkit_eval_metrics import genkit_metrics

Judge = Callable[..., Score]


@pytest.fixture(scope="session")
def judge() -> Judge:
    """The score of `judge(metric, output, reference, **options)`; what the evaluator raises comes through."""
    registry = Registry()
    registry.install(genkit_metrics())

    def judged(metric: str, output: object, reference: object, **options: object) -> Score:
        evaluator = registry.evaluator(f"genkitEval/{metric}")
        point = DataPoint(output=output, reference=reference)
        assert evaluator.missing(point) is None
        scores: Sequence[Score] = as_scores(evaluator.fn(point, evaluator.parse_options(options)), evaluator.rule)
        (score,) = scores
        return score

    return judged
