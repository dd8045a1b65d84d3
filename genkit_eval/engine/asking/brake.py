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
        self._told: list[Callable[[], None]] = []

    def tell(self, stop: Callable[[], None]) -> None:
        """Call this when it is pulled, before those who asked for it earlier; now if it is pulled already."""
        self._told.insert(0, stop)
        # looked at last: whoever pulls it just now may not have seen the new one
        if self.stopped is not None:
            stop()

    def pull(self, cause: StopCause, reason: str) -> None:
        """Stop for this reason; the first one counts."""
        if self.stopped is None:
            self.stopped = Stopped(cause=cause, reason=reason)
            for stop in tuple(self._told):
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
