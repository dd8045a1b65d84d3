"""Evaluators made of others: `all_of`, `any_of`, `negate`, `weighted`, and `gate`, which saves a dear one.

A part is the name of an evaluator, a reference with options, or a combination again. Each part is asked as if it stood
alone; the combination's findings hold what each part said, followed by the part's own findings.

What a combination comes to when a part is not settled (in this order, where it matters):

- `all_of` is FAIL if a part fails, and `any_of` PASS if a part passes, whatever the others are: they could not turn it.
- Else a part that broke makes it FAILED, one that is undecided makes it UNDECIDED, an inconclusive one INCONCLUSIVE.
- `weighted` may leave inconclusive parts out (`missing="leave_out"`): then the weights of the others count.
- A part that gives a score without PASS or FAIL has a say in `weighted` only: any other combination is FAILED then.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, get_args

from pydantic import JsonValue

from genkit_eval.errors import ConfigError
from genkit_eval.registry import EvaluatorRef
from genkit_eval.scores import EDGE, ScoreRule
from genkit_eval.types import Direction, Finding, Outcome, Score, Status

__all__ = ["Combination", "Heard", "Part", "all_of", "any_of", "gate", "negate", "settled", "weighted"]

MOST_OF_REASON = 200
Otherwise = Literal["FAIL", "PASS", "INCONCLUSIVE"]
Missing = Literal["inconclusive", "leave_out"]


@dataclass(frozen=True, slots=True)
class Combination:
    """Evaluators that are asked together, and how what they say becomes one score; made by `all_of` and the others."""

    rule: str
    parts: tuple[Part, ...]
    decide: Callable[[Sequence[Heard]], Sequence[Score]]
    settings: Mapping[str, JsonValue] = field(default_factory=dict)
    goes_on: Callable[[Heard], bool] | None = None
    """Whether the parts after the first are asked, by what the first said; None: all of them are, side by side."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What a part said, and the range and direction that it declares."""

    name: str
    scores: Sequence[Score]
    rule: ScoreRule = field(default_factory=ScoreRule)


Part = str | EvaluatorRef | Combination


def all_of(*parts: Part) -> Combination:
    """PASS when every part passes."""
    return Combination("all_of", _some(parts, "all_of"), partial(_decided, Status.FAIL))


def any_of(*parts: Part) -> Combination:
    """PASS when at least one part passes."""
    return Combination("any_of", _some(parts, "any_of"), partial(_decided, Status.PASS))


def negate(part: Part) -> Combination:
    """PASS when the part fails; a score is mirrored within the range that the part declares."""
    return Combination("negate", _some((part,), "negate"), _negated)


def weighted(*parts: tuple[Part, float], threshold: float = 0.5, missing: Missing = "inconclusive") -> Combination:
    """The weighted mean of the parts' scores, each put to 0 to 1 with 1 the better end; PASS at `threshold`.

    A part's range is the one it declares; a PASS or a FAIL without a number, or with a boolean, counts 1 or 0.

    Args:
        parts: pairs of a part and its weight; weights need not add up to 1, and a part whose weight is 0 has no say.
        missing: what an inconclusive part does: it makes the whole inconclusive, or is left out.
    """
    for pair in parts:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise ConfigError(f"weighted takes pairs of an evaluator and its weight, found {pair!r:.80}")
        is_number = isinstance(pair[1], int | float) and not isinstance(pair[1], bool)
        if not (is_number and math.isfinite(pair[1]) and pair[1] >= 0):
            raise ConfigError(f"weighted: a weight is {pair[1]}, expected a number, 0 or more")
    _one_of(missing, get_args(Missing), "weighted: missing")
    weights = [weight for _, weight in parts]
    if parts and not any(weights):
        raise ConfigError("weighted: all weights are 0, so that nothing has a say: expected one above 0")
    if not 0 <= threshold <= 1:
        raise ConfigError(f"weighted: the threshold is {threshold}, expected 0 to 1")
    return Combination(
        "weighted",
        _some([part for part, _ in parts], "weighted"),
        partial(_weighed, weights, threshold, missing == "leave_out"),
        {"weights": [*weights], "threshold": threshold, "missing": missing},
    )


def gate(condition: Part, then: Part, *, otherwise: Otherwise = "FAIL") -> Combination:
    """What `then` says where the condition passes; where it fails, `then` is not asked, and the case is `otherwise`.

    So a cheap rule decides whether a dear judge runs. Where the condition is not settled, `then` is not asked either,
    and the whole is as unsettled as the condition.
    """
    _one_of(otherwise, get_args(Otherwise), "gate: otherwise")
    return Combination(
        "gate",
        _some((condition, then), "gate"),
        partial(_gated, otherwise),
        {"otherwise": otherwise},
        goes_on=lambda heard: _standing(heard) is Status.PASS,
    )


def _one_of(given: str, known: Sequence[str], what: str) -> None:
    if given not in known:
        raise ConfigError(f"{what} is {given!r}, expected {' or '.join(known)}")


def _some(parts: Sequence[Part], rule: str) -> tuple[Part, ...]:
    if not parts:
        raise ConfigError(f"{rule} has no parts: give it evaluators")
    for part in parts:
        if not isinstance(part, str | EvaluatorRef | Combination):
            raise ConfigError(
                f"{rule}: a part is of type {type(part).__name__}: give an evaluator's name, ref(name, option=…), or "
                "a combination"
            )
    return tuple(parts)


# --- what the parts said, and what it comes to: pure functions ---


def _standing(heard: Heard) -> Status | Score:
    """PASS or FAIL, or the unsettled score that keeps the part from having a say. Of several scores each must pass."""
    if any(score.status is Status.FAIL for score in heard.scores):
        return Status.FAIL
    for outcome in (Outcome.FAILED, Outcome.UNDECIDED, Outcome.INCONCLUSIVE):
        for score in heard.scores:
            if score.outcome is outcome:
                return _because_of(heard.name, score)
    if any(score.status is Status.UNKNOWN for score in heard.scores):
        return Score.broke(f"{heard.name} gives a score without PASS or FAIL: give it a threshold")
    return Status.PASS


def _because_of(name: str, score: Score) -> Score:
    if score.outcome is Outcome.FAILED:
        return Score.broke(f"{name}: {score.error or score.reason or 'it broke'}")
    why = f"{name}: {score.reason or 'no reason given'}"
    return Score.undecided(reason=why) if score.outcome is Outcome.UNDECIDED else Score.inconclusive(reason=why)


def _unsettled(standings: Sequence[Status | Score]) -> Score | None:
    """The worst of what is not settled."""
    for outcome in (Outcome.FAILED, Outcome.UNDECIDED, Outcome.INCONCLUSIVE):
        for standing in standings:
            if isinstance(standing, Score) and standing.outcome is outcome:
                return standing
    return None


def _decided(decisive: Status, heard: Sequence[Heard]) -> Sequence[Score]:
    """`all_of`, where a FAIL decides, and `any_of`, where a PASS does."""
    standings = [_standing(part) for part in heard]
    settled = decisive in standings
    unsettled = None if settled else _unsettled(standings)
    if unsettled is not None:
        return [_showing(unsettled, heard)]
    passed = (decisive is Status.PASS) == settled
    passing = [part.name for part, standing in zip(heard, standings, strict=True) if standing is Status.PASS]
    failing = [_why(part) for part, standing in zip(heard, standings, strict=True) if standing is Status.FAIL]
    if passed:
        reason = f"{len(passing)} of {len(heard)} pass" + ("" if len(passing) == len(heard) else f": {_list(passing)}")
        return [_showing(Score.passed(True, reason=reason), heard)]
    return [_showing(Score.failed(False, reason=f"{len(failing)} of {len(heard)} fail: {_list(failing)}"), heard)]


def _why(failing: Heard) -> str:
    """The part's name and the reason that it gave, which a report shows where it does not show findings."""
    reason = next((score.reason for score in failing.scores if score.status is Status.FAIL and score.reason), None)
    return failing.name if reason is None else f"{failing.name} ({reason:.{MOST_OF_REASON}})"


def _negated(heard: Sequence[Heard]) -> Sequence[Score]:
    [part] = heard
    standing = _standing(part)
    if isinstance(standing, Score):
        return [_showing(standing, heard)]
    reason = f"{part.name} is {standing.value}"
    made = Score.failed if standing is Status.PASS else Score.passed
    if len(part.scores) > 1:
        return [_showing(made(reason=reason), heard)]
    return [_showing(made(_mirrored(part.scores[0], part.rule), reason=reason), heard)]


def _mirrored(score: Score, rule: ScoreRule) -> bool | float | None:
    value = score.score
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float) and rule.low is not None and rule.high is not None:
        return rule.low + rule.high - value
    return None


def _weighed(weights: Sequence[float], threshold: float, leave_out: bool, heard: Sequence[Heard]) -> Sequence[Score]:
    values = [(_value(part), weight) for part, weight in zip(heard, weights, strict=True) if weight]
    unsettled = _unsettled([value for value, _ in values if isinstance(value, Score)])
    counted = [(value, weight) for value, weight in values if isinstance(value, float)]
    if unsettled is not None and not (leave_out and unsettled.outcome is Outcome.INCONCLUSIVE and counted):
        return [_showing(unsettled, heard)]
    total = math.fsum(weight for _, weight in counted)
    mean = math.fsum(value * weight for value, weight in counted) / total
    # rounding may carry it out of its range by a last digit
    mean = min(max(mean, 0.0), 1.0)
    made = Score.passed if mean >= threshold - EDGE else Score.failed
    return [_showing(made(mean, reason=f"weighted mean of {len(counted)} of {len(heard)} parts"), heard)]


def _value(part: Heard) -> float | Score:
    """The part's score put to 0 to 1, 1 the better end; the mean of several; or what keeps it from having one."""
    values = [_placed(part.name, score, part.rule) for score in part.scores]
    unsettled = _unsettled([value for value in values if isinstance(value, Score)])
    return unsettled or math.fsum(value for value in values if isinstance(value, float)) / len(values)


def _placed(name: str, score: Score, rule: ScoreRule) -> float | Score:
    if score.outcome is not Outcome.VERDICT:
        return _because_of(name, score)
    number = None if isinstance(score.score, bool | str) else score.score
    if number is not None and rule.low is not None and rule.high is not None:
        share = (number - rule.low) / (rule.high - rule.low)
        return 1.0 - share if rule.direction is Direction.MINIMIZE else share
    if number is None and score.status is not Status.UNKNOWN:
        return 1.0 if score.status is Status.PASS else 0.0
    what = "a text" if isinstance(score.score, str) else "a score"
    return Score.broke(f"{name} gives {what} that cannot be weighed: it declares no range (low=…, high=…)")


def settled(part: Heard) -> Score:
    """PASS or FAIL as the one part says, or as unsettled as it is; with the reasons it gave."""
    standing = _standing(part)
    if isinstance(standing, Score):
        return _showing(standing, [part])
    passed = standing is Status.PASS
    reasons = "; ".join(score.reason for score in part.scores if score.reason)
    made = Score.passed if passed else Score.failed
    return _showing(made(passed, reason=f"{part.name}: {reasons or standing.value}"), [part])


def _gated(otherwise: Otherwise, heard: Sequence[Heard]) -> Sequence[Score]:
    condition, *then = heard
    if then:
        first, *others = then[0].scores
        return [_showing(first, [condition], before=True), *others]
    standing = _standing(condition)
    if isinstance(standing, Score):
        return [_showing(standing, heard)]
    reason = f"not asked further: {condition.name} is FAIL"
    if otherwise == "INCONCLUSIVE":
        return [_showing(Score.inconclusive(reason=reason), heard)]
    made = Score.passed if otherwise == "PASS" else Score.failed
    return [_showing(made(reason=reason), heard)]


def _showing(score: Score, heard: Sequence[Heard], *, before: bool = False) -> Score:
    """The score with what each part said, and its findings; `before` those that the score has itself."""
    findings = [finding for part in heard for said in part.scores for finding in _findings(part.name, said)]
    return score.model_copy(update={"findings": [*findings, *score.findings] if before else findings})


def _findings(name: str, score: Score) -> Sequence[Finding]:
    details: dict[str, JsonValue] = {"outcome": score.outcome.value}
    if score.score is not None:
        details["score"] = score.score
    passed = None if score.status is Status.UNKNOWN else score.status is Status.PASS
    text = name if score.id is None else f"{name}/{score.id}"
    whole: dict[str, object] = {"text": text, "passed": passed, "category": "part", "details": details}
    whole["reason"] = score.error or score.reason
    return [Finding.trusted({key: value for key, value in whole.items() if value is not None}), *score.findings]


def _list(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
