"""How a run ends early by itself: no case begins any more, what is under way ends, and all of it is kept."""

from __future__ import annotations

import threading
from collections.abc import Callable

from genkit_eval.stored import StopCause, Stopped

__all__ = ["Brake", "FailureWatch"]


class Brake:
    """Pulled once, from any thread; whoever begins something new looks at it, or is told."""

    def __init__(self) -> None:
        self.stopped: Stopped | None = None
        self.on_pull: list[Callable[[], None]] = []

    def pull(self, cause: StopCause, reason: str) -> None:
        """Stop for this reason; the first one counts."""
        if self.stopped is None:
            self.stopped = Stopped(cause=cause, reason=reason)
            for stop in self.on_pull:
                stop()


class FailureWatch:
    """Pulls the brake when too many cases have failed in this session."""

    def __init__(self, most: int, brake: Brake) -> None:
        self._most, self._brake = most, brake
        self._failed = 0
        self._lock = threading.Lock()

    def one_more(self) -> None:
        """A case failed."""
        with self._lock:
            self._failed += 1
            enough = self._failed == self._most
        if enough:
            cases = "1 case" if self._most == 1 else f"{self._most} cases"
            self._brake.pull(StopCause.FAILURES, f"{cases} FAILED, which ends the run (max_failures)")
