"""Child processes that answer once: what goes in, what comes out, and that nothing of them is left."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio
from anyio.abc import ByteReceiveStream, Process

__all__ = ["Ended", "ended"]

LARGEST_OUTPUT = 64 << 20
KEPT_ERRORS = 8192
GRACE_SECONDS = 2.0
"""For what a process left in its pipes, once it has ended: somebody else may hold them open."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A process that has ended: its exit code, what it printed, and the end of what it wrote to stderr."""

    code: int
    output: bytes
    errors: bytes
    too_much: bool


async def ended(command: Sequence[str], *, folder: Path, given: bytes) -> Ended:
    """Run a process to its end; with whoever waits for it cancelled, it is killed with all that it started.

    Raises:
        OSError: it cannot be started.
    """
    # half started, nobody would end it
    with anyio.CancelScope(shield=True):
        # a group of its own: what it starts ends with it, and Ctrl-C in a terminal is for us alone
        process = await anyio.open_process(command, cwd=folder, start_new_session=True)
    output, errors = _Kept(LARGEST_OUTPUT), _Tail(KEPT_ERRORS)
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_feed, process, given)
            group.start_soon(_collect, process.stdout, output, process)
            group.start_soon(_collect, process.stderr, errors, process)
            await process.wait()
            _kill(process)
            # the readers end with their pipes
            group.cancel_scope.deadline = anyio.current_time() + GRACE_SECONDS
    finally:
        _kill(process)
        with anyio.CancelScope(shield=True):
            await process.aclose()
    return Ended(await process.wait(), bytes(output.data), bytes(errors.data), output.full)


class _Kept:
    """The beginning of a stream."""

    def __init__(self, most: int) -> None:
        self.data, self.full, self._most = bytearray(), False, most

    def add(self, chunk: bytes) -> None:
        self.data += chunk
        self.full = len(self.data) > self._most


class _Tail:
    """The end of a stream."""

    full = False

    def __init__(self, most: int) -> None:
        self.data, self._most = bytearray(), most

    def add(self, chunk: bytes) -> None:
        self.data += chunk
        del self.data[: -self._most]


async def _feed(process: Process, given: bytes) -> None:
    assert process.stdin is not None
    try:
        await process.stdin.send(given)
        await process.stdin.aclose()
    except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
        # it does not read what it is given
        return


async def _collect(stream: ByteReceiveStream, kept: _Kept | _Tail, process: Process) -> None:
    try:
        async for chunk in stream:
            kept.add(chunk)
            if kept.full:
                _kill(process)
                return
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        return


def _kill(process: Process) -> None:
    """End a process and all of its group, which may outlive it."""
    try:
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except (ProcessLookupError, PermissionError):
        return
