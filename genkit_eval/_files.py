"""The only place that opens store files: atomic replacement, exclusive creation, locks.

What `Draft` guarantees: the file at its place is the old one or the new one, whole, at any moment and for any
reader, whatever happens to the writing process. What it costs: the new file lies beside the old one until it is
renamed, so there must be room for both. With `durable` it also survives a power cut, for the price of an fsync.
On Windows a file that someone has open cannot be replaced: that is tried again for about a second.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from filelock import FileLock, Timeout

__all__ = [
    "Checksum",
    "Draft",
    "append_to",
    "file_checksum",
    "locked",
    "names_in",
    "replace",
    "sweep",
    "sync_folder",
    "try_lock",
    "write_all",
]

RETRY_PAUSES_SECONDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4)
_TEMPORARY = ".tmp"
_BINARY = getattr(os, "O_BINARY", 0)
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV})


def write_all(fd: int, data: bytes | memoryview, *, path: Path) -> None:
    """Write every byte; the error of a full disk names the path, which a descriptor alone does not."""
    rest = memoryview(data)
    try:
        while rest:
            rest = rest[os.write(fd, rest) :]
    except OSError as problem:
        problem.filename = str(path)
        raise


class Draft:
    """A file in the making, beside its place and seen by nobody; gone at the end of `with` unless it was published."""

    def __init__(self, path: Path) -> None:
        self.path = path
        # a leading dot and our own ending: no listing takes it for a dataset or a run
        self._temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}{_TEMPORARY}")
        self._fd: int | None = os.open(
            self._temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | _BINARY, 0o666
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._close()
        with suppress(FileNotFoundError):
            self._temporary.unlink()

    def write(self, data: bytes | memoryview) -> None:
        """Append to the draft."""
        write_all(self._open_fd(), data, path=self.path)

    def overwrite(self, offset: int, data: bytes) -> None:
        """Fill in a place that was written before its content was known."""
        fd = self._open_fd()
        os.lseek(fd, offset, os.SEEK_SET)
        write_all(fd, data, path=self.path)
        os.lseek(fd, 0, os.SEEK_END)

    def replace(self, *, durable: bool = True, rename: Callable[[Path, Path], object] = os.replace) -> None:
        """Put the draft in its place, over whatever is there, in one step."""
        with suppress(OSError):
            # whoever closed a file to others wants it to stay so
            self._temporary.chmod(self.path.stat().st_mode & 0o777)
        self._finish(durable=durable)
        _retrying(lambda: rename(self._temporary, self.path))
        if durable:
            sync_folder(self.path.parent)

    def create(self) -> None:
        """Put the draft in its place if nothing is there, in one step, durably.

        Raises:
            FileExistsError: something is there; it is untouched.
        """
        self._finish(durable=True)
        try:
            # a link fails if the target exists: that is our compare-and-swap
            os.link(self._temporary, self.path)
        except OSError as problem:
            if problem.errno not in _NO_LINKS:
                raise
            # a file system without links: all writers hold the folder's lock, so looking first is enough
            if self.path.exists():
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(self.path)) from problem
            _retrying(lambda: self._temporary.replace(self.path))
        sync_folder(self.path.parent)

    def _finish(self, *, durable: bool) -> None:
        if durable:
            os.fsync(self._open_fd())
        self._close()

    def _open_fd(self) -> int:
        if self._fd is None:
            raise ValueError(f"the draft of {self.path} is published or closed already")
        return self._fd

    def _close(self) -> None:
        fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)


def replace(
    path: Path,
    parts: Iterable[bytes | memoryview],
    *,
    durable: bool = True,
    rename: Callable[[Path, Path], object] = os.replace,
) -> None:
    """Write a file whole, atomically, over whatever file is there.

    A link is followed. What is no file, such as a device or a pipe, is written into, and stays what it is.
    """
    if path.is_symlink() or path.exists():
        mode = path.stat().st_mode if path.exists() else stat.S_IFREG
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            _write_into(path, parts)
            return
        path = path.resolve()
    with Draft(path) as draft:
        for part in parts:
            draft.write(part)
        draft.replace(durable=durable, rename=rename)


def _write_into(path: Path, parts: Iterable[bytes | memoryview]) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC | _BINARY)
    try:
        for part in parts:
            write_all(fd, part, path=path)
    finally:
        os.close(fd)


def _retrying(rename: Callable[[], object]) -> None:
    for pause in RETRY_PAUSES_SECONDS:
        try:
            rename()
            return
        except PermissionError:
            # Windows, while a reader has the file open without sharing its deletion
            time.sleep(pause)
    rename()


def append_to(path: Path) -> int:
    """A descriptor that appends to an existing file."""
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | _BINARY)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder survive a power cut, where the system can."""
    if os.name == "nt":
        return
    fd = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    except OSError as problem:
        # some network file systems cannot sync a folder
        if problem.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):
            raise
    finally:
        os.close(fd)


def names_in(folder: Path) -> list[str]:
    """The names in a folder; none when it is not there."""
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries]
    except (FileNotFoundError, NotADirectoryError):
        return []


def sweep(folder: Path, prefix: str = "") -> None:
    """Remove the drafts that dead processes left; the caller holds the lock under which they are made."""
    for name in names_in(folder):
        if name.startswith(f".{prefix}") and name.endswith(_TEMPORARY):
            with suppress(OSError):
                (folder / name).unlink()


class Checksum:
    """Length and CRC-32 of what it is fed: tells whether somebody edited a file, at half the price of SHA-256."""

    def __init__(self) -> None:
        self._length = self._crc = 0

    def update(self, data: bytes | memoryview) -> None:
        """Feed it more."""
        self._length += len(data)
        self._crc = zlib.crc32(data, self._crc)

    def text(self) -> str:
        """The checksum, always 24 characters."""
        return f"{self._length:015d}-{self._crc:08x}"


def file_checksum(path: Path) -> str:
    """The checksum of a file. It is read in pieces, not mapped: another tool may cut the file meanwhile."""
    checksum, buffer = Checksum(), bytearray(1 << 20)
    view = memoryview(buffer)
    with path.open("rb", buffering=0) as file:
        while size := file.readinto(view):
            checksum.update(view[:size])
    return checksum.text()


@contextmanager
def locked(path: Path, *, timeout_seconds: float = 60.0) -> Iterator[None]:
    """Hold a lock between processes. The system frees it when its holder dies, so a leftover file does no harm.

    Raises:
        TimeoutError: somebody held it all the time; names the file.
    """
    lock = FileLock(path, timeout=timeout_seconds, poll_interval=0.002, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        message = f"another process has held this lock for {timeout_seconds:g} seconds"
        raise TimeoutError(errno.ETIMEDOUT, message, str(path)) from None
    try:
        yield
    finally:
        lock.release()


def try_lock(path: Path) -> FileLock | None:
    """The lock, held until its `release`; None when somebody has it."""
    lock = FileLock(path, timeout=0, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        return None
    return lock
