"""How much a run may do at once, and how long a call may take."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pydantic import JsonValue

from genkit_eval.errors import ConfigError

__all__ = ["Limits"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a run. A deadline is of one call, not of waiting for its turn; None means no deadline.

    `max_concurrency` counts samples in flight, from the call of the target to the last score.
    """

    max_concurrency: int = 32
    target_seconds: float | None = 600.0
    evaluator_seconds: float | None = 600.0

    def __post_init__(self) -> None:
        most = self.max_concurrency
        if isinstance(most, bool) or not isinstance(most, int) or most < 1:
            raise ConfigError(f"max_concurrency is {most!r}: expected a whole number from 1 up")
        for name in ("target_seconds", "evaluator_seconds"):
            seconds = getattr(self, name)
            if seconds is not None and not (_is_number(seconds) and math.isfinite(seconds) and seconds > 0):
                raise ConfigError(f"{name} is {seconds!r}: expected seconds above 0, or None for no deadline")

    def to_json(self) -> dict[str, JsonValue]:
        """As a run's key holds them."""
        return {
            "maxConcurrency": self.max_concurrency,
            "targetSeconds": self.target_seconds,
            "evaluatorSeconds": self.evaluator_seconds,
        }


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
