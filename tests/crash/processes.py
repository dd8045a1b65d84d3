"""Child processes of the crash scripts: forked from one that has imported everything, so that each starts at once."""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from itertools import islice

__all__ = ["Child", "start"]


class Child:
    """A forked process, and the lines it said so far through a pipe that a kill does not tear."""

    def __init__(self, pid: int, pipe: int) -> None:
        self.pid, self._pipe = pid, os.fdopen(pipe)

    def kill_after(self, lines: int, seconds: float) -> list[str]:
        """Let it say so many lines and work on for so long, kill it, and give all that it said."""
        said = [line.rstrip() for line in islice(self._pipe, lines)]
        time.sleep(seconds)
        os.kill(self.pid, signal.SIGKILL)
        return said + self.end()

    def end(self, *, must_succeed: bool = False) -> list[str]:
        """Wait for its end, and give what it said since it was last listened to."""
        with self._pipe as pipe:
            lines = pipe.read().splitlines()
        _, status = os.waitpid(self.pid, 0)
        assert not must_succeed or status == 0, f"a child ended with status {status}"
        return lines


def start(work: Callable[[Callable[[object], object]], None]) -> Child:
    """Run `work(say)` in a process of its own."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writer)
        return Child(pid, reader)
    code = 1
    try:
        work(lambda line: os.write(writer, f"{line}\n".encode()))
        code = 0
    finally:
        if code:
            traceback.print_exc(file=sys.stderr)
        # without the clean-up of the process it was forked from
        os._exit(code)
