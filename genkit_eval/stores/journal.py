"""The journal of a run in progress: what is finished is kept, whatever happens to the process."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from filelock import FileLock
from pydantic import JsonValue

from genkit_eval._files import append_to, sweep, write_all
from genkit_eval._json import dump, load
from genkit_eval.errors import StoreError
from genkit_eval.stored import EvalRunKey, RunState
from genkit_eval.stores.faults import store_fault, store_faults
from genkit_eval.stores.journal_lines import JournalLines
from genkit_eval.stores.recorded_calls import RecordedCalls
from genkit_eval.stores.run_file import write_run
from genkit_eval.stores.stored_run import StoredRun

__all__ = ["Journal"]

_log = logging.getLogger(__name__)

FLUSH_SECONDS: Final = 0.010
SYNC_SECONDS: Final = 0.050


class Journal:
    """One run's journal, open for writing by this process alone. Made by `EvalStore.begin` and `reopen`.

    Every method may be called from any thread. What was flushed survives a kill; it is flushed at the latest 10 ms
    after `add`, and a power cut costs what was added in the last 60 ms.
    """

    def __init__(
        self,
        path: Path,
        key: EvalRunKey,
        lines: JournalLines,
        *,
        lock: FileLock,
        on_close: Callable[[StoredRun | None], None],
    ) -> None:
        self.path, self.key = path, key
        self._lines, self._file_lock, self._on_close = lines, lock, on_close
        self._buffer: list[bytes] = []
        self._written = lines.end
        self._synced = lines.end
        self._failure: StoreError | None = None
        self._fd: int | None = append_to(path)
        # two locks: adding never waits for a write
        self._adding, self._writing = threading.Lock(), threading.Lock()
        self._waiting, self._ended = threading.Event(), threading.Event()
        self._threads = [
            threading.Thread(target=work, name=f"journal of {key.eval_run_id}", daemon=True)
            for work in (self._keep_flushing, self._keep_syncing)
        ]
        for thread in self._threads:
            thread.start()

    def add(self, result: bytes) -> int:
        """Take the JSON of one result, which ends with its metrics; returns its slot. It is only buffered."""
        with self._adding:
            if self._failure is not None:
                raise self._failure
            buffer = self._buffer
            if not buffer:
                self._waiting.set()
            buffer.append(result)
            return self._lines.add(len(result))

    def add_metric(self, slot: int, metric: bytes) -> None:
        """Take one more metric of a result that was added before."""
        prefix = b'{"s":%d,"m":' % slot
        with self._adding:
            self._check_slot(slot)
            self._append(prefix + metric + b"}")
            self._lines.add_late(slot, len(prefix), len(metric))

    def add_call(self, slot: int, key: str, reply: bytes) -> None:
        """Keep a model's reply to one request of a case that is not done, and hand it to the system at once.

        Args:
            slot: of the case; -1 where the request is about no single one.
            key: finds the reply again when the run is resumed.
            reply: JSON.

        Raises:
            StoreError: as `flush`.
        """
        line = b'{"s":%d,"c":"%b","r":%b}' % (slot, key.encode(), reply)
        with self._adding:
            if slot != -1:
                self._check_slot(slot)
            self._append(line, wake=False)
            self._lines.pass_over(len(line) + 1)
        try:
            self.flush()
        except StoreError:
            # tried again a moment later, like what was only added
            self._waiting.set()
            raise

    def calls(self, slots: Collection[int]) -> RecordedCalls:
        """The replies that earlier sessions got for the cases in these slots."""
        return RecordedCalls(self.path, self._lines.calls(slots))

    def discard(self, slot: int) -> None:
        """Leave that result out from now on."""
        line = b'{"d":%d}' % slot
        with self._adding:
            self._check_slot(slot)
            self._append(line)
            self._lines.dropped.add(slot)
            self._lines.end += len(line) + 1

    def note(self, fields: Mapping[str, JsonValue]) -> None:
        """Take what changes in the run's key, by its names on disk; None takes one out."""
        line = b'{"k":%b}' % dump(dict(fields))
        with self._adding:
            self._append(line)
            self._lines.pass_over(len(line) + 1)

    def _append(self, line: bytes, *, wake: bool = True) -> None:
        if self._failure is not None:
            raise self._failure
        if wake and not self._buffer:
            self._waiting.set()
        self._buffer.append(line)

    def _check_slot(self, slot: int) -> None:
        if not 0 <= slot < len(self._lines):
            raise IndexError(f"slot {slot} of a journal with {len(self._lines)} results")

    def flush(self) -> None:
        """Hand everything added so far to the system, in one write: from then on a kill loses nothing of it.

        Raises:
            StoreError: the system refused, the disk is full; nothing is lost of what was flushed before, and the
                rest stays in memory: a later flush tries again.
        """
        lines: list[bytes] = []
        with self._writing:
            try:
                with self._adding:
                    lines, self._buffer = self._buffer, []
                if not lines:
                    return
                data = b"\n".join(lines) + b"\n"
                write_all(self._open_fd(), data, path=self.path)
            except BaseException as problem:
                self._take_back(lines)
                if not isinstance(problem, OSError):
                    raise
                self._failure = store_fault(problem, self.path)
                raise self._failure from problem
            self._written += len(data)
            self._failure = None

    def _take_back(self, lines: list[bytes]) -> None:
        with self._adding:
            self._buffer[:0] = lines
        if self._fd is not None:
            # a half written line must not stay: the next one would be glued to it
            os.ftruncate(self._fd, self._written)

    def _keep_flushing(self) -> None:
        while not self._ended.is_set():
            self._waiting.wait()
            self._waiting.clear()
            self._ended.wait(FLUSH_SECONDS)
            try:
                self.flush()
            except (StoreError, ValueError):
                # kept: the next add or flush of the run raises it
                continue

    def _keep_syncing(self) -> None:
        while not self._ended.wait(SYNC_SECONDS):
            written = self._written
            if written != self._synced:
                try:
                    os.fsync(self._open_fd())
                except (OSError, ValueError) as problem:
                    _log.warning("%s could not be synced: %s", self.path, problem)
                self._synced = written

    def entries(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Every whole result with its slot, late metrics included, as parsed JSON, read as a stream."""
        self.flush()
        slots = self._lines.kept()
        with self.path.open("rb") as file:
            for slot, result in zip(slots, self._lines.results(file, slots), strict=True):
                try:
                    yield slot, load(result)
                except ValueError as problem:
                    _log.warning("%s: result %d is left out, it is not JSON: %s", self.path, slot, problem)

    def finish(self, key: EvalRunKey, order: Sequence[int]) -> StoredRun:
        """Write the run file with the results of those slots in that order, list it, remove the journal.

        The run file is there whole, or the journal is still there: also when the process is killed meanwhile.
        """
        if key.eval_run_id != self.key.eval_run_id:
            raise ValueError(f"the journal of run '{self.key.eval_run_id}' cannot finish run '{key.eval_run_id}'")
        # stated even where it is the default: by its revision a row of ours is known
        key = key.model_copy(update={"state": RunState.COMPLETE, "revision": key.revision})
        self.flush()
        slots = order if not self._lines.dropped else [slot for slot in order if slot not in self._lines.dropped]
        target = self.path.with_name(f"{key.eval_run_id}.json")
        with store_faults(target):
            sweep(target.parent, target.name)
            with self.path.open("rb") as file:
                write_run(target, key, self._lines.joined(file, slots))
            run = StoredRun.open(target)
            self._end(run)
        return run

    def close(self) -> None:
        """Leave the run unfinished: everything added is on disk, and another process may go on with it."""
        if self._fd is None:
            return
        try:
            self.flush()
            with store_faults(self.path):
                os.fsync(self._open_fd())
        finally:
            self._end(None)

    def _end(self, run: StoredRun | None) -> None:
        self._ended.set()
        self._waiting.set()
        for thread in self._threads:
            thread.join()
        with self._writing, self._adding:
            fd, self._fd = self._fd, None
            self._failure = StoreError(f"{self.path} is closed: reopen the run to go on with it")
        if fd is not None:
            os.close(fd)
        try:
            self._on_close(run)
        finally:
            self._file_lock.release()

    def _open_fd(self) -> int:
        if self._fd is None:
            raise ValueError(f"{self.path} is closed already")
        return self._fd
