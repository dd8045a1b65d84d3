"""One process saves a dataset and a run of 10 MB again and again, four read them. Usage: readers.py ROOT ROUNDS."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from processes import start

from genkit_eval.errors import StoreError
from genkit_eval.stored import EvalResult, EvalRunKey
from genkit_eval.stores import LocalFileDatasetStore, LocalFileEvalStore
from genkit_eval.types import Sample

ROOT, ROUNDS = Path(sys.argv[1]), int(sys.argv[2])
COUNT = 2500


def samples(mark: int) -> list[Sample]:
    return [Sample(test_case_id=f"{i}", input=mark, reference="x" * 4000) for i in range(COUNT)]


def results(mark: int) -> list[EvalResult]:
    return [EvalResult(test_case_id=f"{i}", input=mark, output="x" * 4000) for i in range(COUNT)]


def read_bytes(say: Callable[[object], None]) -> None:
    """As another tool would."""
    while not (ROOT / "done").exists():
        for path in ("datasets/shared.json", "datasets/index.json", "evals/run-1.json", "evals/index.json"):
            json.loads((ROOT / path).read_bytes())
    say("read")


def read_store(say: Callable[[object], None]) -> None:
    datasets, runs = LocalFileDatasetStore(ROOT), LocalFileEvalStore(ROOT)
    while not (ROOT / "done").exists():
        assert len({one.input for one in datasets.get("shared").samples}) == 1
        assert [one.dataset_id for one in datasets.list()] == ["shared"]
        try:
            assert len(runs.load("run-1").results) == COUNT
        except StoreError as replaced:
            # between loading and counting: that is said, and is no half file
            if "load it again" not in str(replaced):
                raise
        assert len(runs.list()) == 1
    say("read")


def main() -> None:
    datasets, runs = LocalFileDatasetStore(ROOT), LocalFileEvalStore(ROOT)
    key = EvalRunKey(eval_run_id="run-1", created_at=datetime(2026, 1, 2, tzinfo=UTC))
    datasets.create("shared", samples(0))
    runs.save(key, results(0))
    readers = [start(read) for read in (read_bytes, read_bytes, read_store, read_store)]
    for turn in range(1, ROUNDS + 1):
        datasets.update("shared", samples(turn), expected_version=turn)
        runs.save(key, results(turn), expected_revision=turn)
    (ROOT / "done").touch()
    assert [reader.end(must_succeed=True) for reader in readers] == [["read"]] * 4


if __name__ == "__main__":
    main()
