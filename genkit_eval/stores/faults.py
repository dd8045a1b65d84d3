"""What the file system refuses, told as an error of ours that names the path and what to do."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from genkit_eval.errors import StoreError

__all__ = ["store_fault", "store_faults"]

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def store_fault(problem: OSError, path: Path) -> StoreError:
    """The error to raise for a failed operation on a store's file."""
    if isinstance(problem, TimeoutError):
        advice = "wait for it to end, or stop it, then retry"
    elif problem.errno in _NO_ROOM:
        advice = "make room, then retry; what was stored before is unchanged"
    else:
        advice = "make the folder readable and writable, or choose another one with --root or GENKIT_EVAL_HOME"
    return StoreError(f"{problem.filename or path}: {problem.strerror or problem}; {advice}")


@contextmanager
def store_faults(path: Path) -> Iterator[None]:
    """Turn what the system refuses within into StoreError."""
    try:
        yield
    except OSError as problem:
        raise store_fault(problem, path) from problem
