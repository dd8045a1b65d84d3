"""What it costs to go on with a run that has nothing left to do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from genkit_eval import run_sync
from genkit_eval.engine import Progress
from tests.bench.arms import app_with, our_cost
from tests.bench.measure import Arm, Cost, best, in_child, measured
from tests.bench.options import Options
from tests.bench.orders import METRICS, ship, write_orders
from tests.bench.table import Row, Table, count, seconds

__all__ = ["tables"]


class Stopped(Exception):
    """The run is stopped on purpose."""


def run_whole(root: str, data: str) -> Cost:
    """A run from beginning to end."""
    return our_cost(app_with(Path(root), ship, METRICS), Path(data), list(METRICS))


def run_unclosed(root: str, data: str) -> Cost:
    """A run that is stopped when all that is left is to close it."""

    def stop_at_the_end(progress: Progress) -> None:
        if progress.done == progress.total:
            raise Stopped

    ge = app_with(Path(root), ship, METRICS)
    try:
        run_sync(ge.evaluate(Path(data), target="flow", evaluators=list(METRICS), progress=stop_at_the_end))
    except* Stopped:
        pass
    return Cost()


def resume(root: str, run: str) -> Cost:
    """Going on with it."""
    ge = app_with(Path(root), ship, METRICS)
    with measured() as cost:
        resumed = run_sync(ge.evaluate(resume=run))
    cost.facts = {"complete": resumed.complete, "results": len(resumed.results)}
    return cost


def tables(options: Options) -> Iterator[Table]:
    """A finished run, and one whose journal has everything but is not closed."""
    number, rounds = (20_000, 1) if options.quick else (100_000, 3)
    data = str(write_orders(options.folder / "resumed.jsonl", number))
    root = options.folder / "resumed"
    whole = best({"whole": Arm(run_whole, {"root": str(root), "data": data})}, rounds)["whole"]
    finished = in_child(Arm(resume, {"root": str(root), "run": whole.facts["run"]}))
    unclosed = [_resume_unclosed(options.folder / f"unclosed{turn}", data) for turn in range(rounds)]
    table_rows = [
        _row("finished", whole.wall, finished.wall, finished, number, 0.10),
        _row("unclosed journal: wall", whole.wall, min(cost.wall for cost in unclosed), unclosed[0], number, 0.35),
        _row("  CPU", whole.cpu, min(cost.cpu for cost in unclosed), unclosed[0], number, None),
    ]
    notes = ["baseline: the run itself, from JSON Lines"]
    yield Table(f"Resume a run of {count(number)} samples", table_rows, notes, baseline="the run")


def _resume_unclosed(root: Path, data: str) -> Cost:
    in_child(Arm(run_unclosed, {"root": str(root), "data": data}))
    journal = next((root / "evals").glob("*.journal.jsonl"))
    run = journal.name.removesuffix(".journal.jsonl")
    return in_child(Arm(resume, {"root": str(root), "run": run}))


def _row(what: str, whole: float, part: float, cost: Cost, number: int, most: float | None) -> Row:
    if cost.facts["results"] != number or not cost.facts["complete"]:
        raise RuntimeError(f"{what}: the resumed run has {cost.facts}")
    target, met = (f"≤ {most:.0%}", part <= most * whole) if most else ("", None)
    return Row(what, seconds(whole), seconds(part), part / whole, target, met)
