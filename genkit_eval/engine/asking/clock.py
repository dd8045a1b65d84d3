"""Deadlines that stand still while a call waits for its turn."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter

import anyio

__all__ = ["Clock"]


class Clock:
    """When one call is overdue, on `perf_counter`'s scale; with a cancel scope, that is kept to the same moment."""

    # one is made for every call of a target: what all of them begin with stands here
    is_cut = False
    _left = math.inf
    _waiting = 0

    def __init__(
        self,
        seconds: float | None = None,
        scope: anyio.CancelScope | None = None,
        cancel: Callable[[], None] | None = None,
    ) -> None:
        self.due = math.inf if seconds is None else perf_counter() + seconds
        self._scope = scope
        self._cancel = scope.cancel if scope is not None else cancel

    def cut(self) -> None:
        """Take the call away, because the run ends early and what the call waits for will not come."""
        self.is_cut = True
        if self._cancel is not None:
            self._cancel()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Within, the time does not count; of several who wait at once, the last one starts it again."""
        if self._waiting == 0:
            self._left = self.due - perf_counter()
            self._set(math.inf)
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1
            if self._waiting == 0:
                self._set(perf_counter() + self._left)

    def _set(self, due: float) -> None:
        self.due = due
        if self._scope is not None:
            self._scope.deadline = anyio.current_time() + due - perf_counter()
