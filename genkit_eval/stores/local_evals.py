"""Runs as files: `evals/<run>.json` when finished, `evals/<run>.journal.jsonl` before that, `evals/index.json`."""

from __future__ import annotations

import builtins
import logging
import os
import socket
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock

from genkit_eval._data import collector_paused, iso_time
from genkit_eval._files import Draft, locked, names_in, replace, sweep, try_lock
from genkit_eval._json import dump, load
from genkit_eval.errors import AlreadyExists, CorruptFile, NotFound, RunConflict, RunInUse
from genkit_eval.stored import EvalResult, EvalRunKey, RunState
from genkit_eval.stores.faults import store_faults
from genkit_eval.stores.ids import check_id
from genkit_eval.stores.journal import Journal
from genkit_eval.stores.journal_lines import JournalLines, read_header
from genkit_eval.stores.records import foreign_record, key_from_json, result_bytes
from genkit_eval.stores.run_file import check_whole, read_key, write_run
from genkit_eval.stores.run_index import RunIndex, run_files
from genkit_eval.stores.stored_run import StoredRun, parse_key

__all__ = ["LocalFileEvalStore"]

_log = logging.getLogger(__name__)
_JOURNAL = ".journal.jsonl"


class LocalFileEvalStore:
    """Keeps runs below `root` (the `.genkit` folder), in the files that Genkit's own tools read.

    Reading makes no folder; the first run does. A run file that cannot be read costs only itself: see `unreadable`.
    """

    def __init__(self, root: Path) -> None:
        self._folder = Path(root) / "evals"
        self._locks = self._folder / ".locks"
        self._index = RunIndex(self._folder)
        self._keys: dict[str, tuple[Mapping[str, Any], EvalRunKey]] = {}

    def save(
        self, key: EvalRunKey, results: Iterable[EvalResult], *, expected_revision: int | None = None
    ) -> EvalRunKey:
        """Store a whole run; with `expected_revision` in place of that revision. Returns the key as stored.

        Raises:
            AlreadyExists: there is such a run, and no `expected_revision`.
            RunConflict: the run is at another revision.
        """
        run_id = check_id("run", key.eval_run_id)
        with self._changing():
            if expected_revision is None:
                self._refuse_existing(run_id)
                revision = 1
            else:
                revision = self._check_revision(run_id, expected_revision) + 1
            stored = key.model_copy(update={"revision": revision})
            write_run(self._run(run_id), stored, map(result_bytes, results))
            self._list_run(stored)
        return stored

    def load(self, run: EvalRunKey | str) -> StoredRun:
        """A run by its key or id; of an unfinished one what is there so far.

        Raises:
            NotFound: there is no such run.
            CorruptFile: its file is not readable.
        """
        run_id = _id_of(run)
        with store_faults(self._run(run_id)):
            # twice, because it may be finished between the two looks
            for _ in range(2):
                with suppress(FileNotFoundError):
                    return StoredRun.open(self._run(run_id))
                with suppress(FileNotFoundError):
                    return StoredRun.open_journal(self._journal(run_id))
        raise self._missing(run_id)

    def list(
        self,
        *,
        action_ref: str | None = None,
        dataset_id: str | None = None,
        limit: int | None = None,
        incomplete: bool = True,
    ) -> builtins.list[EvalRunKey]:
        """Keys, newest first; runs in progress or interrupted have the state INCOMPLETE."""
        keys = [*self._finished(), *(self._unfinished() if incomplete else ())]
        if action_ref is not None:
            keys = [key for key in keys if key.action_ref == action_ref]
        if dataset_id is not None:
            keys = [key for key in keys if key.dataset_id == dataset_id]
        keys.sort(key=lambda key: key.created_at, reverse=True)
        return keys[:limit]

    def unreadable(self) -> dict[str, CorruptFile]:
        """The runs whose file is cut off or no run file, or whose journal has no header, with what is wrong."""
        problems: dict[str, CorruptFile] = {}
        finished = run_files(self._folder)
        for run_id in sorted(finished | self._journals()):
            try:
                if run_id in finished:
                    check_whole(self._run(run_id))
                    read_key(self._run(run_id))
                else:
                    parse_key(self._journal(run_id), read_header(self._journal(run_id)))
            except CorruptFile as problem:
                problems[run_id] = problem
            except FileNotFoundError:
                continue
        return problems

    def delete(self, run: EvalRunKey | str, *, expected_revision: int | None = None) -> None:
        """Remove a run, or the journal of an interrupted one.

        Raises:
            NotFound: there is no such run.
            RunConflict: the run is at another revision.
            RunInUse: the run is in progress.
        """
        run_id = _id_of(run)
        if not self._run(run_id).exists() and not self._journal(run_id).exists():
            raise self._missing(run_id)
        with self._changing():
            if expected_revision is not None:
                self._check_revision(run_id, expected_revision)
            with self._taking(run_id) as lock:
                # the row goes first: a row without its file would be a run that cannot be opened
                self._index.remove(run_id)
                for path in (self._run(run_id), self._journal(run_id), self._lock_file(run_id)):
                    path.unlink(missing_ok=True)
                lock.release()

    def begin(self, key: EvalRunKey) -> Journal:
        """Start a run: its journal is on disk, and its lock held, when this returns.

        Raises:
            AlreadyExists: there is such a run.
        """
        run_id = check_id("run", key.eval_run_id)
        path = self._journal(run_id)
        with store_faults(path), self._taking(run_id) as lock:
            self._refuse_existing(run_id)
            header = dump({"key": key.to_json(), "format": 1}) + b"\n"
            with Draft(path) as draft:
                draft.write(header)
                draft.create()
            return self._open_journal(key, JournalLines(len(header)), lock)

    def reopen(self, run_id: str) -> Journal:
        """Go on with an interrupted run: what follows its last whole line is cut off.

        Raises:
            NotFound: there is no such run, or it is finished.
            RunInUse: another process has it.
        """
        path = self._journal(check_id("run", run_id))
        if not path.exists():
            raise self._missing_journal(run_id)
        with store_faults(path), self._taking(run_id) as lock:
            if self._run(run_id).exists():
                # killed between the last two steps of finishing
                path.unlink(missing_ok=True)
            if not path.exists():
                raise self._missing_journal(run_id)
            lines = JournalLines.scan(path)
            key = parse_key(path, read_header(path) | lines.notes)
            os.truncate(path, lines.end)
            return self._open_journal(key, lines, lock)

    def _open_journal(self, key: EvalRunKey, lines: JournalLines, lock: FileLock) -> Journal:
        run_id = key.eval_run_id
        holder = {"pid": os.getpid(), "host": socket.gethostname(), "since": iso_time(datetime.now(UTC))}
        replace(self._holder_file(run_id), [dump(holder)], durable=False)

        def ended(run: StoredRun | None) -> None:
            if run is not None:
                with store_faults(self._folder), locked(self._store_lock):
                    self._list_run(run.key)
                self._journal(run_id).unlink(missing_ok=True)
                self._lock_file(run_id).unlink(missing_ok=True)
            self._holder_file(run_id).unlink(missing_ok=True)

        return Journal(self._journal(run_id), key, lines, lock=lock, on_close=ended)

    def _finished(self) -> builtins.list[EvalRunKey]:
        files = run_files(self._folder)
        rows = self._index.rows()
        if rows is None or not files <= rows.keys():
            rows = self._repaired(files, rows or {})
        with collector_paused():
            keys = [self._key_of(run_id, row) for run_id, row in rows.items() if run_id in files]
        return [key for key in keys if key is not None]

    def _repaired(self, files: set[str], rows: Mapping[str, Any]) -> Mapping[str, Any]:
        if not files:
            return {}
        try:
            with locked(self._store_lock):
                rows = self._index.rebuilt(self._index.rows() or {})
                self._index.write(rows)
        except OSError as problem:
            # reading works in a folder that cannot be written
            _log.warning("%s: the index of runs is not repaired: %s", self._folder, problem)
            return self._index.rebuilt(rows)
        return rows

    def _key_of(self, run_id: str, row: Any) -> EvalRunKey | None:
        known = self._keys.get(run_id)
        if known is not None and known[0] is row:
            return known[1]
        try:
            key = key_from_json(row) if "revision" in row else foreign_record(EvalRunKey, row)
        except (ValueError, TypeError, AttributeError) as problem:
            _log.warning("the row of run '%s' in %s is left out: %s", run_id, self._folder / "index.json", problem)
            return None
        self._keys[run_id] = row, key
        return key

    def _unfinished(self) -> Iterator[EvalRunKey]:
        for run_id in sorted(self._journals() - run_files(self._folder)):
            path = self._journal(run_id)
            try:
                key = parse_key(path, read_header(path))
            except CorruptFile as problem:
                _log.warning("%s", problem)
            except FileNotFoundError:
                # finished meanwhile
                continue
            else:
                yield key.model_copy(update={"state": RunState.INCOMPLETE})

    def _journals(self) -> set[str]:
        names = {name for name in names_in(self._folder) if name.endswith(_JOURNAL)}
        return {name.removesuffix(_JOURNAL) for name in names if not name.startswith(".")}

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Within, this process alone changes finished runs and the index."""
        with store_faults(self._folder):
            self._locks.mkdir(parents=True, exist_ok=True)
            with locked(self._store_lock):
                sweep(self._folder, "index.json")
                yield

    @contextmanager
    def _taking(self, run_id: str) -> Iterator[FileLock]:
        """Take a run's lock, and keep it unless this fails."""
        self._locks.mkdir(parents=True, exist_ok=True)
        lock = try_lock(self._lock_file(run_id))
        if lock is None:
            raise RunInUse(run_id, holder=self._holder(run_id))
        try:
            yield lock
        except BaseException:
            lock.release()
            raise

    def _holder(self, run_id: str) -> str:
        try:
            holder = load(self._holder_file(run_id).read_bytes())
            return f"process {holder['pid']} on {holder['host']} since {holder['since']}"
        except (OSError, ValueError, KeyError, TypeError):
            # it was just taken, or just freed
            return "another process"

    def _list_run(self, key: EvalRunKey) -> None:
        try:
            self._index.put(key)
        except OSError as problem:
            # the run itself is stored; listing finds it and repairs the index
            _log.warning("%s: run '%s' is not in the index yet: %s", self._folder, key.eval_run_id, problem)

    def _refuse_existing(self, run_id: str) -> None:
        for existing in run_files(self._folder) | self._journals():
            if existing.lower() == run_id.lower():
                raise AlreadyExists("run", existing, found=f"in {self._folder}")

    def _check_revision(self, run_id: str, expected: int) -> int:
        path = self._run(run_id)
        if not path.exists():
            raise self._missing(run_id)
        found = read_key(path).get("revision", 1)
        if found != expected:
            raise RunConflict(run_id, expected=expected, found=found)
        return expected

    def _missing(self, run_id: str) -> NotFound:
        return NotFound("run", run_id, known=run_files(self._folder) | self._journals(), where=str(self._folder))

    def _missing_journal(self, run_id: str) -> NotFound:
        if self._run(run_id).exists():
            return NotFound("journal of run", run_id, where=f"{self._folder}: the run is finished")
        return NotFound("journal of run", run_id, known=self._journals(), where=str(self._folder))

    @property
    def _store_lock(self) -> Path:
        # no run id starts with a dot
        return self._locks / ".index.lock"

    def _run(self, run_id: str) -> Path:
        return self._folder / f"{run_id}.json"

    def _journal(self, run_id: str) -> Path:
        return self._folder / f"{run_id}{_JOURNAL}"

    def _lock_file(self, run_id: str) -> Path:
        return self._locks / f"{run_id}.lock"

    def _holder_file(self, run_id: str) -> Path:
        return self._locks / f"{run_id}.holder"


def _id_of(run: EvalRunKey | str) -> str:
    return check_id("run", run.eval_run_id if isinstance(run, EvalRunKey) else run)
