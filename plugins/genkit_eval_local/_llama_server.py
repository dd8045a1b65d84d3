"""Servers for model files: one process a file, started when it is first asked, ended with this process."""

from __future__ import annotations

import atexit
import json
import os
import re
import secrets
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from socket import SHUT_RDWR
from typing import IO, Any

from anyio import CapacityLimiter, get_cancelled_exc_class, to_thread
from anyio.lowlevel import RunVar
from pydantic import JsonValue

from genkit_eval.errors import ConfigError
from genkit_eval_local.gguf_settings import GgufSettings

__all__ = ["LlamaServer", "server_for"]

PROGRAM = Path(__file__).with_name("_llama_process.py")
STOP_SECONDS = 5.0
SHOWN = 300
LOG_BYTES = 100_000
UNHEARD = 0, b""
"""In place of a reply that nobody waits for any more."""

_STARTING = threading.Lock()


@dataclass(frozen=True, eq=False)
class LlamaServer:
    """A running server; `post` asks it."""

    process: subprocess.Popen[bytes]
    port: int
    settings: GgufSettings
    _key: str = field(repr=False)
    _log: IO[bytes] = field(repr=False)
    _turns: RunVar[CapacityLimiter] = field(default_factory=lambda: RunVar("slots of a GGUF model"), repr=False)

    async def post(self, body: dict[str, JsonValue]) -> tuple[int, bytes]:
        """Status and body of the reply; when the caller is cancelled, the server stops computing it.

        Raises:
            TimeoutError: no reply in time.
            ConnectionError: it hung up; says why, if that is known.
        """
        connection = HTTPConnection("127.0.0.1", self.port, timeout=self.settings.timeout_seconds)
        cancelled = threading.Event()

        def exchange() -> tuple[int, bytes]:
            try:
                connection.connect()
                return UNHEARD if cancelled.is_set() else self._exchange(connection, body)
            except TimeoutError:
                raise
            except (OSError, HTTPException) as problem:
                if cancelled.is_set():
                    return UNHEARD
                raise ConnectionError(self._last_words() or str(problem)) from problem
            finally:
                connection.close()

        try:
            return await to_thread.run_sync(exchange, limiter=self._limiter(), abandon_on_cancel=True)
        except get_cancelled_exc_class():
            cancelled.set()
            socket = connection.sock
            if socket is not None:
                # wakes the thread, and tells the server that nobody waits
                with suppress(OSError):
                    socket.shutdown(SHUT_RDWR)
            raise

    def _exchange(self, connection: HTTPConnection, body: dict[str, JsonValue]) -> tuple[int, bytes]:
        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        connection.request("POST", "/v1/chat/completions", json.dumps(body).encode(), headers)
        response = connection.getresponse()
        return response.status, response.read()

    def _limiter(self) -> CapacityLimiter:
        # a limiter belongs to its event loop
        limiter = self._turns.get(None)
        if limiter is None:
            limiter = CapacityLimiter(self.settings.slots)
            self._turns.set(limiter)
        return limiter

    def _last_words(self) -> str:
        try:
            # whoever has just hung up may not have ended yet
            code = self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            return ""
        return f"its server has ended with exit code {code} {_first_error(self._log)}".strip()

    def stop(self) -> None:
        """End the process, if it is still there."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()


def server_for(path: Path, settings: GgufSettings) -> LlamaServer:
    """The server of a model file, started if there is none; blocks while the model is loaded.

    Raises:
        ConfigError: `xllamacpp` is not installed, or the file cannot be loaded.
    """
    with _STARTING:
        return _started(path, settings)


@cache
def _started(path: Path, settings: GgufSettings) -> LlamaServer:
    key = secrets.token_urlsafe(32)
    # it lives as long as the server
    log = tempfile.TemporaryFile()  # noqa: SIM115
    process = subprocess.Popen(
        [sys.executable, "-I", str(PROGRAM)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        # threads that wait for work are not to spin
        env={"OMP_WAIT_POLICY": "passive", **os.environ},
        # Ctrl-C is for us: calls that go on are cancelled, not cut off
        start_new_session=True,
    )
    order = {
        "path": [entry for entry in sys.path if entry],
        "model": str(path),
        "key": key,
        "slots": settings.slots,
        "context_tokens": settings.context_tokens,
        "threads": settings.threads,
    }
    answer = _first_answer(process, order, settings.start_seconds)
    server = LlamaServer(process, int(answer.get("port", 0)), settings, key, log)
    if "port" not in answer:
        # it writes its log with a thread of its own: whole only when it has ended
        server.stop()
        said = _first_error(log) or answer.get("error") or f"no answer within {settings.start_seconds:g} s"
        log.close()
        if "missing" in answer:
            raise ConfigError(f"GGUF models need xllamacpp ({said}): pip install 'genkit-eval[gguf]'")
        raise ConfigError(f"the model file {path} cannot be served: {said}")
    atexit.register(log.close)
    atexit.register(server.stop)
    return server


def _first_answer(process: subprocess.Popen[bytes], order: dict[str, Any], seconds: float) -> dict[str, Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    # a pipe has no deadline of its own
    timer = threading.Timer(seconds, process.kill)
    timer.start()
    try:
        process.stdin.write(json.dumps(order).encode() + b"\n")
        process.stdin.flush()
        line = process.stdout.readline()
    except BrokenPipeError:
        line = b""
    finally:
        timer.cancel()
    answer: dict[str, Any] = json.loads(line) if line else {}
    return answer


def _first_error(log: IO[bytes]) -> str:
    # without moving the place where the process writes on
    for line in os.pread(log.fileno(), LOG_BYTES, 0).decode(errors="replace").splitlines():
        # "0.00.003.463 E gguf_init_from_file: failed to open …"
        found = re.match(r"[\d.]+ E (?P<words>.+)", line)
        if found:
            return f"({found['words'].strip()[:SHOWN]})"
    return ""
