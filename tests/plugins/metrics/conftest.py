"""One metric on one output, as a run would have it: `judge` for the exact ones, `judged` for those that ask a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

from genkit_eval import DataPoint, Embedder, EvalMetric, GenkitEval, Registry, Score, run_sync
from genkit_eval.judge import Judgeable
from genkit_eval.scores import as_scores
from genkit_eval_metrics import MetricConfig, genkit_metrics

Judge = Callable[..., Score]
Judged = Callable[..., EvalMetric]


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


@pytest.fixture(scope="session")
def judged() -> Judged:
    """`judged(metric, judge, output=…, context=…)`: its one score of a data point with these fields.

    `embedder` and `options` as in a run; `config` holds further settings of the metric.
    """

    def score(
        metric: str,
        judge: Judgeable | None,
        *,
        embedder: Embedder | str | None = None,
        options: Mapping[str, object] | None = None,
        config: Mapping[str, object] | None = None,
        **fields: object,
    ) -> EvalMetric:
        settings = MetricConfig(metric=metric, judge=judge, embedder=embedder, **(config or {}))
        ge = GenkitEval(plugins=[genkit_metrics(metrics=[settings])])
        (found,) = run_sync(ge.score(DataPoint(**fields), ge.ref(f"genkitEval/{metric}", **(options or {}))))
        return found

    return score
