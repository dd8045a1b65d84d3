"""Several processes change one dataset at the same time. Usage: compare_and_set.py ROOT many|pairs PROCESSES ROUNDS."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from processes import start

from genkit_eval.errors import VersionConflict
from genkit_eval.stores import LocalFileDatasetStore
from genkit_eval.types import Sample

ROOT = Path(sys.argv[1])


def sample(name: str) -> Sample:
    return Sample(test_case_id=name, input=name)


def many(processes: int, rounds: int) -> None:
    """Each adds `rounds` samples of its own, one at a time, reading again whenever somebody was quicker."""
    LocalFileDatasetStore(ROOT).create("shared", [])

    def work(number: int, say: Callable[[object], None]) -> None:
        store = LocalFileDatasetStore(ROOT)
        conflicts = 0
        for turn in range(rounds):
            while True:
                try:
                    version = store.get("shared").metadata.version
                    store.patch("shared", [sample(f"{number}-{turn}")], expected_version=version)
                    break
                except VersionConflict:
                    conflicts += 1
        say(conflicts)

    children = [start(partial(work, number)) for number in range(processes)]
    conflicts = sum(int(child.end(must_succeed=True)[0]) for child in children)
    dataset = LocalFileDatasetStore(ROOT).get("shared")
    found = {one.test_case_id for one in dataset.samples}
    assert found == {f"{number}-{turn}" for number in range(processes) for turn in range(rounds)}
    assert dataset.metadata.version == 1 + processes * rounds, dataset.metadata.version
    print(f"{conflicts} conflicts")


def pairs(processes: int, rounds: int) -> None:
    """All read the same version, each adds its own sample, one wins; a reader parses the file all the time."""
    store = LocalFileDatasetStore(ROOT)
    store.create("shared", [])
    done = ROOT / "done"

    def read(say: Callable[[object], None]) -> None:
        while not done.exists():
            json.loads((ROOT / "datasets" / "shared.json").read_bytes())
            json.loads((ROOT / "datasets" / "index.json").read_bytes())

    def write(number: int, turn: int, version: int, say: Callable[[object], None]) -> None:
        try:
            LocalFileDatasetStore(ROOT).patch("shared", [sample(f"{number}-{turn}")], expected_version=version)
            say("won")
        except VersionConflict as conflict:
            say(f"lost {conflict.expected} {conflict.found}")

    reader = start(read)
    won = set()
    for turn in range(rounds):
        version = store.get("shared").metadata.version
        writers = [start(partial(write, number, turn, version)) for number in range(processes)]
        said = [writer.end(must_succeed=True)[0] for writer in writers]
        assert said.count("won") == 1, said
        assert said.count(f"lost {version} {version + 1}") == processes - 1, said
        won.add(f"{said.index('won')}-{turn}")
    done.touch()
    reader.end(must_succeed=True)
    dataset = store.get("shared")
    assert dataset.metadata.version == 1 + rounds
    assert {one.test_case_id for one in dataset.samples} == won


if __name__ == "__main__":
    {"many": many, "pairs": pairs}[sys.argv[2]](int(sys.argv[3]), int(sys.argv[4]))
