"""Kill a process that changes datasets again and again, look at what it left. Usage: kill_datasets.py ROOT ROUNDS."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from processes import start

from genkit_eval.stores import LocalFileDatasetStore
from genkit_eval.types import Sample

ROOT, ROUNDS = Path(sys.argv[1]), int(sys.argv[2])


def samples(mark: int) -> list[Sample]:
    """Told apart by a mark, all of one size, some with further keys."""
    return [Sample(test_case_id=f"{i}", input=mark, reference="x" * 500, tags=[f"t{mark}"]) for i in range(400)]


def work(turn: int, say: Callable[[object], None]) -> None:
    store = LocalFileDatasetStore(ROOT)
    version = store.get("shared").metadata.version
    for step in range(1000):
        mark = turn * 1000 + step
        version = store.update("shared", samples(mark), expected_version=version).version
        say(f"update {version} {mark}")
        name = f"other-{turn}-{step}"
        store.create(name, samples(mark)[:3])
        say(f"create {name}")
        if step % 2:
            store.delete(name, expected_version=1)
            say(f"delete {name}")


def check(said: list[str]) -> None:
    for path in ROOT.rglob("*.json"):
        json.loads(path.read_bytes())
    store = LocalFileDatasetStore(ROOT)
    listed = {one.dataset_id: one for one in store.list()}
    for line in said:
        verb, name, *rest = line.split()
        if verb == "update":
            stored = store.get("shared", version=int(name))
            assert [one.input for one in stored.samples] == [int(rest[0])] * 400
        elif verb == "create" and f"delete {name}" not in said and line != said[-1]:
            assert name in listed, f"{name} is lost"
        elif verb == "delete":
            assert name not in listed, f"{name} is back"
    dataset = store.get("shared")
    marks = {one.input for one in dataset.samples} | {int(one.tags[0][1:]) for one in dataset.samples}
    assert len(marks) == 1, f"versions are mixed: {marks}"
    updates = [int(line.split()[1]) for line in said if line.startswith("update")]
    assert not updates or updates[-1] <= dataset.metadata.version <= updates[-1] + 1
    assert listed["shared"] == dataset.metadata
    rows = [{"testCaseId": one.test_case_id, "input": one.input, "reference": one.reference} for one in dataset.samples]
    assert json.loads((ROOT / "datasets" / "shared.json").read_bytes()) == rows


def main() -> None:
    dice = random.Random(7)
    LocalFileDatasetStore(ROOT).create("shared", samples(0))
    did = 0
    for turn in range(ROUNDS):
        said = start(partial(work, turn)).kill_after(dice.randrange(6), dice.uniform(0, 0.02))
        check(said)
        did += len(said)
    print(f"{did} changes between {ROUNDS} kills")
    assert did > ROUNDS


if __name__ == "__main__":
    main()
