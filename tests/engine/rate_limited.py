"""Servers that refuse, in a time that passes only when everybody waits, and those who ask them all at once."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import repeat
from random import Random
from typing import Protocol, TypeVar

import anyio
import trio
from trio.testing import MockClock

from genkit_eval.engine.asking.limiter import Limiter
from genkit_eval.engine.asking.model_limits import ModelLimits

__all__ = ["Asked", "Bucket", "Busy", "Closed", "Policy", "SlidingWindow", "Unlucky", "Window", "asked", "in_no_time"]

T = TypeVar("T")


class Policy(Protocol):
    """What a server allows."""

    def take(self, now: float) -> float | None:
        """Seconds that a request is to wait, or None where it is let in."""
        ...


class Bucket:
    """So many a second, and at first a burst."""

    def __init__(self, rate: float, burst: float) -> None:
        self.rate, self.burst = rate, burst
        self.left, self.seen = burst, 0.0

    def take(self, now: float) -> float | None:
        self.left = min(self.burst, self.left + (now - self.seen) * self.rate)
        self.seen = now
        if self.left < 1:
            return (1 - self.left) / self.rate
        self.left -= 1
        return None


class Window:
    """So many in each period of the clock."""

    def __init__(self, most: int, seconds: float, *, into: float = 0.0) -> None:
        self.most, self.seconds, self.into = most, seconds, into
        self.period, self.count = -1, 0

    def take(self, now: float) -> float | None:
        now += self.into
        period = int(now / self.seconds)
        if period != self.period:
            self.period, self.count = period, 0
        if self.count >= self.most:
            return (period + 1) * self.seconds - now
        self.count += 1
        return None


class SlidingWindow:
    """So many in any such time."""

    def __init__(self, most: int, seconds: float) -> None:
        self.most, self.seconds = most, seconds
        self.taken: deque[float] = deque()

    def take(self, now: float) -> float | None:
        while self.taken and self.taken[0] <= now - self.seconds:
            self.taken.popleft()
        if len(self.taken) >= self.most:
            return self.taken[0] + self.seconds - now
        self.taken.append(now)
        return None


class Unlucky:
    """Refuses a share of all, whatever their rate."""

    def __init__(self, share: float) -> None:
        self.share, self.random = share, Random(3)

    def take(self, now: float) -> float | None:
        return 1.0 if self.random.random() < self.share else None


class Closed:
    """Refuses all until then."""

    def __init__(self, until: float) -> None:
        self.until = until

    def take(self, now: float) -> float | None:
        return self.until - now if now < self.until else None


class Busy:
    """Refuses who comes while so many are being answered."""

    def __init__(self, most: int) -> None:
        self.most, self.now = most, 0

    def take(self, now: float) -> float | None:
        if self.now >= self.most:
            return 0.1
        self.now += 1
        return None

    def done(self) -> None:
        self.now -= 1


@dataclass(frozen=True, slots=True)
class Asked:
    """How it went."""

    seconds: float
    requests: int
    rate: float
    room: int


def asked(
    server: Policy,
    calls: int,
    *,
    at_once: int = 32,
    limits: ModelLimits | None = None,
    latency: float = 0.1,
    refusal: float = 0.02,
    rounded: bool = True,
) -> Asked:
    """So many calls, each sent again until it is answered, no sooner than the server says (in whole seconds)."""

    async def ask() -> Asked:
        began, requests = anyio.current_time(), 0
        limiter = Limiter(limits or ModelLimits(concurrency=at_once), now=anyio.current_time)
        left = repeat(None, calls)

        async def call() -> None:
            nonlocal requests
            wait: float | None = 0.0
            while wait is not None:
                await anyio.sleep(wait)
                async with limiter.slot() as slot:
                    requests += 1
                    await anyio.sleep(refusal)
                    wait = server.take(anyio.current_time() - began)
                    if wait is not None:
                        wait = math.ceil(wait) if rounded else wait
                        slot.overloaded(wait)
                        continue
                    await anyio.sleep(latency - refusal)
                    if isinstance(server, Busy):
                        server.done()
                    slot.succeeded()

        async def work() -> None:
            for _ in left:
                await call()

        async with anyio.create_task_group() as group:
            for _ in range(at_once):
                group.start_soon(work)
        return Asked(anyio.current_time() - began, requests, limiter.rate, limiter.concurrency)

    return in_no_time(ask)


def in_no_time(ask: Callable[[], Awaitable[T]]) -> T:
    """What it returns, in a loop whose clock jumps to the next moment at which something happens."""
    found: T = trio.run(ask, clock=MockClock(autojump_threshold=0))
    return found
