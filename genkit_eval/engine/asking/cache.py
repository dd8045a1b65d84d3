"""Replies that models and embedders have given, kept between runs in one SQLite file that processes share.

What is kept is a reply's JSON by the key of its request. Reading is one look-up on the caller's thread (6 µs, where
a thread of its own would cost more); writing is grouped, on a thread. The file never costs a run: what cannot be read
is asked for again, what cannot be written is not kept, a damaged file is begun anew, each with one warning.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TypeVar

from genkit_eval._files import locked
from genkit_eval.errors import StoreError
from genkit_eval.off_loop import off_loop

__all__ = ["CacheInfo", "CallCache", "KeptModel", "cache_path"]

_log = logging.getLogger(__name__)

VARIABLE: Final = "GENKIT_EVAL_CACHE"
MOST_BYTES: Final = 1 << 30
"""How large the file may become; then what was not used for longest goes."""
SHARE_KEPT: Final = 0.8
GROUP_SECONDS: Final = 0.2
DAY_SECONDS: Final = 86_400
BUSY_SECONDS: Final = 10.0
_READING_AGAIN: Final = (0.01, 0.05, 0.2, 0.7, 0)

# the number in the file's name goes up with the form of the table
_FILE = "calls-1.sqlite3"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS calls (
    key TEXT PRIMARY KEY, reply BLOB NOT NULL, model TEXT NOT NULL, used_at INTEGER NOT NULL
)
"""
_PAGES = ("page_count", "freelist_count", "page_size")
_PRUNE = """
DELETE FROM calls WHERE rowid IN (
    SELECT rowid FROM (SELECT rowid, SUM(LENGTH(reply)) OVER (ORDER BY used_at, rowid) AS freed FROM calls)
    WHERE freed <= ?
)
"""

# of a file that is none of SQLite's, or no longer whole
_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_NO_ROOM = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR})

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class KeptModel:
    """How much is kept of one model."""

    model: str
    replies: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """What a cache holds; `size_bytes` is what its files take on disk."""

    path: Path
    size_bytes: int
    last_used: datetime | None
    models: Sequence[KeptModel]
    most_bytes: int = MOST_BYTES

    @property
    def replies(self) -> int:
        """How many replies there are."""
        return sum(kept.replies for kept in self.models)


def cache_path() -> Path:
    """Where the cache lies: in the folder that GENKIT_EVAL_CACHE names, else in the user's folder of caches."""
    folder = os.environ.get(VARIABLE)
    if folder:
        try:
            return Path(folder).expanduser() / _FILE
        except RuntimeError:
            # of somebody who has no home: it is the folder's own name
            return Path(folder) / _FILE
    # 5 ms at import, which only those need who ask a model
    from platformdirs import user_cache_path

    return user_cache_path("genkit-eval", appauthor=False) / _FILE


class CallCache:
    """The cache in a file, which is made if it is not there. Its methods may be called from any thread."""

    def __init__(self, path: Path, *, most_bytes: int = MOST_BYTES) -> None:
        self.path, self._most_bytes = path, most_bytes
        self._reader: sqlite3.Connection | None = None
        self._writer: sqlite3.Connection | None = None
        self._inode = 0
        # a reader never waits for a write, which may wait for another process
        self._reading, self._writing = threading.Lock(), threading.Lock()
        self._pending: dict[str, tuple[bytes, str]] = {}
        self._used: set[str] = set()
        self._told = False
        self._news, self._ended = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None
        self._connect()

    async def get(self, key: str) -> bytes | None:
        """The reply that is kept under this key, or None."""
        pending = self._pending.get(key)
        if pending is not None:
            return pending[0]
        try:
            return self._found(key)
        except sqlite3.Error:
            return await off_loop(lambda: self._found_patiently(key))

    def put(self, key: str, reply: bytes, *, model: str) -> None:
        """Keep a reply; it is on disk a moment later, and found at once."""
        if self._writer is None:
            return
        self._pending[key] = reply, model
        if not self._news.is_set():
            self._news.set()
        if self._thread is None:
            self._thread = threading.Thread(target=self._keep_writing, name="genkit-eval-cache", daemon=True)
            self._thread.start()

    def info(self) -> CacheInfo:
        """What is kept.

        Raises:
            StoreError: it cannot be read.
        """

        def counted(db: sqlite3.Connection) -> list[tuple[str, int, int, int]]:
            return db.execute(
                "SELECT model, COUNT(*), SUM(LENGTH(reply)), MAX(used_at) FROM calls GROUP BY model ORDER BY 2 DESC, 1"
            ).fetchall()

        rows = self._on_writer(counted)
        if rows is None:
            raise StoreError(f"what is kept in {self.path} cannot be told: it cannot be read")
        used = max((row[3] for row in rows), default=None)
        return CacheInfo(
            path=self.path,
            size_bytes=sum(_size(path) for path in _files(self.path)),
            most_bytes=self._most_bytes,
            last_used=None if used is None else datetime.fromtimestamp(used, UTC),
            models=[KeptModel(model, replies, size) for model, replies, size, _ in rows],
        )

    def clear(self) -> int:
        """Forget everything; how many replies that were. Other processes may go on using the cache meanwhile.

        Raises:
            StoreError: nothing was forgotten, as it cannot be written.
        """

        def cleared(db: sqlite3.Connection) -> tuple[int, sqlite3.Error | None]:
            count: int = db.execute("SELECT COUNT(*) FROM calls").fetchone()[0]
            try:
                db.execute("DELETE FROM calls")
            except sqlite3.Error as problem:
                if _code(problem) not in _NO_ROOM:
                    raise
                return count, problem
            # give the room back to the disk, as far as nobody is reading
            with suppress(sqlite3.OperationalError):
                db.execute("VACUUM")
                db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return count, None

        done = self._on_writer(cleared)
        if done is None:
            raise StoreError(f"nothing in {self.path} was forgotten: it cannot be written")
        count, no_room = done
        if no_room is not None:
            # to forget takes room, which to remove a file does not
            self._begin_anew(f"has no room to forget in ({no_room})")
        return count

    def close(self) -> None:
        """Write what is waiting, and let go of the file."""
        self._ended.set()
        self._news.set()
        if self._thread is not None:
            self._thread.join()
        self._write()
        with self._reading, self._writing:
            self._disconnect()

    # --- reading --------------------------------------------------------------------------------------------------

    def _found(self, key: str) -> bytes | None:
        with self._reading:
            if self._reader is None:
                return None
            row = self._reader.execute("SELECT reply, used_at FROM calls WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        reply: bytes = row[0]
        if time.time() - row[1] > DAY_SECONDS:
            self._used.add(key)
        return reply

    def _found_patiently(self, key: str) -> bytes | None:
        """Try again, beside the loop: another process may be recovering the file, or the file is damaged."""
        for pause in _READING_AGAIN:
            try:
                return self._found(key)
            except sqlite3.Error as problem:
                if _is_damage(problem):
                    self._begin_anew(f"is damaged ({problem})")
                elif pause:
                    time.sleep(pause)
                else:
                    self._tell("cannot be read", problem)
        return None

    # --- writing --------------------------------------------------------------------------------------------------

    def _keep_writing(self) -> None:
        while not self._ended.is_set():
            self._news.wait()
            self._news.clear()
            self._ended.wait(GROUP_SECONDS)
            self._write()

    def _write(self) -> None:
        group = dict(self._pending)
        used, self._used = self._used, set()
        now = int(time.time())

        def written(db: sqlite3.Connection) -> None:
            db.execute("BEGIN IMMEDIATE")
            try:
                if used:
                    db.executemany("UPDATE calls SET used_at = ? WHERE key = ?", [(now, key) for key in used])
                db.executemany(
                    "INSERT OR REPLACE INTO calls VALUES (?, ?, ?, ?)",
                    [(key, reply, model, now) for key, (reply, model) in group.items()],
                )
            except BaseException:
                # a full disk has ended it already
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise
            db.execute("COMMIT")
            self._prune(db)

        if group or used:
            self._on_writer(written)
        for key, item in group.items():
            # one that was put again meanwhile waits for the next group
            if self._pending.get(key) is item:
                del self._pending[key]

    def _prune(self, db: sqlite3.Connection) -> None:
        """Let go of what was not used for longest, when the file has become too large."""
        pages, free, size = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in _PAGES)
        taken = (pages - free) * size
        if taken > self._most_bytes:
            db.execute(_PRUNE, (taken - SHARE_KEPT * self._most_bytes,))

    def _on_writer(self, work: Callable[[sqlite3.Connection], _T]) -> _T | None:
        for _ in range(2):
            try:
                with self._writing:
                    return None if self._writer is None else work(self._writer)
            except sqlite3.Error as problem:
                if not _is_damage(problem):
                    self._tell("cannot be written", problem)
                    return None
                self._begin_anew(f"is damaged ({problem})")
        return None

    # --- the file -------------------------------------------------------------------------------------------------

    def _connect(self) -> None:
        """Open the file, or another one in place of a damaged one; else do without."""
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # two at once cannot make a file, nor take one away under each other
            with locked(self.path.with_suffix(".lock"), timeout_seconds=BUSY_SECONDS):
                try:
                    self._open()
                except sqlite3.Error as problem:
                    self._disconnect()
                    # another table than ours: whose it is does not matter, as the name is ours
                    if not _is_damage(problem) and _code(problem) != sqlite3.SQLITE_ERROR:
                        raise
                    _log.warning("%s: the cache is damaged (%s) and is begun anew", self.path, problem)
                    self._remove()
                    self._open()
        except (OSError, sqlite3.Error) as problem:
            self._disconnect()
            self._tell("cannot be opened", problem)

    def _open(self) -> None:
        # what models said about private data is for nobody else
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        self._inode = self.path.stat().st_ino
        self._writer = _connection(self.path, BUSY_SECONDS)
        self._writer.execute("PRAGMA journal_mode = WAL")
        self._writer.execute(_SCHEMA)
        self._reader = _connection(self.path, 0)
        self._reader.execute("SELECT key, reply, model, used_at FROM calls LIMIT 1").fetchone()

    def _begin_anew(self, why: str) -> None:
        """Put another file in place of one of no use, unless another process or thread has done that already."""
        with self._reading, self._writing:
            if self._writer is None:
                return
            self._disconnect()
            with suppress(OSError), locked(self.path.with_suffix(".lock"), timeout_seconds=BUSY_SECONDS):
                if self.path.stat().st_ino == self._inode:
                    _log.warning("%s: the cache %s and is begun anew", self.path, why)
                    self._remove()
            self._connect()

    def _remove(self) -> None:
        for path in _files(self.path):
            path.unlink(missing_ok=True)

    def _disconnect(self) -> None:
        for connection in (self._reader, self._writer):
            if connection is not None:
                with suppress(sqlite3.Error):
                    connection.close()
        self._reader = self._writer = None

    def _tell(self, what: str, problem: Exception) -> None:
        """Once: the run goes on without."""
        if not self._told:
            self._told = True
            also = "" if self._reader is not None else "not found and "
            _log.warning("%s: the cache %s (%s): replies are %snot kept for other runs", self.path, what, problem, also)


def _connection(path: Path, busy_seconds: float) -> sqlite3.Connection:
    # whoever uses it holds a lock; without a level of isolation, statements are what they seem
    connection = sqlite3.connect(path, timeout=busy_seconds, isolation_level=None, check_same_thread=False)
    # a power cut may cost the last replies, but never the file
    connection.execute("PRAGMA synchronous = NORMAL")
    return connection


def _is_damage(problem: sqlite3.Error) -> bool:
    return _code(problem) in _DAMAGE


def _code(problem: sqlite3.Error) -> int:
    # not of errors that Python finds before SQLite does; the upper bits say more of the same
    return getattr(problem, "sqlite_errorcode", 0) & 0xFF


def _files(path: Path) -> list[Path]:
    return [path.with_name(path.name + ending) for ending in ("", "-wal", "-shm")]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
