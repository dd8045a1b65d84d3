"""How much a run may do at once, and how long a call may take."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from genkit_eval.engine.asking.model_limits import ModelLimits, model_limits_json
from genkit_eval.engine.asking.numbers import is_number
from genkit_eval.errors import ConfigError

__all__ = ["Limits"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a run. A deadline is of one call, not of waiting for its turn; None means no deadline.

    `max_concurrency` counts samples in flight, from the call of the target to the last score. `sample_seconds` is the
    deadline of that whole way. `max_failures` ends the run early once so many cases have FAILED (their target or one of
    their evaluators broke): a whole number of them, or a share of all cases, like 0.1.

    The others are of the calls of models: `models` for all alike, or by "provider/model" or "provider" ("*" for all
    others); `call_seconds` for one attempt, where the model's own deadline is not enough; `retry_seconds` for all
    attempts of one call with the pauses between them, 0 for one attempt only; `retries` for how often what failed is
    sent again (where the server says that there are too many requests, only time counts). Who is told to wait for
    longer than `retry_after_most_seconds` does not.
    """

    max_concurrency: int = 32
    target_seconds: float | None = 600.0
    evaluator_seconds: float | None = 600.0
    sample_seconds: float | None = None
    max_failures: int | float | None = None
    models: ModelLimits | Mapping[str, ModelLimits] = field(default_factory=ModelLimits)
    call_seconds: float | None = None
    retry_seconds: float = 300.0
    retry_after_most_seconds: float = 120.0
    retries: int = 5

    def __post_init__(self) -> None:
        most = self.max_concurrency
        if isinstance(most, bool) or not isinstance(most, int) or most < 1:
            raise ConfigError(f"max_concurrency is {most!r}: expected a whole number from 1 up")
        for name in ("target_seconds", "evaluator_seconds", "sample_seconds", "call_seconds"):
            seconds = getattr(self, name)
            if seconds is not None and not (is_number(seconds) and math.isfinite(seconds) and seconds > 0):
                raise ConfigError(f"{name} is {seconds!r}: expected seconds above 0, or None for no deadline")
        for name in ("retry_seconds", "retry_after_most_seconds"):
            seconds = getattr(self, name)
            if not (is_number(seconds) and 0 <= seconds < math.inf):
                raise ConfigError(f"{name} is {seconds!r}: expected seconds from 0 up")
        if isinstance(self.retries, bool) or not isinstance(self.retries, int) or self.retries < 0:
            raise ConfigError(f"retries is {self.retries!r}: expected a whole number from 0 up")
        if not (self.max_failures is None or _is_count_or_share(self.max_failures)):
            raise ConfigError(
                f"max_failures is {self.max_failures!r}: expected a whole number from 1 up, or a share of the cases "
                "above 0.0 and up to 1.0"
            )

    def most_failures(self, cases: int) -> int | None:
        """How many cases of a run of this size end it by failing."""
        most = self.max_failures
        return max(1, math.ceil(most * cases)) if isinstance(most, float) else most

    def to_json(self) -> dict[str, JsonValue]:
        """As a run's key holds them."""
        form: dict[str, JsonValue] = {
            "maxConcurrency": self.max_concurrency,
            "targetSeconds": self.target_seconds,
            "evaluatorSeconds": self.evaluator_seconds,
        }
        more: dict[str, JsonValue] = {
            "sampleSeconds": self.sample_seconds,
            "maxFailures": self.max_failures,
            "models": model_limits_json(self.models) or None,
            "callSeconds": self.call_seconds,
        }
        for name, key in _RETRYING.items():
            if getattr(self, name) != getattr(_STANDARD, name):
                more[key] = getattr(self, name)
        return form | {name: value for name, value in more.items() if value is not None}


_RETRYING = {
    "retry_seconds": "retrySeconds",
    "retry_after_most_seconds": "retryAfterMostSeconds",
    "retries": "retries",
}


def _is_count_or_share(value: int | float) -> bool:
    if isinstance(value, float):
        return 0.0 < value <= 1.0
    return is_number(value) and value >= 1


_STANDARD = Limits()
