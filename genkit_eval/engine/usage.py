"""What a run has cost so far: by who asked, and by model."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from genkit_eval.stored import ModelUsage
from genkit_eval.types import Usage

__all__ = ["Totals", "added"]

_SUMMED = ("input_tokens", "output_tokens", "cached_tokens", "model_calls", "cached_calls", "retries", "seconds")


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
    if costs and len(known) == len(costs):
        total["cost_usd"] = sum(known)
    return total


class Totals:
    """Sums that grow while a run goes on, in any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sums: dict[tuple[str, str], Usage] = {}

    def add(self, used_by: str, model: str, usage: Usage) -> None:
        """Count what a call of the target, or an evaluator on one case, has cost."""
        key = used_by, model
        with self._lock:
            before = self._sums.get(key)
            parts = [usage] if before is None else [before, usage]
            self._sums[key] = Usage.trusted(added(parts))

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
        place = {name: number for number, name in enumerate(("target", *evaluators))}
        with self._lock:
            sums = sorted(self._sums.items(), key=lambda item: (place.get(item[0][0], len(place)), *item[0]))
        return [
            ModelUsage.trusted(
                {"model": model, "used_by": used_by, **{name: getattr(sum_, name) for name in sum_.model_fields_set}}
            )
            for (used_by, model), sum_ in sums
        ]
