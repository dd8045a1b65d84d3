"""What a run has cost so far: by who asked, and by model."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from genkit_eval.stored import ModelUsage
from genkit_eval.types import Usage

__all__ = ["Spent", "Totals", "added", "tokens_of"]

_TOKENS = ("input_tokens", "output_tokens", "cached_tokens", "written_tokens")
_SUMMED = (*_TOKENS, "model_calls", "cached_calls", "retries", "seconds")


def added(parts: Iterable[Usage]) -> dict[str, Any]:
    """The sum of what they say, by field. What none says stays unsaid; a cost is known only where it is for all."""
    total: dict[str, Any] = {}
    costs: list[float | None] = []
    for part in parts:
        for name in _SUMMED:
            value = getattr(part, name)
            if value is not None:
                total[name] = total.get(name, 0) + value
        if part.cost_usd is not None or part.model_calls != 0:
            costs.append(part.cost_usd)
    known = [cost for cost in costs if cost is not None]
    # sums of such small parts end in digits that nobody paid
    cost = round(sum(known), 12)
    # a model of the user's may say anything, but no file holds what is not finite
    if costs and len(known) == len(costs) and math.isfinite(cost):
        total["cost_usd"] = cost
    return total


class Totals:
    """Sums that grow while a run goes on, in any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sums: dict[tuple[str, str], Usage] = {}
        self._unbilled: dict[tuple[str, str], Usage] = {}

    def add(self, used_by: str, model: str, usage: Usage) -> None:
        """Count what a call of the target, or an evaluator on one case, has cost."""
        with self._lock:
            _add(self._sums, (used_by, model), usage)

    def add_unbilled(self, used_by: str, model: str, usage: Usage) -> None:
        """Note what no result and no reply will tell when the run goes on."""
        with self._lock:
            _add(self._unbilled, (used_by, model), usage)

    def replay_unbilled(self, earlier: Iterable[ModelUsage]) -> None:
        """Count what earlier sessions of the run have noted so."""
        for spent in earlier:
            for add in (self.add, self.add_unbilled):
                add(spent.used_by or "", spent.model, spent)

    def replay(self, result: Mapping[str, Any], target: str | None) -> None:
        """Count what a result of an earlier session has cost; `target` is the target's name, if there is one."""
        if target is not None and "usage" in result:
            self.add("target", target, Usage.model_validate(result["usage"]))
        for metric in result["metrics"]:
            for form in metric.get("usage", ()):
                self.add(metric["evaluator"], form["model"], Usage.model_validate(form))

    @property
    def cost_usd(self) -> float | None:
        """What is known of all of it; None where no cost is known."""
        with self._lock:
            costs = [spent.cost_usd for spent in self._sums.values() if spent.cost_usd is not None]
        return sum(costs) if costs else None

    def of(self, evaluators: Sequence[str]) -> Sequence[ModelUsage]:
        """The sums of the target, and of the evaluators in this order."""
        return self._listed(self._sums, evaluators)

    def unbilled(self, evaluators: Sequence[str]) -> Sequence[ModelUsage]:
        """What was noted with `add_unbilled`, in the same order."""
        return self._listed(self._unbilled, evaluators)

    def _listed(self, sums: Mapping[tuple[str, str], Usage], evaluators: Sequence[str]) -> Sequence[ModelUsage]:
        place = {name: number for number, name in enumerate(("target", *evaluators))}
        with self._lock:
            rows = sorted(sums.items(), key=lambda item: (place.get(item[0][0], len(place)), *item[0]))
        return [
            ModelUsage.trusted(
                {"model": model, "used_by": used_by, **{name: getattr(sum_, name) for name in _told(sum_)}}
            )
            for (used_by, model), sum_ in rows
        ]


def _add(sums: dict[tuple[str, str], Usage], key: tuple[str, str], usage: Usage) -> None:
    before = sums.get(key)
    sums[key] = Usage.trusted(added([usage] if before is None else [before, usage]))


def _told(usage: Usage) -> Iterable[str]:
    return usage.model_fields_set - {"model", "used_by"}


class Spent:
    """What calls of one model have cost."""

    __slots__ = (
        "answered",
        "cached_calls",
        "cached_tokens",
        "calls",
        "cost_usd",
        "costs_are_known",
        "input_tokens",
        "output_tokens",
        "retries",
        "seconds",
        "written_tokens",
    )

    def __init__(self) -> None:
        self.calls = self.answered = self.cached_calls = self.retries = 0
        self.seconds = self.cost_usd = 0.0
        self.costs_are_known = True
        # None as long as no reply said it: unknown is not zero
        self.input_tokens: int | None = None
        self.output_tokens: int | None = None
        self.cached_tokens: int | None = None
        self.written_tokens: int | None = None

    def add(self, usage: Usage | None, cost_usd: float | None) -> None:
        """A call was answered: count what its reply says it took, and what that costs. One without costs nothing."""
        self.answered += 1
        if cost_usd is None or not math.isfinite(cost_usd):
            self.costs_are_known = False
        else:
            self.cost_usd += cost_usd
        for name in _TOKENS:
            tokens = None if usage is None else getattr(usage, name)
            if tokens is not None:
                setattr(self, name, (getattr(self, name) or 0) + tokens)

    def as_usage(self, model: str) -> ModelUsage:
        """In the form of a run file."""
        values = {
            "model": model,
            "model_calls": self.calls,
            "cached_calls": self.cached_calls or None,
            "retries": self.retries or None,
            **{name: getattr(self, name) for name in _TOKENS},
            "cost_usd": round(self.cost_usd, 9) if self.costs_are_known else None,
            "seconds": round(self.seconds, 6),
        }
        return ModelUsage.trusted({name: value for name, value in values.items() if value is not None})

    def unanswered(self, model: str) -> ModelUsage:
        """The part of it that no reply tells of."""
        values = {
            "model": model,
            "model_calls": self.calls - self.answered,
            "retries": self.retries or None,
            "cost_usd": 0.0 if self.costs_are_known else None,
            "seconds": round(self.seconds, 6),
        }
        return ModelUsage.trusted({name: value for name, value in values.items() if value is not None})


def tokens_of(usage: Usage | None) -> int | None:
    """Read and written; None where nothing is said."""
    if usage is None or (usage.input_tokens is None and usage.output_tokens is None):
        return None
    return (usage.input_tokens or 0) + (usage.output_tokens or 0)
