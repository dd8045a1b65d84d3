"""Many processes at one store: nothing is lost, nobody sees half a file, a run has one owner."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from genkit_eval.errors import RunInUse
from genkit_eval.stores import LocalFileEvalStore

HERE = Path(__file__).parent

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the scripts fork")


@contextmanager
def holder(root: Path, run_id: str, verb: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process that holds a run, and the id of that run."""
    command = [sys.executable, str(HERE / "hold_run.py"), str(root), run_id, verb]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline().strip()
        finally:
            if process.stdin is not None:
                process.stdin.close()


@pytest.mark.slow
def test_no_update_of_eight_processes_is_lost(run_script: Callable[..., str], tmp_path: Path) -> None:
    said = run_script("compare_and_set.py", tmp_path, "many", 8, 100)

    assert "conflicts" in said


@pytest.mark.slow
@pytest.mark.case("store-concurrency/two-writers-same-version")
def test_of_two_writers_at_the_same_version_one_wins(run_script: Callable[..., str], tmp_path: Path) -> None:
    run_script("compare_and_set.py", tmp_path, "pairs", 2, 50)


@pytest.mark.slow
@pytest.mark.case("store-concurrency/reader-during-write")
def test_readers_never_see_half_a_file(run_script: Callable[..., str], tmp_path: Path) -> None:
    run_script("readers.py", tmp_path, 8)


def test_a_second_process_that_reopens_a_run_is_refused_and_told_who_has_it(tmp_path: Path) -> None:
    store = LocalFileEvalStore(tmp_path)
    with holder(tmp_path, "run-1", "begin"):
        pass

    with holder(tmp_path, "run-1", "reopen") as (process, _):
        with pytest.raises(RunInUse) as refused:
            store.reopen("run-1")
        assert f"process {process.pid} on {socket.gethostname()}" in str(refused.value)
        with pytest.raises(RunInUse):
            store.delete("run-1")
        assert store.load("run-1").results[0].test_case_id == "a"

    store.reopen("run-1").close()


@pytest.mark.case("store-concurrency/stale-lock")
def test_a_run_whose_owner_was_killed_can_be_gone_on_with(tmp_path: Path) -> None:
    with holder(tmp_path, "run-1", "begin") as (process, _):
        process.send_signal(signal.SIGKILL)
        process.wait()

    journal = LocalFileEvalStore(tmp_path).reopen("run-1")

    assert [slot for slot, _ in journal.entries()] == [0]
    journal.close()


@pytest.mark.case("store-concurrency/same-second-runs")
def test_two_processes_that_begin_a_run_at_the_same_time_have_two(tmp_path: Path) -> None:
    with holder(tmp_path, "new", "begin") as (_, first), holder(tmp_path, "new", "begin") as (_, second):
        listed = LocalFileEvalStore(tmp_path).list()

    assert first != second
    assert {key.eval_run_id for key in listed} == {first, second}
    assert all(key.created_at.tzinfo is not None for key in listed)
    assert len(list((tmp_path / "evals").glob("*.journal.jsonl"))) == 2
