"""Calls of the user's code: the one place where what it raises is caught and becomes a value.

Cancellation and Ctrl-C pass through. A call that cancels itself, and `sys.exit` in a flow, are failures like
any other.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import NamedTuple, TypeVar

import anyio

__all__ = ["LONGEST_ERROR", "Called", "called", "called_async", "called_within", "described"]

LONGEST_ERROR = 4_000

A = TypeVar("A")


class Called(NamedTuple):
    """What a call gave: its value, or the error in one line; and how long it took."""

    value: object
    error: str | None
    seconds: float


def called(call: Callable[[A], object], argument: A) -> Called:
    """Call something synchronous."""
    started = perf_counter()
    try:
        value = call(argument)
    except (Exception, SystemExit) as problem:
        return Called(None, described(problem), perf_counter() - started)
    return Called(value, None, perf_counter() - started)


async def called_async(call: Callable[[A], Awaitable[object]], argument: A, cancelled: type[BaseException]) -> Called:
    """Call something asynchronous; `cancelled` is the loop's class of cancellation, looked up once by the caller."""
    started = perf_counter()
    try:
        value = await call(argument)
    except cancelled:
        if anyio.current_effective_deadline() == -math.inf:
            # it is us who are cancelled, not the call by itself
            raise
        return Called(None, "cancelled: the call cancelled itself", perf_counter() - started)
    except (Exception, SystemExit) as problem:
        return Called(None, described(problem), perf_counter() - started)
    return Called(value, None, perf_counter() - started)


async def called_within(call: Callable[[A], Awaitable[object]], argument: A, limit: float | None) -> Called:
    """Call an asynchronous evaluator under a deadline of its own."""
    result = Called(None, None, 0.0)
    with anyio.move_on_after(limit) as scope:
        result = await called_async(call, argument, anyio.get_cancelled_exc_class())
    if scope.cancel_called:
        return Called(None, f"timeout: the evaluator took longer than {limit:g} s", limit or 0.0)
    return result


def described(problem: BaseException) -> str:
    """An exception in one line: its type and what it says."""
    text = str(problem)
    name = type(problem).__name__
    return (f"{name}: {text}" if text else name)[:LONGEST_ERROR]
