"""A call of a model that is sent again when what went wrong may pass; the one place where that happens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from random import uniform
from typing import TypeVar

import anyio

from genkit_eval.engine.asking.limiter import Limiter, Slot
from genkit_eval.engine.asking.limits import Limits
from genkit_eval.errors import ModelError

__all__ = ["Retrier", "Tries"]

T = TypeVar("T")

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
"""Seconds at most before the first time a call is sent again; each further time the bound doubles."""
PASSING = frozenset({"rate_limit", "timeout", "connection", "server"})
FOR_ALL = frozenset({"auth", "quota"})
OVERLOADED = frozenset({503, 529})
QUOTA_SECONDS = 600.0
"""Who is to wait for longer has spent a quota, whatever the server calls it: others need not ask."""


@dataclass(slots=True)
class Tries:
    """What was tried for one call; `seconds` are those of the attempts and the pauses, not of waiting for a turn."""

    errors: list[ModelError] = field(default_factory=list)
    attempts: int = 0
    seconds: float = 0.0

    def failed(self, error: ModelError, seconds: float, limits: Limits) -> float | None:
        """An attempt failed; the seconds before it is sent again, with full jitter, or None where it is not."""
        self.errors.append(error)
        self.seconds += seconds
        pause = self._pause(error, limits)
        self.seconds += pause or 0.0
        return pause

    def _pause(self, error: ModelError, limits: Limits) -> float | None:
        if error.kind not in PASSING or (error.status is not None and error.status < 400):
            # what came with a good status is an answer, if one that cannot be read
            return None
        faults = sum(earlier.kind != "rate_limit" for earlier in self.errors)
        if error.kind != "rate_limit" and faults > limits.retries:
            return None
        bound = min(FIRST_PAUSE * 2 ** (len(self.errors) - 1), LONGEST_PAUSE)
        asked = error.retry_after_seconds or 0.0
        # those who were told the same must not come back at the same moment: chance enough, no secret
        pause = max(uniform(0, bound), asked * uniform(1, 1.1))  # noqa: S311
        if asked > limits.retry_after_most_seconds or self.seconds + pause > limits.retry_seconds:
            return None
        return pause

    def error(self) -> ModelError:
        """The last error, with all that was tried."""
        last = self.errors[-1]
        if len(self.errors) == 1:
            return last
        met = Counter(_named(error) for error in self.errors)
        listed = ", ".join(f"{count} x {name}" for name, count in met.items())
        return ModelError(
            f"{last.problem} (tried {len(self.errors)} times in {self.seconds:.3g} s: {listed})",
            kind=last.kind,
            model=last.model,
            text=last.text,
            status=last.status,
            retry_after_seconds=last.retry_after_seconds,
        )


@dataclass(frozen=True, slots=True)
class Retrier:
    """How one model, or embedder, is asked in a run: in turn, within its deadline, again where that may help."""

    model: str
    limits: Limits
    limiter: Limiter

    async def call(
        self,
        ask: Callable[[], Awaitable[T]],
        *,
        tries: Tries,
        used: Callable[[T], int | None],
        tokens: int = 0,
        waiting: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> T:
        """The reply of one call; what has been answered is never asked for again.

        Args:
            ask: sends it once.
            tries: where what goes wrong is noted.
            used, tokens: how many tokens a reply has used, and is expected to.
            waiting: entered while it waits for its turn.

        Raises:
            ModelError: the last one; what was tried stands in it. Whatever else `ask` raises.
        """
        while True:
            slot = self.limiter.slot(tokens=tokens, waiting=waiting)
            async with slot:
                began = anyio.current_time()
                tries.attempts += 1
                try:
                    reply = await self._within_its_deadline(ask)
                except ModelError as error:
                    _tell(slot, error, self.limits)
                    pause = tries.failed(error, anyio.current_time() - began, self.limits)
                else:
                    slot.succeeded(used(reply))
                    return reply
            if pause is None:
                raise tries.error()
            await self.limiter.pause(pause)

    async def _within_its_deadline(self, ask: Callable[[], Awaitable[T]]) -> T:
        seconds = self.limits.call_seconds
        if seconds is None:
            return await ask()
        with anyio.move_on_after(seconds):
            return await ask()
        raise ModelError(
            f"{self.model} gave no answer within {seconds:g} s (call_seconds)", kind="timeout", model=self.model
        )


def _tell(slot: Slot, error: ModelError, limits: Limits) -> None:
    """How the call went, as far as it says something of the next ones."""
    if (error.retry_after_seconds or 0.0) > max(QUOTA_SECONDS, limits.retry_after_most_seconds):
        slot.hopeless(ModelError(error.problem, kind="quota", model=error.model, status=error.status))
    elif error.kind == "rate_limit" or (error.kind == "server" and error.status in OVERLOADED):
        slot.overloaded(error.retry_after_seconds)
    elif error.kind in FOR_ALL:
        slot.hopeless(error)
    elif error.kind not in PASSING:
        # it is an answer, if one of no use
        slot.succeeded()


def _named(error: ModelError) -> str:
    return f"HTTP {error.status}" if error.status is not None else error.kind
