"""The loopback server in a process of its own, so that what it computes is not taken from the program under test."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from types import TracebackType
from typing import Self

__all__ = ["ServerProcess"]


class ServerProcess:
    """An `OpenAIServer` in a process of its own, while its `with` block lasts; every answer is in the form asked for.

    with ServerProcess(latency_seconds=0.1, faults={"rate_limit": 0.05}) as server:
        plugin = openai_models(base_url=server.url)

    The same from a shell: `python -m genkit_eval.testing --latency 0.1 --fault rate_limit=0.05`.

    Args:
        latency_seconds: before the first byte of every answer.
        faults: share of the tasks that meet a fault, by its name: see `with_faults`.
        per_second: calls a second that are let through: see `rate_limited`.
        seed: draws other tasks for the faults.

    Attributes:
        counts: `calls` that came, the most at one time (`peak`), and answers by status; known when the block has ended.
    """

    def __init__(
        self,
        *,
        latency_seconds: float = 0.0,
        faults: Mapping[str, float] | None = None,
        per_second: float | None = None,
        seed: int = 0,
    ) -> None:
        self.counts: Mapping[str, int] = {}
        self._arguments = ["--latency", str(latency_seconds), "--seed", str(seed)]
        for name, share in (faults or {}).items():
            self._arguments += ["--fault", f"{name}={share}"]
        if per_second is not None:
            self._arguments += ["--per-second", str(per_second)]
        self._process: subprocess.Popen[str] | None = None
        self._url = ""

    @property
    def url(self) -> str:
        """The base URL, as clients want it."""
        return self._url

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "genkit_eval.testing", *self._arguments, "--until-input-ends"]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        assert self._process.stdout is not None
        self._url = self._process.stdout.readline().strip()
        if not self._url:
            raise RuntimeError(f"the server ended with code {self._process.wait()}: what it wrote above says why")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            # the end of its input is what ends it
            said, _ = self._process.communicate()
            self.counts = json.loads(said or "{}")
