"""From what an evaluator returned to scores: the one normaliser, and the rules a score must obey."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from numbers import Real

from genkit_eval.types import Direction, Outcome, Score, Status

__all__ = ["EDGE", "ScoreRule", "as_scores"]

TRUE = Score.trusted({"score": True, "status": Status.PASS, "outcome": Outcome.VERDICT})
FALSE = Score.trusted({"score": False, "status": Status.FAIL, "outcome": Outcome.VERDICT})
EDGE = 1e-9
"""By so much a number may miss a limit for having been rounded: 0.7 as a sum of tenths is 0.7."""


@dataclass(frozen=True, slots=True)
class ScoreRule:
    """What an evaluator declared about its numbers: range, threshold and direction."""

    low: float | None = None
    high: float | None = None
    threshold: float | None = None
    direction: Direction = Direction.MAXIMIZE

    @property
    def free(self) -> bool:
        """Whether every finite number is in range and none passes or fails."""
        return self.low is None and self.high is None and self.threshold is None

    @property
    def problem(self) -> str | None:
        """What keeps numbers from obeying it, or None."""
        for label, value in (("low", self.low), ("high", self.high), ("threshold", self.threshold)):
            if value is not None and not math.isfinite(value):
                return f"{label} is {value}, expected a finite number"
        if self.low is not None and self.high is not None and self.low >= self.high:
            return f"its range is empty ({self.low} to {self.high})"
        if self.threshold is not None and self.clipped(self.threshold) is None:
            return f"threshold {self.threshold} is outside its range {self.bounds()}"
        return None

    def clipped(self, number: float) -> float | None:
        """The number, moved to an end of the range when it is within 1e-9 of it; None when it is outside."""
        if self.low is not None and number < self.low:
            return self.low if number >= self.low - EDGE else None
        if self.high is not None and number > self.high:
            return self.high if number <= self.high + EDGE else None
        return number

    def status(self, number: float) -> Status:
        """PASS or FAIL by the declared threshold, UNKNOWN without one."""
        if self.threshold is None:
            return Status.UNKNOWN
        better = number >= self.threshold if self.direction is Direction.MAXIMIZE else number <= self.threshold
        return Status.PASS if better else Status.FAIL

    def bounds(self) -> str:
        """The range in words, as error messages say it."""
        low = "-∞" if self.low is None else f"{self.low:g}"
        high = "∞" if self.high is None else f"{self.high:g}"
        return f"{low} to {high}"


FREE = ScoreRule()


def as_scores(value: object, rule: ScoreRule = FREE) -> Sequence[Score]:
    """The scores in what an evaluator returned; never empty.

    A boolean is PASS or FAIL; a number a score (PASS or FAIL only by a declared threshold); text a category; an
    enum its value; a `Score` itself; a list several scores; a mapping score id → any of these. Anything else, and a
    score that breaks the rule (not finite, out of range, two of one id), is one score with outcome FAILED.
    """
    if value is True:
        return (TRUE,)
    if value is False:
        return (FALSE,)
    if type(value) is Score:
        return (_checked(value, rule),)
    if isinstance(value, Mapping):
        return _distinct([_named(str(name), item, rule) for name, item in value.items()], "an empty mapping")
    if isinstance(value, list | tuple):
        return _distinct([_one(item, rule) for item in value], f"an empty {type(value).__name__}")
    return (_one(value, rule),)


def _one(value: object, rule: ScoreRule) -> Score:
    if value is True:
        return TRUE
    if value is False:
        return FALSE
    if isinstance(value, Score):
        return _checked(value, rule)
    if isinstance(value, Enum):
        return _one(value.value, rule)
    if isinstance(value, str):
        return Score.trusted({"score": str(value), "status": Status.UNKNOWN, "outcome": Outcome.VERDICT})
    if isinstance(value, Real):
        return _number(value, rule)
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        # numpy's own boolean, or an array of one number
        return _one(value.item(), rule)
    kind = type(value).__name__
    if inspect.iscoroutine(value):
        value.close()
        kind = "a coroutine (define it with 'async def')"
    return Score.broke(f"the evaluator returned {kind}: expected bool, number, text, Score, list or mapping of those")


def _number(value: Real, rule: ScoreRule) -> Score:
    number = _finite(value)
    if number is None:
        return _not_finite(value)
    if rule.free:
        return Score.trusted({"score": number, "status": Status.UNKNOWN, "outcome": Outcome.VERDICT})
    kept = rule.clipped(number)
    if kept is None:
        return _out_of_range(number, rule)
    return Score.trusted({"score": kept, "status": rule.status(kept), "outcome": Outcome.VERDICT})


def _finite(value: Real | float) -> int | float | None:
    """The number, or None where no float comes near it."""
    try:
        number = int(value) if isinstance(value, int) else float(value)
        return number if math.isfinite(number) else None
    except OverflowError:
        return None


def _not_finite(value: Real | float) -> Score:
    # an integer may have more digits than Python agrees to write
    raw = str(value) if isinstance(value, float) else f"{type(value).__name__} beyond 1e308"
    return Score.broke(f"the score {raw} is not finite", details={"raw": raw})


def _out_of_range(number: float, rule: ScoreRule) -> Score:
    return Score.broke(f"the score {number} is outside {rule.bounds()}", details={"raw": number})


def _checked(score: Score, rule: ScoreRule) -> Score:
    """A Score as given, unless it contradicts itself or the rule."""
    value = score.score
    if score.outcome in (Outcome.INCONCLUSIVE, Outcome.FAILED):
        if value is not None or score.status is not Status.UNKNOWN:
            return Score.broke(f"the evaluator returned a {score.outcome} score with a verdict: give one or the other")
        return score
    if value is None:
        if score.outcome is Outcome.VERDICT and score.status is Status.UNKNOWN:
            return Score.broke("the evaluator returned a Score with neither score nor status")
        return score
    if isinstance(value, bool | str):
        return score
    if _finite(value) is None:
        return _not_finite(value)
    kept = rule.clipped(value)
    if kept is None:
        return _out_of_range(value, rule)
    if rule.threshold is not None and not score.has("status") and score.outcome is Outcome.VERDICT:
        return score.model_copy(update={"score": kept, "status": rule.status(kept)})
    return score if kept == value else score.model_copy(update={"score": kept})


def _named(name: str, value: object, rule: ScoreRule) -> Score:
    if isinstance(value, Mapping | list | tuple):
        return Score.broke(f"score '{name}' is a {type(value).__name__}: expected bool, number, text or Score", id=name)
    return _one(value, rule).model_copy(update={"id": name})


def _distinct(scores: list[Score], empty: str) -> Sequence[Score]:
    if not scores:
        return (Score.broke(f"the evaluator returned {empty}: expected at least one score"),)
    ids = [score.id for score in scores]
    if len(set(ids)) != len(ids):
        return (Score.broke(f"the evaluator returned two scores with the same id: {ids}"),)
    return scores
