"""Score one data point: no run, no store."""

from __future__ import annotations

from genkit_eval._json import load
from genkit_eval.engine.asking.model_calls import RunCalls
from genkit_eval.engine.batch import beside_loop, judge_together
from genkit_eval.engine.calls import called_within
from genkit_eval.engine.case import isolated
from genkit_eval.engine.cells import Cell
from genkit_eval.engine.metric import Metric
from genkit_eval.engine.plan import Plan
from genkit_eval.stored import EvalMetric
from genkit_eval.types import DataPoint, Sample, Score

__all__ = ["score_point"]


async def score_point(
    plan: Plan, point: Sample, calls: RunCalls, *, evaluator_seconds: float | None = None
) -> list[EvalMetric]:
    """What every evaluator of the plan says about the data point, in the plan's order; batches see it alone."""
    metrics: list[Metric] = []
    for cell in plan.cells:
        # a copy for each, so that none sees what another did to it
        values = {name: isolated(point.__dict__[name]) for name in point.model_fields_set}
        metrics += await _judge(cell, DataPoint.trusted(values), evaluator_seconds, calls)
    return [EvalMetric.model_validate(load(metric.text)) for metric in metrics]


async def _judge(cell: Cell, point: DataPoint, limit: float | None, calls: RunCalls) -> list[Metric]:
    why = cell.missing(point)
    if why is not None:
        return [cell.metric(Score.inconclusive(reason=why), 0.0)]
    if cell.evaluator.batch:
        return (await judge_together(cell, [point], limit, calls))[0]
    asked = calls.begin(cell.key)
    return asked.billed(cell.settled(await called_within(beside_loop(cell), point, limit, asked.timed_by)))
