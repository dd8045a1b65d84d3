"""The two arms of a comparison: the loop that a competent engineer writes by hand, and our `evaluate`."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import orjson

# the app imports these when it needs them; here no import is to be measured, that is a topic of its own
import genkit_eval.engine
import genkit_eval.library
import genkit_eval.stores  # noqa: F401
from genkit_eval import GenkitEval, Score, run_sync
from genkit_eval.types import Sample
from genkit_eval_metrics import genkit_metrics
from tests.bench.measure import Cost, measured
from tests.bench.orders import Metric

__all__ = ["WORKERS", "Record", "app_with", "hand_cost", "our_cost"]

WORKERS = 32

Record = dict[str, Any]


@dataclass(slots=True)
class Point:
    """What the hand-written loop gives to its metrics."""

    input: Any
    output: Any
    reference: Any

    def has(self, name: str) -> bool:
        """As our data points say it; the built-in metrics ask."""
        return getattr(self, name) is not None


async def by_hand(
    rows: Iterable[Mapping[str, Any]], flow: Callable[[Any], Any], metrics: Mapping[str, Metric]
) -> list[Record]:
    """32 workers, a try and a timing around every call, a record a sample in memory, nothing on disk."""
    records: list[Record] = []
    pending = iter(rows)
    waits = inspect.iscoroutinefunction(flow)

    async def work() -> None:
        for row in pending:
            output, error = None, None
            started = perf_counter()
            try:
                output = await flow(row["input"]) if waits else flow(row["input"])
            except Exception as problem:  # noqa: BLE001 # whatever a flow raises
                error = f"{type(problem).__name__}: {problem}"
            seconds = perf_counter() - started
            point = Point(row["input"], output, row["reference"])
            records.append(
                {
                    "id": row["testCaseId"],
                    "input": row["input"],
                    "output": output,
                    "reference": row["reference"],
                    "error": error,
                    "seconds": seconds,
                    "metrics": judged_by_hand(point, metrics),
                }
            )

    async with asyncio.TaskGroup() as group:
        for _ in range(WORKERS):
            group.create_task(work())
    return records


def judged_by_hand(point: Any, metrics: Mapping[str, Metric]) -> dict[str, dict[str, Any]]:
    """Every metric's score, error and time."""
    judged = {}
    for name, metric in metrics.items():
        score, error = None, None
        started = perf_counter()
        try:
            value = metric(point)
            score = value.score if isinstance(value, Score) else value
        except Exception as problem:  # noqa: BLE001 # whatever a metric raises
            error = f"{type(problem).__name__}: {problem}"
        judged[name] = {"score": score, "error": error, "seconds": perf_counter() - started}
    return judged


def hand_cost(rows: Iterable[Mapping[str, Any]], flow: Callable[[Any], Any], metrics: Mapping[str, Metric]) -> Cost:
    """The baseline's cost, and the sum of each metric's scores."""
    with measured() as cost:
        records = asyncio.run(by_hand(rows, flow, metrics))
    cost.facts["sums"] = {name: sum(record["metrics"][name]["score"] or 0 for record in records) for name in metrics}
    return cost


def app_with(root: Path, flow: Callable[[Any], Any], metrics: Mapping[str, Metric]) -> GenkitEval:
    """An app with this flow, Genkit's metrics, and these."""
    ge = GenkitEval(root=root, plugins=[genkit_metrics()])
    ge.define_flow("flow", flow)
    for name, metric in metrics.items():
        ge.define_evaluator(name, metric)
    return ge


def our_cost(
    ge: GenkitEval, data: Path | list[Sample], evaluators: Sequence[str], *, target: str | None = "flow"
) -> Cost:
    """The cost of one run, its file closed, and the sum of each evaluator's scores as the file has them."""
    with measured() as cost:
        run = run_sync(ge.evaluate(data, target=target, evaluators=evaluators))
    sums = dict.fromkeys(evaluators, 0)
    for text in ge.runs.store.load(run.id).raw():
        for metric in orjson.loads(text)["metrics"]:
            sums[metric["evaluator"].removeprefix("/evaluator/")] += metric.get("score") or 0
    cost.facts |= {"sums": sums, "run": run.id, "size": run.path.stat().st_size}
    return cost
