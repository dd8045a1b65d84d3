"""How often a run does the same thing: the target on a sample, a judge on an output."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import JsonValue

from genkit_eval.errors import ConfigError
from genkit_eval.stored import EvalRunKey

__all__ = ["Repeats", "pass_number", "repeats_of"]


@dataclass(frozen=True, slots=True)
class Repeats:
    """How often each sample goes through the target, and how often each judge is asked about each output.

    Every pass of the target is a result of its own, all of a sample with its id and side by side; together they have a
    verdict, pass@k and pass^k. The answers of a judge (an evaluator of kind "agentic") become one score: the median of
    numbers, and what most of them say.
    """

    target: int = 1
    judge: int = 1

    def __post_init__(self) -> None:
        for name in ("target", "judge"):
            times = getattr(self, name)
            if isinstance(times, bool) or not isinstance(times, int) or times < 1:
                raise ConfigError(f"repeats of the {name} are {times!r}: expected a whole number from 1 up")

    def to_json(self) -> dict[str, JsonValue] | None:
        """As a run's key holds them; None where nothing is repeated."""
        if self == Repeats():
            return None
        return {"target": self.target, "judge": self.judge}


def pass_number(target: int | None, judge: int = 0) -> int:
    """One number for a judge's pass over a pass of the target; of its own for each pair, however many there are.

    Cantor's pairing: with more repeats of either, the pairs there were keep their number, and so their kept replies.
    """
    across = (target or 0) + judge
    return across * (across + 1) // 2 + judge


def repeats_of(key: EvalRunKey) -> Repeats:
    """The repeats that a run began with."""
    given = key.repeats or {}
    return Repeats(target=given.get("target", 1), judge=given.get("judge", 1))
