"""Evaluators that see all data points of a run at once, after everything else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

import anyio

from genkit_eval.engine.cells import Cell, Metric, described
from genkit_eval.engine.ledger import Ledger
from genkit_eval.engine.limits import Limits
from genkit_eval.engine.off_loop import off_loop
from genkit_eval.types import DataPoint, Score

__all__ = ["judge_batches"]


async def judge_batches(cells: Sequence[Cell], ledger: Ledger, limits: Limits) -> None:
    """Let each batch evaluator judge all data points with an output that it has not judged yet."""
    for cell in cells:
        rows = [(slot, result) for slot, result in ledger.answered() if _lacks(result, cell)]
        points = [(slot, DataPoint.model_validate(result)) for slot, result in rows]
        judged = []
        for slot, point in points:
            why = cell.missing(point)
            if why is None:
                judged.append((slot, point))
            else:
                ledger.add_late(slot, [cell.metric(Score.inconclusive(reason=why), 0.0)])
        if judged:
            all_metrics = await _judge(cell, [point for _, point in judged], limits.evaluator_seconds)
            for (slot, _), metrics in zip(judged, all_metrics, strict=True):
                ledger.add_late(slot, metrics)
        ledger.journal.flush()


def _lacks(result: Mapping[str, Any], cell: Cell) -> bool:
    return all(metric["evaluator"] != cell.key for metric in result["metrics"])


async def _judge(cell: Cell, points: Sequence[DataPoint], limit: float | None) -> list[list[Metric]]:
    """One list of metrics a point; when the evaluator breaks, every point has its error."""
    started = perf_counter()
    value: object = None
    error: str | None = None
    with anyio.move_on_after(limit) as scope:
        try:
            value = await (cell.call(points) if cell.evaluator.is_async else off_loop(lambda: cell.call(points)))
        except (Exception, SystemExit) as problem:
            error = described(problem)
    seconds = perf_counter() - started
    if scope.cancel_called:
        error = f"timeout: the evaluator took longer than {limit:g} s"
    if error is None and not isinstance(value, list | tuple):
        error = f"the evaluator returned {type(value).__name__}: expected a list with one value for each data point"
    elif error is None and isinstance(value, list | tuple) and len(value) != len(points):
        error = f"the evaluator returned {len(value)} values for {len(points)} data points: expected one for each"
    if error is not None or not isinstance(value, list | tuple):
        return [[cell.failed(error or "", seconds)] for _ in points]
    return [cell.metrics(item, seconds / len(points)) for item in value]
