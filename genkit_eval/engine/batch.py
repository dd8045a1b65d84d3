"""Evaluators that see all data points of a run at once, after everything else."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from genkit_eval.engine.asking.limits import Limits
from genkit_eval.engine.asking.model_calls import RunCalls
from genkit_eval.engine.calls import CUT, Called, called_within
from genkit_eval.engine.cells import Cell
from genkit_eval.engine.ledger import Ledger
from genkit_eval.engine.metric import Metric
from genkit_eval.engine.repeats import pass_number
from genkit_eval.off_loop import off_loop
from genkit_eval.types import DataPoint, Score

__all__ = ["beside_loop", "judge_batches", "judge_together"]


async def judge_batches(cells: Sequence[Cell], ledger: Ledger, limits: Limits, calls: RunCalls) -> None:
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
            all_metrics = await judge_together(cell, [point for _, point in judged], limits.evaluator_seconds, calls)
            if not all_metrics:
                ledger.left += len(judged)
                continue
            for (slot, _), metrics in zip(judged, all_metrics, strict=True):
                ledger.add_late(slot, metrics)
        ledger.journal.flush()


def _lacks(result: Mapping[str, Any], cell: Cell) -> bool:
    return all(metric["evaluator"] != cell.key for metric in result["metrics"])


async def judge_together(
    cell: Cell, points: Sequence[DataPoint], limit: float | None, calls: RunCalls
) -> list[list[Metric]]:
    """One list of metrics a point, the first with what all of them cost; when it breaks, every point has its error.

    What is asked several times sees all points each time, and each point has what its answers come to. No list at all
    when the run ends early.
    """
    asked = calls.begin(cell.key)
    results: list[Called] = []
    # one after the other: what sees all points at once may keep something of them
    for number in range(cell.repeats):
        own = points if cell.repeats == 1 else [point.model_copy(deep=True) for point in points]
        again = asked if number == 0 else asked.again(pass_number(None, number))
        results.append(await called_within(beside_loop(cell), own, limit, again.timed_by))
        if results[-1] is CUT:
            asked.unbilled()
            return []
    shared = [_shared_out(result, len(points)) for result in results]
    first, *others = [
        cell.settled(answers[0]) if cell.repeats == 1 else cell.agreed(answers) for answers in zip(*shared, strict=True)
    ]
    return [asked.billed(first), *others]


def _shared_out(result: Called, count: int) -> list[Called]:
    """What one call says of each of so many points, as if each had been asked about by itself."""
    value, error, seconds = result
    if error is None and not isinstance(value, list | tuple):
        error = f"the evaluator returned {type(value).__name__}: expected a list with one value for each data point"
    elif isinstance(value, list | tuple) and len(value) != count:
        error = f"the evaluator returned {len(value)} values for {count} data points: expected one for each"
    if error is not None or not isinstance(value, list | tuple):
        return [(None, error, seconds)] * count
    return [(item, None, seconds / count) for item in value]


def beside_loop(cell: Cell) -> Callable[[Any], Awaitable[object]]:
    """The evaluator as something to await: a synchronous one runs on a thread."""
    if cell.evaluator.is_async:
        return cell.call

    async def call(argument: object) -> object:
        return await off_loop(lambda: cell.call(argument))

    return call
