"""A second Ctrl-C soon after the first changes nothing: the run is stopping already."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from types import FrameType

__all__ = ["one_interrupt"]

STOPPING_SECONDS = 2.0


class _Once:
    """Passes a signal on, unless it did so a moment ago."""

    def __init__(self, handler: Callable[[int, FrameType | None], object]) -> None:
        self._handler = handler
        self._last = -STOPPING_SECONDS

    def __call__(self, number: int, frame: FrameType | None) -> object:
        now = monotonic()
        if now - self._last < STOPPING_SECONDS:
            return None
        self._last = now
        return self._handler(number, frame)


@contextmanager
def one_interrupt() -> Iterator[None]:
    """Within, one press of Ctrl-C in any two seconds reaches whoever handles it.

    The first one cancels what runs. asyncio answers the next by raising KeyboardInterrupt wherever the loop is, also
    in the middle of ending a task; then what waits for that task waits for ever.
    """
    handler = signal.getsignal(signal.SIGINT)
    in_charge = threading.current_thread() is threading.main_thread()
    if not in_charge or not callable(handler) or handler is signal.default_int_handler or isinstance(handler, _Once):
        # nobody turns Ctrl-C into a cancellation here, or another run watches over it already
        yield
        return
    once = _Once(handler)
    signal.signal(signal.SIGINT, once)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is once:
            signal.signal(signal.SIGINT, handler)
