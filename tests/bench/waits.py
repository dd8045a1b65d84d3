"""What waits: flows that sleep, a flow and an evaluator that hang."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from tempfile import TemporaryDirectory

from genkit_eval import DataPoint, GenkitEval, run_sync
from genkit_eval.engine import Limits
from tests.bench.measure import Arm, Cost, best, measured
from tests.bench.options import Options
from tests.bench.table import Row, Table, count, seconds

__all__ = ["tables"]

SLEEP = 0.5
DEADLINE = 1.0
MOST_ASLEEP, MOST_HUNG, MOST_EXIT = 2.0, 1.5, 0.5
SAMPLES = 5_000


def asleep(folder: str) -> Cost:
    """Ten synchronous flows that sleep."""

    def slow(value: int) -> int:
        time.sleep(SLEEP)
        return value

    with TemporaryDirectory(dir=folder) as root:
        ge = GenkitEval(root=root)
        ge.define_flow("slow", slow)
        samples = [{"input": number} for number in range(10)]
        with measured() as cost:
            run = run_sync(ge.evaluate(samples, target="slow", evaluators=[]))
        cost.facts["answered"] = sum(result.error is None for result in run.results)
    return cost


def hung(folder: str) -> Cost:
    """Many samples, with one flow and one evaluator that do not come back."""
    never = threading.Event()

    def answer(value: int) -> int:
        if value == 17:
            never.wait()
        return value

    def positive(point: DataPoint) -> bool:
        if point.output == 1_234:
            never.wait()
        return bool(point.output >= 0)

    with TemporaryDirectory(dir=folder) as root:
        ge = GenkitEval(root=root)
        ge.define_flow("answer", answer)
        ge.define_evaluator("positive", positive)
        samples = [{"input": number} for number in range(SAMPLES)]
        limits = Limits(target_seconds=DEADLINE, evaluator_seconds=DEADLINE)
        with measured() as cost:
            run = run_sync(ge.evaluate(samples, target="answer", evaluators=["positive"], limits=limits))
        cost.facts["answered"] = run.key.target_errors == 1 and run.summary()[0].failed == 2
    return cost


def tables(options: Options) -> Iterator[Table]:
    """Both."""
    on = {"folder": str(options.folder)}
    costs = best({"asleep": Arm(asleep, on), "hung": Arm(hung, on)}, 1 if options.quick else 3)
    sleeping, hanging = costs["asleep"], costs["hung"]
    if sleeping.facts["answered"] != 10 or not hanging.facts["answered"]:
        raise RuntimeError(f"wrong results: {sleeping.facts}, {hanging.facts}")
    table_rows = [
        _row("ten sync flows that sleep", SLEEP, sleeping.wall, MOST_ASLEEP),
        _row(f"{count(SAMPLES)} samples, a flow and an evaluator hang", DEADLINE, hanging.wall, MOST_HUNG),
        Row(
            "  from the run's end to the process's end",
            "",
            seconds(hanging.facts["exit"]),
            None,
            f"≤ {seconds(MOST_EXIT)}",
            hanging.facts["exit"] <= MOST_EXIT,
        ),
    ]
    yield Table("What waits", table_rows, ["baseline: one sleep; the deadline"], baseline="one call")


def _row(what: str, one: float, all_: float, most: float) -> Row:
    return Row(what, seconds(one), seconds(all_), all_ / one, f"≤ {most:g} ×", all_ <= most * one)
