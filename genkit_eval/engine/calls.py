"""Calls of the user's code: the one place where what it raises is caught and becomes a value.

Cancellation and Ctrl-C pass through. A call that cancels itself, `sys.exit` in a flow, and what is no `Exception`
(libraries written in Rust panic with such, test frameworks skip and fail with them) are failures like any other.
"""

from __future__ import annotations

import math
import os
import sysconfig
import traceback
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import perf_counter
from typing import TypeVar

import anyio

from genkit_eval.engine.asking.clock import Clock
from genkit_eval.errors import GenkitEvalError

__all__ = ["CUT", "LONGEST_ERROR", "Called", "called", "called_async", "called_within", "described", "overdue"]

LONGEST_ERROR = 4_000

_NOT_THE_USERS = (
    sysconfig.get_path("stdlib"),
    str(Path(__file__).parent.parent) + os.sep,
    "<frozen",
)

A = TypeVar("A")


Called = tuple[object, str | None, float]
"""What a call gave: its value, or None; the error in one line, or None; how many seconds it took."""

CUT: Called = (None, "cut: the run ends early", 0.0)
"""What a call comes to whose end nobody waits for: nothing, so that it is made again when the run goes on."""


def called(call: Callable[[A], object], argument: A) -> Called:
    """Call something synchronous."""
    started = perf_counter()
    try:
        value = call(argument)
    except BaseException as problem:
        if _is_ctrl_c(problem):
            raise
        return None, described(problem), perf_counter() - started
    return value, None, perf_counter() - started


async def called_async(call: Callable[[A], Awaitable[object]], argument: A, cancelled: type[BaseException]) -> Called:
    """Call something asynchronous; `cancelled` is the loop's class of cancellation, looked up once by the caller."""
    started = perf_counter()
    try:
        value = await call(argument)
    except Exception as problem:
        return None, described(problem), perf_counter() - started
    except GeneratorExit:
        # the coroutine is closed: its loop is gone
        raise
    except BaseException as problem:
        # it may be us who are cancelled, not the call by itself
        is_cancelled = _is_or_holds(problem, cancelled) and anyio.current_effective_deadline() == -math.inf
        if is_cancelled or _is_ctrl_c(problem):
            raise
        error = "cancelled: the call cancelled itself" if isinstance(problem, cancelled) else described(problem)
        return None, error, perf_counter() - started
    return value, None, perf_counter() - started


def _is_ctrl_c(problem: BaseException) -> bool:
    return _is_or_holds(problem, KeyboardInterrupt)


def _is_or_holds(problem: BaseException, kind: type[BaseException]) -> bool:
    if isinstance(problem, BaseExceptionGroup):
        return problem.subgroup(kind) is not None
    return isinstance(problem, kind)


async def called_within(
    call: Callable[[A], Awaitable[object]], argument: A, limit: float | None, timed_by: Callable[[Clock], object]
) -> Called:
    """Call an asynchronous evaluator under a deadline of its own; `timed_by` is given its clock first."""
    result: Called = None, None, 0.0
    with anyio.move_on_after(limit) as scope:
        clock = Clock(limit, scope)
        timed_by(clock)
        result = await called_async(call, argument, anyio.get_cancelled_exc_class())
    if clock.is_cut:
        return CUT
    if scope.cancel_called:
        return overdue("evaluator", limit)
    return result


def overdue(what: str, seconds: float | None) -> Called:
    """What a call comes to that was taken from the target, the evaluator or the sample after so many seconds."""
    return None, f"timeout: the {what} took longer than {seconds or 0.0:g} s", seconds or 0.0


def described(problem: BaseException) -> str:
    """An exception in one line: its type, what it says, and the line of the user's code where it came up."""
    if isinstance(problem, GenkitEvalError):
        return str(problem)[:LONGEST_ERROR]
    text, name, place = _text(problem), type(problem).__name__, _place(problem)
    said = f"{name}: {text}" if text else name
    return f"{said[:LONGEST_ERROR]} ({place})" if place else said[:LONGEST_ERROR]


def _text(problem: BaseException) -> str:
    try:
        return str(problem)
    except Exception as fault:
        # the user's code too
        return f"(no text: its own __str__ raises {type(fault).__name__})"


def _place(problem: BaseException) -> str | None:
    """File and line of the innermost frame that is neither ours nor a library's."""
    place = None
    for frame, line in traceback.walk_tb(problem.__traceback__):
        path = frame.f_code.co_filename
        if not path.startswith(_NOT_THE_USERS) and "site-packages" not in path:
            place = f"{Path(path).name}:{line}"
    return place
