"""Who may ask a model now: turns in order, as many at one time as its server bears, no faster than it allows."""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from time import monotonic
from types import TracebackType
from typing import Self

import anyio

from genkit_eval.engine.asking.model_limits import ModelLimits
from genkit_eval.engine.asking.pace import Pace
from genkit_eval.errors import ModelError
from genkit_eval.off_loop import loop_caller

__all__ = ["Limiter", "Slot"]

UNTRIED, UNTRIED_SECONDS = 4, 1.0
"""Calls at one time until one has ended, or was not refused for so long: a wrong key costs no more than these."""
DECREASE, LEAST = 0.75, 4
FORBIDDEN, MOST_FORBIDDEN = 403, 3


class Limiter:
    """Turns at one model, for all that ask it: from any loop, asyncio's or trio's, and from any thread.

    How many calls there are at one time grows by one for each window of successes while more are wanted (by an eighth
    of what it began with, until the server first says that it is too much), and shrinks by a quarter, once a round
    trip, when the server says so. How fast they follow each other is the business of `Pace`. Turns are taken in the
    order in which they were asked for.
    """

    def __init__(self, limits: ModelLimits, *, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._pace = Pace(requests_per_minute=limits.requests_per_minute, tokens_per_minute=limits.tokens_per_minute)
        self.counts_tokens = limits.tokens_per_minute is not None
        self._most = limits.most_concurrency
        self._room = float(min(limits.concurrency or self._most, self._most))
        self._step = max(self._room // 8, 1.0)
        self._in_flight = 0
        self._opens_at = math.inf
        self._succeeded = False
        self._forbidden = 0
        self._window = 0
        self._wanted_more = False
        self._closed: Callable[[], Exception] | None = None
        self._queue: deque[_Turn] = deque()
        self._paused: set[_Turn] = set()

    @property
    def concurrency(self) -> int:
        """So many calls may be in flight now."""
        return int(self._room if self._now() >= self._opens_at else min(UNTRIED, self._room))

    @property
    def rate(self) -> float:
        """Requests a second that refusals have taught; infinite where there was no lesson."""
        return self._pace.rate

    def slot(self, *, tokens: int = 0, waiting: Callable[[], AbstractContextManager[object]] = nullcontext) -> Slot:
        """A turn, to be entered with `async with`.

        Args:
            tokens: what the call is expected to use.
            waiting: entered while the turn has not come; never where there is no wait.

        Raises:
            ModelError: on entering, once a call has shown that none can succeed.
        """
        return Slot(self, tokens, waiting)

    async def _enter(self, slot: Slot) -> None:
        with self._lock:
            if not self._queue and self._delay() <= 0:
                self._begin(slot)
                return
            turn = _Turn()
            self._queue.append(turn)
        try:
            with slot.waiting():
                while (seconds := self._turn_comes(turn, slot)) > 0:
                    with anyio.move_on_after(None if seconds == math.inf else seconds):
                        await turn.news.wait()
        finally:
            with self._lock:
                self._queue.remove(turn)
                self._wake()

    def _turn_comes(self, turn: _Turn, slot: Slot) -> float:
        """Seconds until it is worth looking again; 0 when the turn was taken."""
        with self._lock:
            seconds = self._delay() if self._queue[0] is turn else math.inf
            if seconds <= 0:
                self._begin(slot)
            else:
                turn.news = anyio.Event()
            return seconds

    def _delay(self) -> float:
        if self._closed is not None:
            raise self._closed()
        now = self._now()
        if self._in_flight < int(self._room if now >= self._opens_at else min(UNTRIED, self._room)):
            return self._pace.delay(now)
        if now < self._opens_at:
            return self._opens_at - now
        self._wanted_more = True
        return math.inf

    def _begin(self, slot: Slot) -> None:
        self._in_flight += 1
        slot.started = self._now()
        if self._opens_at == math.inf:
            self._opens_at = slot.started + UNTRIED_SECONDS
        slot.number = self._pace.send(slot.started, slot.tokens)

    def _wake(self) -> None:
        if self._queue:
            self._queue[0].wake()

    def leave(self, *, tried: bool) -> None:
        """A call has ended, well or not; `tried` unless it was not let in."""
        with self._lock:
            self._in_flight -= 1
            if tried:
                self._opens_at = -math.inf
            self._wake()

    def succeeded(self, slot: Slot, tokens: int | None) -> None:
        """A call had a reply."""
        with self._lock:
            self._succeeded = True
            if tokens is not None:
                self._pace.correct(tokens - slot.tokens)
            self._window += 1
            if self._window >= self._room:
                if self._wanted_more:
                    self._room = min(self._room + self._step, self._most)
                self._window, self._wanted_more = 0, False

    def overloaded(self, slot: Slot, wait: float | None) -> None:
        """A call was refused because there are too many."""
        with self._lock:
            now = self._now()
            lesson = self._pace.refused(slot.number, now, latency=now - slot.started, wait=wait)
            if lesson or (lesson is False and self._wanted_more):
                # what is still out was taken: so many it bears
                bears = max(self._in_flight - 1, LEAST)
                self._room = min(self._room, max(bears, self._room * DECREASE) if lesson else bears)
                self._window, self._wanted_more = 0, False
            if lesson:
                self._step = 1.0

    def hopeless(self, error: ModelError) -> None:
        """A call was refused for a reason that holds for all: the key, unless it was good for others, or the quota."""
        with self._lock:
            # one that is forbidden may be so for what it asks; of several, nobody was let in
            self._forbidden += error.status == FORBIDDEN
            few = error.status == FORBIDDEN and self._forbidden < MOST_FORBIDDEN
            if error.kind == "quota" or not (self._succeeded or few):
                self._close(lambda: _not_asked(error))

    def stop(self, error: Callable[[], Exception]) -> None:
        """Whoever waits, or comes later, gets this error; from any thread."""
        with self._lock:
            self._close(error)

    def _close(self, error: Callable[[], Exception]) -> None:
        self._closed = error
        # of the others, each is woken by the one before
        self._wake()
        for turn in self._paused:
            turn.wake()

    async def pause(self, seconds: float) -> None:
        """Wait so long before a call is sent again, unless no call may be sent any more."""
        turn = _Turn()
        with self._lock:
            if self._closed is not None:
                return
            self._paused.add(turn)
        try:
            with anyio.move_on_after(seconds):
                await turn.news.wait()
        finally:
            with self._lock:
                self._paused.discard(turn)


class Slot:
    """One turn: while it is entered, one call is in flight. Say how the call went before it is left."""

    __slots__ = ("_limiter", "_tried", "number", "started", "tokens", "waiting")

    def __init__(self, limiter: Limiter, tokens: int, waiting: Callable[[], AbstractContextManager[object]]) -> None:
        self._limiter, self.tokens, self.waiting = limiter, tokens, waiting
        self.started = 0.0
        self.number = 0
        self._tried = True

    async def __aenter__(self) -> Self:
        await self._limiter._enter(self)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._limiter.leave(tried=self._tried)

    def succeeded(self, tokens: int | None = None) -> None:
        """There was a reply, which used so many tokens."""
        self._limiter.succeeded(self, tokens)

    def overloaded(self, retry_after_seconds: float | None = None) -> None:
        """The server refused the call because there are too many, and perhaps said how long to wait."""
        self._limiter.overloaded(self, retry_after_seconds)

    def hopeless(self, error: ModelError) -> None:
        """The server refused the call for a reason that may hold for all calls: a wrong key, a spent quota."""
        self._tried = False
        self._limiter.hopeless(error)


class _Turn:
    __slots__ = ("_call_soon", "_thread", "news")

    def __init__(self) -> None:
        self.news = anyio.Event()
        self._thread = threading.get_ident()
        self._call_soon = loop_caller()

    def wake(self) -> None:
        if threading.get_ident() == self._thread:
            self.news.set()
            return
        try:
            self._call_soon(self._set)
        except RuntimeError:
            # its loop is gone, and so is whoever waited
            return

    def _set(self) -> None:
        self.news.set()


def _not_asked(error: ModelError) -> ModelError:
    problem = f"not asked any more, as an earlier call was refused for good: {error.problem}"
    return ModelError(problem, kind=error.kind, model=error.model, status=error.status)
