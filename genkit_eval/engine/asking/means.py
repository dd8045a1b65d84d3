"""What one session of a run asks models with: open from before its first case until after its last."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Timer
from types import TracebackType
from typing import Self, TypeVar

import anyio
from pydantic import JsonValue

from genkit_eval.engine.asking.brake import Brake
from genkit_eval.engine.asking.budget import Budget, Purse
from genkit_eval.engine.asking.choices import Choices
from genkit_eval.engine.asking.clock import Clock
from genkit_eval.engine.asking.kept_replies import CacheUse, KeptReplies
from genkit_eval.engine.asking.limits import Limits
from genkit_eval.engine.asking.model_calls import RunCalls
from genkit_eval.engine.asking.usage import Totals
from genkit_eval.errors import ModelError
from genkit_eval.model_calls import caller
from genkit_eval.prices import Prices
from genkit_eval.stored import EvalRunKey
from genkit_eval.stores import Journal

__all__ = ["Means", "Terms"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Terms:
    """What a run may take and spend: `budget` and `prices` hold for one session of it."""

    limits: Limits = field(default_factory=Limits)
    budget: Budget | None = None
    prices: Prices = field(default_factory=Prices)
    cache: CacheUse = "on"


class Means:
    """The calls of a session, and what they share: purse, brake, kept replies. On leaving, the cache is written.

    Args:
        terms: its budget counts from now on.
        choices: what holds beyond this session, where no journal keeps it; it grows.
    """

    def __init__(self, terms: Terms, choices: dict[str, JsonValue] | None = None) -> None:
        self.terms, self.brake = terms, Brake()
        self.purse = Purse(terms.budget, terms.prices, self.brake)
        self.kept = KeptReplies(terms.cache)
        self.choices = Choices({} if choices is None else choices)
        # as the limits were given: a few samples may ask many things at one time
        self.calls = RunCalls(self.kept, self.purse, self.choices, limits=terms.limits, prices=terms.prices)
        self.brake.tell(self.calls.stop)
        self._first = Totals()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, problem: object, trace: TracebackType | None) -> None:
        self.kept.close()

    async def ask_first(self, used_by: str, ask: Callable[[], Awaitable[T]]) -> T:
        """What a call before the first case gives: limited, retried and paid for like those of the cases.

        Raises:
            ModelError: no answer in time, or within the budget. Whatever `ask` raises.
        """
        seconds, outer = self.terms.limits.evaluator_seconds, caller.get()
        with anyio.move_on_after(seconds) as scope:
            asked = self.calls.begin(used_by)
            asked.timed_by(Clock(seconds, scope))
            try:
                with self._looking():
                    return await ask()
            finally:
                caller.set(outer)
                for spent in asked.usage():
                    self._first.add(used_by, spent.model, spent)
        stopped = self.brake.stopped
        raise ModelError(f"timeout: no answer within {seconds:g} s" if stopped is None else stopped.reason)

    @contextmanager
    def _looking(self) -> Iterator[None]:
        """Within, the end of the budget's time also ends pauses; later the ticks of the run see to that."""
        seconds = None if self.terms.budget is None else self.terms.budget.seconds
        if seconds is None:
            yield
            return
        timer = Timer(seconds, self.purse.look)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def noted(self, key: EvalRunKey) -> EvalRunKey:
        """The key of a run that begins, with what was spent before its first case."""
        return key.model_copy(update={"unbilled": self._first.of(()) or None})

    def keep_in(self, journal: Journal) -> None:
        """From now on, what is asked and chosen is kept there too; what earlier sessions left there holds."""
        self.kept.keep_in(journal)
        self.choices.keep_in(journal)
        self.calls.totals.replay_unbilled(journal.key.unbilled or ())
