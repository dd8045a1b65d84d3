"""W1: many samples, three cheap metrics, an asynchronous flow; the same metric functions in both arms."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from genkit_eval.datasets import read_samples
from tests.bench.arms import app_with, hand_cost, our_cost
from tests.bench.measure import Arm, Cost, best
from tests.bench.options import Options
from tests.bench.orders import BARE_METRICS, METRICS, rows, ship, write_orders
from tests.bench.table import Row, Table, count, megabytes, per_case, seconds

__all__ = ["run_rows", "tables"]

ALLOWANCE = 0.030
LINEAR = 1.25
MOST_ADDED = 200


def by_hand(data: str, number: int) -> Cost:
    """The baseline, on samples in memory."""
    return hand_cost(list(rows(Path(data), number)), ship, METRICS)


def by_hand_bare(data: str, number: int) -> Cost:
    """The baseline with `==` and `re`."""
    return hand_cost(list(rows(Path(data), number)), ship, BARE_METRICS)


def by_hand_streamed(data: str, number: int) -> Cost:
    """The baseline, which reads its samples from the file as it goes."""
    return hand_cost(rows(Path(data), number), ship, METRICS)


def ours(data: str, number: int) -> Cost:
    """Ours, on samples in memory."""
    samples = list(islice(read_samples(Path(data)), number))
    with TemporaryDirectory(dir=Path(data).parent) as root:
        return our_cost(app_with(Path(root), ship, METRICS), samples, list(METRICS))


def ours_streamed(data: str, number: int) -> Cost:
    """Ours, from a file of so many samples."""
    with TemporaryDirectory(dir=Path(data).parent) as root:
        cost = our_cost(app_with(Path(root), ship, METRICS), Path(data), list(METRICS))
    assert cost.facts["size"] > number
    return cost


def limit(number: int) -> float | None:
    """How many times the baseline's wall time a run may take; none is set for few samples."""
    if number < 10_000:
        return None
    return 2.0 if number >= 100_000 else 2.5


def run_rows(name: str, hand: Cost, our: Cost, *, most: float | None, allowance: float = ALLOWANCE) -> Iterator[Row]:
    """Wall and CPU time of a run beside the baseline's; both did the same work."""
    if hand.facts["sums"] != our.facts["sums"]:
        raise RuntimeError(f"{name}: the arms disagree: {hand.facts['sums']} by hand, {our.facts['sums']} ours")
    more = f" + {allowance * 1000:.0f} ms" if allowance else ""
    target = f"≤ {most:g} ×{more}" if most else ""
    met = our.wall <= most * hand.wall + allowance if most else None
    yield Row(f"{name}: wall", seconds(hand.wall), seconds(our.wall), our.wall / hand.wall, target, met)
    yield Row("  CPU", seconds(hand.cpu), seconds(our.cpu), our.cpu / hand.cpu)


def tables(options: Options) -> Iterator[Table]:
    """Samples in memory; samples streamed from JSON Lines."""
    sizes = (1_000, 10_000) if options.quick else (1_000, 10_000, 100_000)
    yield _in_memory(options, sizes)
    streamed = (10_000, 30_000) if options.quick else (100_000, 1_000_000 if options.million else 300_000)
    yield _streamed(options, streamed)


def _in_memory(options: Options, sizes: tuple[int, ...]) -> Table:
    data = write_orders(options.folder / "orders.jsonl", max(sizes))
    table_rows: list[Row] = []
    walls: dict[int, float] = {}
    for number in sizes:
        arguments = {"data": str(data), "number": number}
        arms = {"bare": Arm(by_hand_bare, arguments), "hand": Arm(by_hand, arguments), "ours": Arm(ours, arguments)}
        costs = best(arms, options.rounds(number))
        hand, bare, our = costs["hand"], costs["bare"], costs["ours"]
        walls[number] = our.wall
        table_rows += run_rows(count(number), hand, our, most=limit(number))
        table_rows.append(Row("  beside bare == and re", seconds(bare.wall), seconds(our.wall), our.wall / bare.wall))
        added = our.added / hand.added
        target, met = ("≤ 1.0 ×", added <= 1.0) if number >= 100_000 else ("", None)
        table_rows.append(Row("  memory added", megabytes(hand.added), megabytes(our.added), added, target, met))
    table_rows.append(_linear(walls))
    return Table("W1: samples × three cheap metrics, async def flow", table_rows)


def _linear(walls: dict[int, float]) -> Row:
    sizes = list(walls)
    low, middle, high = sizes[0], sizes[-2], sizes[-1]
    early = walls[middle] / middle if low == middle else (walls[middle] - walls[low]) / (middle - low)
    late = (walls[high] - walls[middle]) / (high - middle)
    name = f"a sample more, beyond {count(middle)} / before"
    return Row(name, seconds(early), seconds(late), late / early, f"≤ {LINEAR:g} ×", late / early <= LINEAR)


def _streamed(options: Options, sizes: tuple[int, int]) -> Table:
    table_rows: list[Row] = []
    added: list[float] = []
    for number in sizes:
        data = write_orders(options.folder / f"orders-{number}.jsonl", number)
        arguments = {"data": str(data), "number": number}
        arms = {"hand": Arm(by_hand_streamed, arguments), "ours": Arm(ours_streamed, arguments)}
        costs = best(arms, 1 if number > 100_000 or options.quick else options.rounds(number))
        hand, our = costs["hand"], costs["ours"]
        table_rows += run_rows(count(number), hand, our, most=limit(number))
        memory = our.added / hand.added
        table_rows.append(Row("  memory added", megabytes(hand.added), megabytes(our.added), memory))
        added.append(our.added)
        data.unlink()
    more = (added[1] - added[0]) / (sizes[1] - sizes[0])
    target = f"≤ {MOST_ADDED} B"
    table_rows.append(Row("memory for a sample more", "", per_case(more), None, target, more <= MOST_ADDED))
    notes = ["the baseline parses each line and keeps its records; ours checks the file first, then streams it"]
    return Table("W1 from JSON Lines", table_rows, notes)
