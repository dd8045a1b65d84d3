"""Run a blocking function beside the event loop, on a daemon thread that does not hold up the process's end."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from contextvars import Context, copy_context
from typing import Any, TypeVar

import anyio
import anyio.lowlevel

__all__ = ["caller_context", "loop_caller", "off_loop"]

T = TypeVar("T")


async def off_loop(fn: Callable[[], T], *, shield: bool = False) -> T:
    """What the function returns or raises; when cancelled, the thread is left to itself, or waited for (`shield`)."""
    done = anyio.Event()
    call_soon = loop_caller()
    result: list[T] = []
    problems: list[BaseException] = []

    def work() -> None:
        try:
            result.append(fn())
        except BaseException as problem:
            problems.append(problem)
        try:
            call_soon(done.set)
        except RuntimeError:
            # the loop is gone: nobody waits any more
            return

    threading.Thread(target=caller_context().run, args=(work,), name="genkit-eval-off-loop", daemon=True).start()
    with anyio.CancelScope(shield=shield):
        await done.wait()
    if problems:
        raise problems[0]
    return result[0]


def loop_caller() -> Callable[[Callable[[], object]], object]:
    """A function by which any thread has something called soon on the loop that runs here.

    It raises RuntimeError once the loop is gone.
    """
    loop: Any = anyio.lowlevel.current_token().native_token
    # asyncio's and trio's names for the same thing
    caller: Callable[[Callable[[], object]], object] = getattr(loop, "call_soon_threadsafe", None) or loop.run_sync_soon
    return caller


def caller_context() -> Context:
    """The caller's context variables, for a thread of ours: no loop runs there, so the user's code may start one."""
    context = copy_context()
    sniffio = sys.modules.get("sniffio")
    if sniffio is not None:
        # anyio and others ask this variable which loop they are on, and would refuse to run another
        context.run(sniffio.current_async_library_cvar.set, None)
    return context
