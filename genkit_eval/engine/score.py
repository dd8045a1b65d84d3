"""Score one data point: no run, no store."""

from __future__ import annotations

from time import perf_counter

import anyio

from genkit_eval.engine.case import isolated
from genkit_eval.engine.cells import Cell, Metric, described
from genkit_eval.engine.off_loop import off_loop
from genkit_eval.engine.plan import Plan
from genkit_eval.types import DataPoint, EvalMetric, Sample, Score

__all__ = ["score_point"]


async def score_point(plan: Plan, point: Sample, *, evaluator_seconds: float | None = None) -> list[EvalMetric]:
    """What every evaluator of the plan says about the data point, in the plan's order; batches see it alone."""
    values = {name: isolated(value) for name, value in point.__dict__.items() if name in point.model_fields_set}
    metrics: list[Metric] = []
    for cell in plan.cells:
        # each gets a copy of its own, so that none sees what another did to it
        metrics += await _judge(cell, DataPoint.trusted({k: isolated(v) for k, v in values.items()}), evaluator_seconds)
    return [EvalMetric.model_validate(metric) for metric in metrics]


async def _judge(cell: Cell, point: DataPoint, limit: float | None) -> list[Metric]:
    why = cell.missing(point)
    if why is not None:
        return [cell.metric(Score.inconclusive(reason=why), 0.0)]
    argument = [point] if cell.evaluator.batch else point
    started = perf_counter()
    value: object = None
    error: str | None = None
    with anyio.move_on_after(limit) as scope:
        try:
            if cell.evaluator.is_async:
                value = await cell.call(argument)
            else:
                value = await off_loop(lambda: cell.call(argument))
        except (Exception, SystemExit) as problem:
            error = described(problem)
    if scope.cancel_called:
        error = f"timeout: the evaluator took longer than {limit:g} s"
    if error is None and cell.evaluator.batch:
        if isinstance(value, list | tuple) and len(value) == 1:
            value = value[0]
        else:
            error = f"the evaluator returned {type(value).__name__}: expected a list with one value"
    seconds = perf_counter() - started
    return cell.metrics(value, seconds) if error is None else [cell.failed(error, seconds)]
