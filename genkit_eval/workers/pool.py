"""Worker processes that run what a thread could not be stopped from running.

At most four, shared by everything in this process, started when first needed. A call that passes its deadline is
ended by killing its worker; the next call gets a fresh one. Waiting for a free worker, and its start, are not counted.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import subprocess
import sys
import threading
from pathlib import Path
from time import monotonic
from typing import Any

from pydantic import JsonValue

from genkit_eval._json import dump, load
from genkit_eval.errors import GenkitEvalError

__all__ = ["POOL", "WorkerPool"]

START_SECONDS = 60.0
CHUNK = 1 << 16


class WorkerPool:
    """Up to `size` worker processes that each run one call at a time."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._fresh()

    def _fresh(self) -> None:
        self._slots = threading.BoundedSemaphore(self.size)
        self._idle: list[_Worker] = []
        self._all: set[_Worker] = set()
        self._closed = False

    def call(self, operation: str, *arguments: JsonValue, seconds: float) -> dict[str, Any]:
        """The worker's reply.

        Raises:
            TimeoutError: no reply within `seconds`; the worker was killed.
            GenkitEvalError: the worker died (its memory ran out, say), or cannot be started.
        """
        request = dump([operation, seconds, *arguments])
        with self._slots:
            worker = self._take()
            reusable = False
            try:
                reply = worker.call(request, monotonic() + seconds)
                reusable = not reply.pop("retire", False)
                return reply
            finally:
                # also on Ctrl-C in the middle of a call, when a reply would be left in the pipe
                if reusable:
                    self._idle.append(worker)
                else:
                    self._all.discard(worker)
                    worker.stop()

    def pids(self) -> list[int]:
        """The process ids of the workers that run now."""
        return [worker.pid for worker in list(self._all)]

    def close(self) -> None:
        """Stop every worker, busy or not; later calls are refused."""
        self._closed = True
        while (worker := self._idle_one()) is not None:
            self._all.discard(worker)
            worker.stop()
        for worker in list(self._all):
            worker.kill()

    def _take(self) -> _Worker:
        while (worker := self._idle_one()) is not None:
            if worker.alive:
                return worker
            self._all.discard(worker)
            worker.stop()
        if self._closed:
            raise GenkitEvalError("the interpreter is shutting down: no worker process is started any more")
        worker = _Worker()
        self._all.add(worker)
        if self._closed:
            worker.kill()
        return worker

    def _idle_one(self) -> _Worker | None:
        try:
            return self._idle.pop()
        except IndexError:
            return None

    def forget(self) -> None:
        """In a forked child: let go of the parent's workers, which go on serving the parent."""
        for worker in list(self._all):
            worker.forget()
        self._fresh()


class _Worker:
    """One process, and the pipes to and from it."""

    def __init__(self) -> None:
        command = [sys.executable, "-I", str(Path(__file__).with_name("_worker.py")), json.dumps(sys.path)]
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                # out of the terminal's reach: Ctrl-C is for the parent, which stops its workers itself
                process_group=0 if os.name == "posix" else None,
            )
        except OSError as problem:
            raise GenkitEvalError(f"cannot start a worker process: {problem}; is sys.executable Python?") from problem
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self.pid = self._process.pid
        self._to, self._from = self._process.stdin.fileno(), self._process.stdout.fileno()
        self._polls = hasattr(select, "poll")
        if self._polls:
            os.set_blocking(self._to, False)
            self._readable, self._writable = select.poll(), select.poll()
            self._readable.register(self._from, select.POLLIN)
            self._writable.register(self._to, select.POLLOUT)
        self._await_start()

    def _await_start(self) -> None:
        try:
            problem = self._receive(monotonic() + START_SECONDS).get("error")
        except (TimeoutError, GenkitEvalError) as error:
            problem = str(error) or f"it did not start within {START_SECONDS:g} s"
        except BaseException:
            self.stop()
            raise
        if problem:
            self.stop()
            raise GenkitEvalError(f"cannot start a worker process: {problem}")

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def call(self, request: bytes, deadline: float) -> dict[str, Any]:
        if self._polls:
            return self._exchange(request, deadline)
        # pipes cannot be polled here (Windows): a timer kills the process, which ends the read
        late = threading.Event()

        def kill_late() -> None:
            late.set()
            self._process.kill()

        timer = threading.Timer(deadline - monotonic(), kill_late)
        timer.start()
        try:
            return self._exchange(request, deadline)
        except GenkitEvalError:
            if late.is_set():
                raise TimeoutError from None
            raise
        finally:
            timer.cancel()

    def _exchange(self, request: bytes, deadline: float) -> dict[str, Any]:
        self._send(len(request).to_bytes(4, "big") + request, deadline)
        return self._receive(deadline)

    def _send(self, data: bytes, deadline: float) -> None:
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[os.write(self._to, rest) :]
            except BlockingIOError:
                _await(self._writable, deadline)
            except OSError:
                raise self._died() from None

    def _receive(self, deadline: float) -> dict[str, Any]:
        data = bytearray()
        while len(data) < 4 or len(data) < 4 + int.from_bytes(data[:4], "big"):
            if self._polls:
                _await(self._readable, deadline)
            chunk = os.read(self._from, CHUNK)
            if not chunk:
                raise self._died()
            data += chunk
        reply: dict[str, Any] = load(data[4:])
        return reply

    def _died(self) -> Exception:
        self.kill()
        code = self._process.returncode
        if code == -getattr(signal, "SIGALRM", 0):
            return TimeoutError()
        cause = f"signal {-code}" if code < 0 else f"exit code {code}"
        return GenkitEvalError(f"its worker process died ({cause})")

    def kill(self) -> None:
        """Kill the process and take its exit status, so that no zombie stays; whoever waits for a reply is told."""
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        """Kill the process and let go of it; for the thread that holds it."""
        self.kill()
        self._close_pipes()

    def forget(self) -> None:
        """Close our copies of the pipes; an open one would keep the worker alive when the parent dies."""
        self._process.returncode = 0
        self._close_pipes()

    def _close_pipes(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()


def _await(poll: select.poll, deadline: float) -> None:
    left = deadline - monotonic()
    if left <= 0 or not poll.poll(left * 1000 + 1):
        raise TimeoutError


# one for the process: workers cost memory and are bounded by the machine, not by how many registries there are
POOL = WorkerPool(min(4, os.cpu_count() or 1))
atexit.register(POOL.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=POOL.forget)
