"""From what an evaluator returned to scores."""

from __future__ import annotations

import math
from enum import Enum, IntEnum
from fractions import Fraction
from typing import Any

import pytest
from pydantic import ValidationError

from genkit_eval import Direction, Outcome, Score, Status
from genkit_eval.scores import ScoreRule, as_scores

UNIT = ScoreRule(low=0, high=1)


def one(value: object, rule: ScoreRule = UNIT) -> Score:
    (score,) = as_scores(value, rule)
    return score


def test_a_boolean_is_pass_or_fail() -> None:
    assert (one(True).score, one(True).status) == (True, Status.PASS)
    assert (one(False).score, one(False).status) == (False, Status.FAIL)


def test_a_number_is_a_score_without_a_verdict() -> None:
    score = one(0.25)

    assert (score.score, score.status, score.outcome) == (0.25, Status.UNKNOWN, Outcome.VERDICT)


def test_numbers_of_other_kinds_count_as_numbers() -> None:
    assert one(Fraction(1, 4)).score == 0.25


class Tone(Enum):
    WARM = "warm"


class OldTone(str, Enum):  # noqa: UP042 - such ones say 'OldTone.COLD' when turned into text
    COLD = "cold"


class Rating(IntEnum):
    GOOD = 1


class Yes(Enum):
    YES = True


class NumpyBool:
    """As numpy's own boolean presents itself: it is neither a bool nor a number."""

    shape = ()

    def item(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("value", "score", "status"),
    [
        (Tone.WARM, "warm", Status.UNKNOWN),
        (OldTone.COLD, "cold", Status.UNKNOWN),
        (Rating.GOOD, 1, Status.UNKNOWN),
        (Yes.YES, True, Status.PASS),
        (NumpyBool(), True, Status.PASS),
    ],
)
def test_an_enum_is_its_value_and_so_is_a_boolean_of_numpy(value: object, score: object, status: Status) -> None:
    assert (one(value).score, one(value).status) == (score, status)


@pytest.mark.parametrize(
    ("direction", "number", "status"),
    [
        (Direction.MAXIMIZE, 0.5, Status.PASS),
        (Direction.MAXIMIZE, 0.49, Status.FAIL),
        (Direction.MINIMIZE, 0.5, Status.PASS),
        (Direction.MINIMIZE, 0.51, Status.FAIL),
    ],
)
def test_a_threshold_gives_numbers_a_verdict(direction: Direction, number: float, status: Status) -> None:
    rule = ScoreRule(low=0, high=1, threshold=0.5, direction=direction)

    assert one(number, rule).status is status
    assert one(Score.scored(number), rule).status is status


def test_a_status_that_was_given_stands_above_the_threshold() -> None:
    assert one(Score.failed(0.9), ScoreRule(threshold=0.5)).status is Status.FAIL


def test_text_is_a_category() -> None:
    assert (one("great").score, one("great").status) == ("great", Status.UNKNOWN)


def test_a_mapping_names_its_scores() -> None:
    scores = as_scores({"short": True, "length": 3, "tone": Score.passed("warm")})

    assert [(score.id, score.score) for score in scores] == [("short", True), ("length", 3), ("tone", "warm")]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "NoneType"),
        ([], "empty list"),
        ((), "empty tuple"),
        ({}, "empty mapping"),
        (object(), "object"),
        (math.nan, "not finite"),
        (math.inf, "not finite"),
        (1.1, "outside 0 to 1"),
        (-0.1, "outside 0 to 1"),
        (Score.scored(2.0), "outside 0 to 1"),
        ([True, False], "same id"),
        ({"a": [1]}, "score 'a' is a list"),
        (Score(reason="?"), "neither score nor status"),
        (Score(outcome=Outcome.INCONCLUSIVE, score=1), "INCONCLUSIVE score with a verdict"),
        (Score(outcome=Outcome.FAILED, status=Status.PASS), "FAILED score with a verdict"),
    ],
)
def test_what_breaks_the_rules_is_failed_and_never_a_score(value: object, words: str) -> None:
    score = one(value)

    assert (score.outcome, score.score, score.status) == (Outcome.FAILED, None, Status.UNKNOWN)
    assert words in str(score.error)


def test_a_raw_value_out_of_range_is_kept_in_the_details() -> None:
    assert one(7).details == {"raw": 7}


def test_a_coroutine_is_named_as_one() -> None:
    async def judge() -> bool:
        return True

    coroutine = judge()
    score = one(coroutine)
    coroutine.close()

    assert "async def" in str(score.error)


@pytest.mark.parametrize(("number", "kept"), [(1 + 1e-10, 1), (-1e-10, 0), (1.0, 1.0)])
def test_within_a_billionth_of_an_end_is_the_end(number: float, kept: float) -> None:
    assert one(number).score == kept
    assert one(Score.scored(number)).score == kept


def test_undecided_keeps_its_score() -> None:
    score = one(Score.undecided(0.5, reason="could be either"))

    assert (score.outcome, score.score) == (Outcome.UNDECIDED, 0.5)


@pytest.mark.parametrize("made", [lambda: Score.passed(math.nan), lambda: Score(score=math.inf)])
def test_a_score_object_refuses_what_is_not_finite(made: Any) -> None:
    with pytest.raises(ValidationError):
        made()


def test_a_number_with_more_digits_than_python_writes_is_a_failed_cell() -> None:
    assert one(10**5000).outcome is Outcome.FAILED
