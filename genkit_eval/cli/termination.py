"""SIGTERM, as supervisors and CI send it, ends a run as Ctrl-C does: what is finished is kept, and said."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["ending_as_ctrl_c"]


@contextmanager
def ending_as_ctrl_c() -> Iterator[None]:
    """Within, SIGTERM does what Ctrl-C does at that moment; unless somebody handles it already."""
    in_charge = threading.current_thread() is threading.main_thread()
    if not in_charge or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _interrupt(_: int, frame: FrameType | None) -> None:
    handler = signal.getsignal(signal.SIGINT)
    if callable(handler):
        handler(signal.SIGINT, frame)
    else:
        # a shell starts jobs in the background with Ctrl-C ignored: they can be stopped all the same
        raise KeyboardInterrupt
