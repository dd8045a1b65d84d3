"""A disk that is full, and a folder that cannot be written: a clear error, and what was there stays."""

from __future__ import annotations

import os
import resource
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from genkit_eval.errors import StoreError
from genkit_eval.stored import EvalResult
from genkit_eval.stores import LocalFileDatasetStore, LocalFileEvalStore
from genkit_eval.types import Sample
from tests.stores.made import run_key

NOBODY = 65534
LONG = "x" * 3000


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """No file of this process can become longer than that: the system refuses the write, as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextmanager
def without_rights() -> Iterator[None]:
    """For root no permission counts: be nobody meanwhile."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def locked_root() -> Iterator[tuple[Path, Callable[[], None]]]:
    """A folder that everybody can look into, and a function that makes all in it unwritable."""
    # pytest's own folders can be entered by their owner alone
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        root.chmod(0o755)

        def lock() -> None:
            for path in [*root.rglob("*"), root]:
                path.chmod(0o555 if path.is_dir() else 0o444)

        yield root, lock
        for path in [root, *root.rglob("*")]:
            if path.is_dir():
                path.chmod(stat.S_IRWXU)


def samples(*ids: str) -> list[Sample]:
    return [Sample(test_case_id=name, input=LONG) for name in ids]


def result(name: str) -> bytes:
    return b'{"testCaseId":"%s","input":"%s","traceIds":[],"metrics":[]}' % (name.encode(), LONG.encode())


def contents(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.mark.case("store-concurrency/disk-full")
def test_a_dataset_that_finds_no_room_stays_as_it_was(tmp_path: Path) -> None:
    store = LocalFileDatasetStore(tmp_path)
    store.create("capitals", samples("a"))
    before = contents(tmp_path)

    for change in (
        lambda: store.update("capitals", samples("b", "c"), expected_version=1),
        lambda: store.patch("capitals", samples("b"), expected_version=1),
        lambda: store.create("towns", samples("a")),
    ):
        with room_for(1024), pytest.raises(StoreError, match=r"(capitals|towns|1|2)\.json: File too large; make room"):
            change()

    assert contents(tmp_path) == before
    assert store.update("capitals", samples("b"), expected_version=1).version == 2


@pytest.mark.case("store-concurrency/disk-full")
def test_a_run_that_finds_no_room_leaves_the_old_one(tmp_path: Path) -> None:
    store = LocalFileEvalStore(tmp_path)
    store.save(run_key(), [EvalResult(test_case_id="a", input=1)])
    before = contents(tmp_path)

    with room_for(1024), pytest.raises(StoreError, match=r"run-1\.json: File too large; make room"):
        store.save(run_key(), [EvalResult(test_case_id="b", input=LONG)], expected_revision=1)

    assert contents(tmp_path) == before


@pytest.mark.case("store-concurrency/disk-full")
def test_a_journal_that_finds_no_room_says_so_and_goes_on_when_there_is(tmp_path: Path) -> None:
    journal = LocalFileEvalStore(tmp_path).begin(run_key())
    journal.add(result("a"))
    journal.flush()

    with room_for(journal.path.stat().st_size + 1000):
        journal.add(result("b"))
        with pytest.raises(StoreError, match=r"run-1\.journal\.jsonl: File too large; make room"):
            journal.flush()
        with pytest.raises(StoreError, match="make room"):
            journal.add(result("c"))
        torn = journal.path.read_bytes()
    journal.flush()
    journal.add(result("c"))
    run = journal.finish(run_key(), [0, 1, 2])

    assert torn.endswith(b"}\n")
    assert [one.test_case_id for one in run.results] == ["a", "b", "c"]


@pytest.mark.case("store-concurrency/disk-full")
def test_a_run_that_cannot_be_finished_keeps_its_journal(tmp_path: Path) -> None:
    store = LocalFileEvalStore(tmp_path)
    journal = store.begin(run_key())
    for name in "abc":
        journal.add(result(name))
    journal.flush()

    with room_for(1024), pytest.raises(StoreError, match=r"run-1\.json: File too large"):
        journal.finish(run_key(), [0, 1, 2])
    journal.close()

    assert [one.test_case_id for one in store.load("run-1").results] == ["a", "b", "c"]
    assert [path.name for path in (tmp_path / "evals").iterdir() if path.suffix != ".jsonl"] == [".locks"]
    assert len(store.reopen("run-1").finish(run_key(), [0, 1, 2]).results) == 3


def test_an_index_that_finds_no_room_does_not_undo_the_run(tmp_path: Path) -> None:
    store = LocalFileEvalStore(tmp_path)
    for number in range(20):
        store.save(run_key(f"run-{number}"), [])

    with room_for(1024):
        store.save(run_key("last"), [EvalResult(test_case_id="a", input=1)])

    assert "last" in {key.eval_run_id for key in store.list()}
    assert len(store.list()) == 21


def test_a_folder_that_is_a_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    datasets, runs = LocalFileDatasetStore(tmp_path / "file"), LocalFileEvalStore(tmp_path / "file")

    with pytest.raises(StoreError, match=r"file/datasets.*make the folder readable and writable"):
        datasets.create("capitals", samples("a"))
    with pytest.raises(StoreError, match="file/evals"):
        runs.begin(run_key())
    with pytest.raises(StoreError, match="file/evals"):
        runs.save(run_key(), [])


def test_what_cannot_be_written_can_be_read(locked_root: tuple[Path, Callable[[], None]]) -> None:
    root, lock = locked_root
    datasets, runs = LocalFileDatasetStore(root), LocalFileEvalStore(root)
    datasets.create("capitals", samples("a"))
    runs.save(run_key(), [EvalResult(test_case_id="a", input=1)])
    runs.begin(run_key("run-2")).close()
    # an edit of another tool, which cannot be stored as a version here
    (root / "datasets" / "capitals.json").write_text('[{"testCaseId":"a","input":2}]', encoding="utf-8")
    (root / "evals" / "index.json").unlink()
    lock()

    with without_rights():
        dataset = datasets.get("capitals")
        listed = datasets.list()
        history = [one.version for one in datasets.history("capitals")]
        keys = {key.eval_run_id for key in runs.list()}
        results = [one.test_case_id for one in runs.load("run-1").results]

    assert (dataset.metadata.version, dataset.samples[0].input) == (2, 2)
    assert [one.dataset_id for one in listed] == ["capitals"]
    assert history == [2, 1]
    assert keys == {"run-1", "run-2"}
    assert results == ["a"]


def test_what_cannot_be_written_is_an_error_that_names_it(locked_root: tuple[Path, Callable[[], None]]) -> None:
    root, lock = locked_root
    datasets, runs = LocalFileDatasetStore(root), LocalFileEvalStore(root)
    datasets.create("capitals", samples("a"))
    runs.begin(run_key()).close()
    lock()

    with without_rights():
        with pytest.raises(StoreError, match=r"datasets.*make the folder readable and writable"):
            datasets.update("capitals", samples("b"), expected_version=1)
        with pytest.raises(StoreError, match=r"evals.*make the folder readable and writable"):
            runs.reopen("run-1")
        with pytest.raises(StoreError, match=r"evals.*make the folder readable and writable"):
            runs.save(run_key("run-2"), [])

    assert datasets.get("capitals").metadata.version == 1


def test_copies_that_find_no_room_follow_later(tmp_path: Path) -> None:
    store = LocalFileDatasetStore(tmp_path)
    for number in range(10):
        store.create(f"dataset-{number}", [])

    with room_for(1024):
        made = store.update("dataset-0", expected_version=1, metric_refs=["a/b"])

    assert made.version == 2
    assert {one.dataset_id: one.version for one in store.list()}["dataset-0"] == 2


def test_a_journal_that_finds_no_room_says_so_without_being_flushed(tmp_path: Path) -> None:
    journal = LocalFileEvalStore(tmp_path).begin(run_key())

    added = []

    def add_for_ever() -> None:
        while True:
            journal.add(result(f"{len(added)}"))
            added.append(f"{len(added)}")

    with room_for(100), pytest.raises(StoreError, match="make room"):
        add_for_ever()
    run = journal.finish(run_key(), range(len(added)))

    assert [one.test_case_id for one in run.results] == added
