"""What a run may spend, and what it has spent."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from time import monotonic

from pydantic import JsonValue

from genkit_eval.engine.asking.brake import Brake
from genkit_eval.engine.asking.numbers import is_number
from genkit_eval.engine.asking.usage import tokens_of
from genkit_eval.errors import ConfigError
from genkit_eval.prices import Prices
from genkit_eval.stored import StopCause
from genkit_eval.types import Usage

__all__ = ["Budget", "Purse", "SpentError"]


@dataclass(frozen=True, slots=True)
class Budget:
    """What may be spent from now on, until the run ends or is stopped; None where there is no limit.

    When it is spent, nothing new begins: no case, no call of a model. What is under way ends and is kept, so that a
    run goes beyond its budget by the calls in flight at most. `evaluate(resume=run_id, budget=…)` goes on.

    Args:
        usd: US dollars, of target and judges; needs the prices of their models.
        tokens: read and written, of target and judges.
        calls: of models, by judges and by targets that are models; replies from the cache are free.
        seconds: of the run as a whole.
    """

    usd: float | None = None
    tokens: int | None = None
    calls: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        for name in ("usd", "seconds"):
            value = getattr(self, name)
            if value is not None and not (is_number(value) and 0 < value < math.inf):
                raise ConfigError(f"a budget's {name} is {value!r}: expected a number above 0, or None for no limit")
        for name in ("tokens", "calls"):
            value = getattr(self, name)
            if value is not None and not (is_number(value) and isinstance(value, int) and value > 0):
                raise ConfigError(
                    f"a budget's {name} is {value!r}: expected a whole number above 0, or None for no limit"
                )

    def to_json(self) -> dict[str, JsonValue]:
        """As a run's key holds it."""
        limits = {"usd": self.usd, "tokens": self.tokens, "calls": self.calls, "seconds": self.seconds}
        return {name: limit for name, limit in limits.items() if limit is not None}


class SpentError(Exception):
    """The run ends early: no call of a model may begin any more."""


class Purse:
    """What one session of a run spends of its budget. When that is spent, it pulls the brake."""

    def __init__(self, budget: Budget | None, prices: Prices, brake: Brake) -> None:
        self._budget, self._prices, self._brake = budget or Budget(), prices, brake
        self._began = monotonic()
        self._lock = threading.Lock()
        self._usd, self._tokens, self._calls = 0.0, 0, 0

    def take_call(self, *, again: bool = False) -> None:
        """Count one more call of a model, which begins now, or is sent `again` because it was not answered.

        Raises:
            SpentError: it may not, because the budget is spent or the run ends early for another reason.
        """
        self.look()
        with self._lock:
            if self._brake.stopped is not None:
                raise SpentError
            self._calls += not again

    def pay_call(self, model: str, identity: str | None, usage: Usage | None) -> None:
        """A call that was taken has ended. What it does not say, no budget can be kept by."""
        budget, tokens, usd = self._budget, tokens_of(usage), None
        if budget.usd is not None:
            usd = self._prices.cost(model, usage, identity)
            if usd is None:
                self._stop(f"what {model} costs is not known: give its price, or a budget of calls, tokens or seconds")
        if budget.tokens is not None and tokens is None:
            self._stop(f"{model} does not say how many tokens it takes: give a budget of calls or seconds")
        self._pay(tokens or 0, usd or 0.0)

    def pay(self, usage: Usage) -> None:
        """A target reports what it has cost."""
        self._pay(tokens_of(usage) or 0, usage.cost_usd or 0.0)

    def _pay(self, tokens: int, usd: float) -> None:
        with self._lock:
            self._tokens += tokens
            self._usd += usd
        self.look()

    def look(self) -> None:
        """Pull the brake if the budget is spent."""
        if self._brake.stopped is None:
            spent = self._spent()
            if spent is not None:
                self._stop(f"the budget is spent: {spent}")

    def _stop(self, reason: str) -> None:
        self._brake.pull(StopCause.BUDGET, reason)

    def _spent(self) -> str | None:
        budget = self._budget
        if budget.calls is not None and self._calls >= budget.calls:
            return f"{self._calls} of {budget.calls} calls"
        if budget.tokens is not None and self._tokens >= budget.tokens:
            return f"{self._tokens} of {budget.tokens} tokens"
        if budget.usd is not None and self._usd >= budget.usd:
            return f"{self._usd:.4g} of {budget.usd:g} US dollars"
        seconds = monotonic() - self._began
        if budget.seconds is not None and seconds >= budget.seconds:
            return f"{seconds:.1f} of {budget.seconds:g} seconds"
        return None
