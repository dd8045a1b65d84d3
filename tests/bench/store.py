"""Datasets of a hundred thousand samples, and the list of a thousand runs."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from genkit_eval.datasets import check_file, fill_ids, read_samples
from genkit_eval.stored import EvalRunKey
from genkit_eval.stores import LocalFileDatasetStore, LocalFileEvalStore
from genkit_eval.types import Sample
from tests.bench.measure import Arm, Cost, best, measured
from tests.bench.options import Options
from tests.bench.orders import write_orders
from tests.bench.table import Row, Table, count, megabytes, seconds

__all__ = ["tables"]

RUNS = 1_000
LISTED_SECONDS = 0.010


def parse_json(path: str) -> Cost:
    """The baseline of loading: orjson, the collector paused."""
    gc.disable()
    with measured() as cost:
        kept = orjson.loads(Path(path).read_bytes())
    cost.facts["samples"] = len(kept)
    return cost


def parse_lines(path: str) -> Cost:
    """The same for JSON Lines."""
    gc.disable()
    with measured() as cost, Path(path).open("rb") as file:
        kept = [orjson.loads(line) for line in file]
    cost.facts["samples"] = len(kept)
    return cost


def load_stored(root: str) -> Cost:
    """Ours: a stored dataset, every sample built."""
    with measured() as cost:
        kept = list(LocalFileDatasetStore(Path(root)).get("orders").samples)
    cost.facts["samples"] = len(kept)
    return cost


def load_foreign(path: str) -> Cost:
    """Ours: a file of somebody else's, every sample checked, ids too."""
    with measured() as cost:
        kept = list(fill_ids(read_samples(Path(path))))
    cost.facts["samples"] = len(kept)
    return cost


def stream_foreign(path: str) -> Cost:
    """Ours: as a run does it, checked first and then streamed; nothing is kept."""
    with measured() as cost:
        checked = check_file(Path(path))
        number = sum(1 for _ in fill_ids(read_samples(Path(path)), taken=checked.ids))
    cost.facts["samples"] = number
    return cost


def dump_json(path: str) -> Cost:
    """The baseline of saving: dumps, write, fsync."""
    samples = orjson.loads(Path(path).read_bytes())
    with TemporaryDirectory(dir=Path(path).parent) as folder, measured() as cost:
        descriptor = os.open(Path(folder) / "orders.json", os.O_WRONLY | os.O_CREAT)
        with os.fdopen(descriptor, "wb") as file:
            file.write(orjson.dumps(samples))
            file.flush()
            os.fsync(file.fileno())
    return cost


def save_dataset(path: str) -> Cost:
    """Ours: a new dataset in the store."""
    samples: list[Sample] = list(read_samples(Path(path)))
    with TemporaryDirectory(dir=Path(path).parent) as root, measured() as cost:
        LocalFileDatasetStore(Path(root)).create("orders", samples)
    return cost


def list_runs(root: str) -> Cost:
    """Ours: the runs that are there, first as a new process sees them."""
    store = LocalFileEvalStore(Path(root))
    with measured() as cost:
        cost.facts["runs"] = len(store.list())
    return cost


def list_runs_again(root: str) -> Cost:
    """Ours: once more by the same store."""
    store = LocalFileEvalStore(Path(root))
    store.list()
    with measured() as cost:
        cost.facts["runs"] = len(store.list())
    return cost


def parse_index(root: str) -> Cost:
    """The baseline of listing: parse the index."""
    lines = (Path(root) / "evals" / "index.json").read_bytes
    with measured() as cost:
        cost.facts["runs"] = len(orjson.loads(lines()))
    return cost


def tables(options: Options) -> Iterator[Table]:
    """Datasets, then the list of runs."""
    number, rounds = (20_000, 2) if options.quick else (100_000, 4)
    yield _datasets(options.folder, number, rounds)
    yield _runs(options.folder / "runs", rounds)


def _datasets(folder: Path, number: int, rounds: int) -> Table:
    lines = write_orders(folder / "foreign.jsonl", number)
    samples = list(read_samples(lines))
    root = folder / "stored"
    LocalFileDatasetStore(root).create("orders", samples)
    stored = root / "datasets" / "orders.json"
    array = folder / "foreign.json"
    array.write_bytes(orjson.dumps([sample.to_json() for sample in samples]))
    del samples
    on = {"path": str(array)}
    arms = {
        "json": Arm(parse_json, {"path": str(stored)}),
        "stored": Arm(load_stored, {"root": str(root)}),
        "foreign": Arm(load_foreign, on),
        "lines": Arm(parse_lines, {"path": str(lines)}),
        "foreign lines": Arm(load_foreign, {"path": str(lines)}),
        "streamed lines": Arm(stream_foreign, {"path": str(lines)}),
        "dumps": Arm(dump_json, on),
        "save": Arm(save_dataset, on),
    }
    costs = best(arms, rounds)
    pairs: list[tuple[str, str, str, float | None]] = [
        ("load from the store", "json", "stored", 1.5),
        ("load a foreign .json, all checks", "json", "foreign", 2.3),
        ("load a foreign .jsonl, all checks", "lines", "foreign lines", 2.3),
        ("check a .jsonl, then stream it", "lines", "streamed lines", None),
        ("save", "dumps", "save", 2.0),
    ]
    table_rows = [row for what, hand, our, most in pairs for row in _beside(what, costs[hand], costs[our], most)]
    size = megabytes(stored.stat().st_size)
    notes = ["baselines: orjson with the collector paused; dumps + write + fsync"]
    return Table(f"A dataset of {count(number)} samples, {size}", table_rows, notes, baseline="orjson")


def _beside(what: str, hand: Cost, our: Cost, most: float | None) -> list[Row]:
    if hand.facts.get("samples") != our.facts.get("samples"):
        raise RuntimeError(f"{what}: {hand.facts} by hand, {our.facts} ours")
    target = f"≤ {most:g} ×" if most else ""
    met = our.wall <= most * hand.wall if most else None
    return [
        Row(f"{what}: wall", seconds(hand.wall), seconds(our.wall), our.wall / hand.wall, target, met),
        Row("  CPU", seconds(hand.cpu), seconds(our.cpu), our.cpu / hand.cpu),
    ]


def _runs(root: Path, rounds: int) -> Table:
    store = LocalFileEvalStore(root)
    start = datetime(2026, 1, 1, tzinfo=UTC)
    for number in range(RUNS):
        values: dict[str, Any] = {"eval_run_id": f"run-{number:06}", "created_at": start + timedelta(minutes=number)}
        store.save(EvalRunKey(action_ref="/flow/ship", **values), [])
    on = {"root": str(root)}
    arms = {"index": Arm(parse_index, on), "first": Arm(list_runs, on), "again": Arm(list_runs_again, on)}
    costs = best(arms, rounds + 2)
    target = f"≤ {seconds(LISTED_SECONDS)}"
    table_rows = [
        Row(
            what,
            seconds(costs["index"].wall),
            seconds(costs[arm].wall),
            costs[arm].wall / costs["index"].wall,
            target,
            costs[arm].wall <= LISTED_SECONDS and costs[arm].facts["runs"] == RUNS,
        )
        for what, arm in (("first, in a new process", "first"), ("again", "again"))
    ]
    return Table(f"List {count(RUNS)} runs", table_rows, ["baseline: reading and parsing the index"], "index")
