"""Hands out the cases of a run, at most so many in flight."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from time import perf_counter

from genkit_eval.engine.case import Case

__all__ = ["Feed"]


class Feed:
    """Cases in order, to whoever has time; a case is in flight until its result was written.

    Used by threads and the event loop alike. `on_room` is called, in whichever thread, when cases ended.
    """

    def __init__(self, cases: Iterator[Case], max_in_flight: int, *, case_seconds: float | None = None) -> None:
        self._cases = cases
        self._max = max_in_flight
        self._case_seconds = case_seconds
        self._lock = threading.Lock()
        self.in_flight = 0
        self.exhausted = False
        self.problem: BaseException | None = None
        self.on_room: list[Callable[[], None]] = []

    def take(self) -> Case | None:
        """The next case; None when there is no room for one now, or none left (`exhausted`)."""
        with self._lock:
            if self.exhausted or self.in_flight >= self._max:
                return None
            try:
                case = next(self._cases)
            except StopIteration:
                self.exhausted = True
            except BaseException as problem:
                self.problem, self.exhausted = problem, True
            else:
                self.in_flight += 1
                if self._case_seconds is not None:
                    case.due = perf_counter() + self._case_seconds
                return case
        self._tell()
        return None

    def give_back(self, count: int) -> None:
        """So many cases ended and are written."""
        with self._lock:
            self.in_flight -= count
        self._tell()

    def fail(self, problem: BaseException) -> None:
        """End the run with this problem."""
        self.problem = problem
        self.stop()

    def stop(self) -> None:
        """Hand out no more."""
        with self._lock:
            self.exhausted = True
        self._tell()

    @property
    def finished(self) -> bool:
        """Whether every case was handed out and has ended."""
        return self.exhausted and self.in_flight == 0

    def _tell(self) -> None:
        for tell in self.on_room:
            tell()
