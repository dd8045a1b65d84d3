"""Types of answer fields: which spellings they understand, what they refuse, what schema they show."""

from __future__ import annotations

from typing import Annotated

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from genkit_eval.answers import Choice, Rating, Scale, Unit, Verdict
from genkit_eval.errors import ConfigError

LIKERT: TypeAdapter[int] = TypeAdapter(Annotated[int, Scale(1, 5)])
ACCURACY: TypeAdapter[int] = TypeAdapter(Annotated[int, Rating(0, 2, 4)])
LABEL: TypeAdapter[str] = TypeAdapter(Annotated[str, Choice("correct", "incorrect")])
UNIT: TypeAdapter[float | None] = TypeAdapter(Unit)
VERDICT: TypeAdapter[bool] = TypeAdapter(Verdict)


@pytest.mark.parametrize("value", [True, 1, "1", "true", "True", " yes ", "YES", "Yes.", "**true**", "`1`"])
def test_a_verdict_understands_the_spellings_of_true(value: object) -> None:
    assert VERDICT.validate_python(value) is True


@pytest.mark.parametrize("value", [False, 0, "0", "false", "No", "'no'.", "*False*"])
def test_a_verdict_understands_the_spellings_of_false(value: object) -> None:
    assert VERDICT.validate_python(value) is False


@pytest.mark.parametrize(
    "value",
    ["partially", "", "t", "on", "10", "-1", "1.0", "yes, but", "yes no", "...", 2, -1, 0.0, 1.0, None, [], {}, [True]],
)
def test_a_verdict_refuses_anything_else(value: object) -> None:
    with pytest.raises(ValidationError, match="expected true or false"):
        VERDICT.validate_python(value)


@pytest.mark.parametrize(
    ("value", "number"), [(0, 0.0), (1, 1.0), (0.8, 0.8), (" 0.8 ", 0.8), ("1", 1.0), ("0.5/1", 0.5), ("+0.5", 0.5)]
)
def test_a_unit_is_a_number_from_0_to_1(value: object, number: float) -> None:
    assert UNIT.validate_python(value) == number


def test_a_unit_may_be_null() -> None:
    assert UNIT.validate_python(None) is None


@pytest.mark.parametrize(
    "value",
    ["0,8", "80%", "4/5", "0.8 of 1", "1e-1", "nan", "inf", "NaN", "", "high", ".", True, -0.1, 1.1, "1.1", [0.5]],
)
def test_a_unit_refuses_what_is_no_number_of_it(value: object) -> None:
    with pytest.raises(ValidationError):
        UNIT.validate_python(value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 10**400])
def test_a_unit_refuses_what_is_not_finite(value: float) -> None:
    with pytest.raises(ValidationError, match="from 0 to 1"):
        UNIT.validate_python(value)


@pytest.mark.parametrize("value", [4, 4.0, "4", "4/5", "4 / 5", "4.0"])
def test_a_scale_takes_a_number_out_of_its_own_end(value: object) -> None:
    assert LIKERT.validate_python(value) == 4


@pytest.mark.parametrize("value", ["8/10", "4/4", 0, 6, "6", 4.5, "4.5", None, False])
def test_a_scale_refuses_other_scales_and_what_is_beside_it(value: object) -> None:
    with pytest.raises(ValidationError):
        LIKERT.validate_python(value)


@pytest.mark.parametrize("value", [0, 2, 4, "2", 4.0])
def test_a_rating_is_one_of_its_numbers(value: object) -> None:
    assert ACCURACY.validate_python(value) in {0, 2, 4}


@pytest.mark.parametrize("value", [1, 3, 40, 10, "40", "4 of 4", True, None])
def test_a_rating_refuses_other_numbers(value: object) -> None:
    with pytest.raises(ValidationError):
        ACCURACY.validate_python(value)


def test_a_refused_number_names_those_that_are_expected() -> None:
    with pytest.raises(ValidationError, match="expected 0 or 2 or 4"):
        ACCURACY.validate_python(3)


@pytest.mark.parametrize("value", ["incorrect", "Incorrect", " **INCORRECT**. ", "[incorrect]", '"incorrect"'])
def test_a_choice_sees_neither_case_nor_markup(value: str) -> None:
    assert LABEL.validate_python(value) == "incorrect"


@pytest.mark.parametrize("value", ["second best", "second_best", "Second-Best", "SECOND  BEST", "**second_best**."])
def test_what_joins_the_words_of_a_choice_does_not_matter(value: str) -> None:
    grade: TypeAdapter[str] = TypeAdapter(Annotated[str, Choice("right", "second best")])

    assert grade.validate_python(value) == "second best"


@pytest.mark.parametrize("value", ["not correct", "in correct", "correctly", "", 1])
def test_a_choice_refuses_other_words(value: object) -> None:
    with pytest.raises(ValidationError, match="expected 'correct' or 'incorrect'"):
        LABEL.validate_python(value)


@pytest.mark.parametrize("labels", [(), ("good", "Good"), ("good", "good."), ("good", "!"), ("so so", "so-so")])
def test_labels_that_cannot_be_told_apart_are_refused(labels: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError, match="expected some that differ"):
        Choice(*labels)


def test_the_schema_tells_the_judge_what_is_allowed() -> None:
    class Rated(BaseModel):
        verdict: Verdict
        rating: Annotated[int, Rating(0, 2, 4)]
        score: Unit
        label: Annotated[str, Choice("good", "bad")]

    fields = Rated.model_json_schema()["properties"]

    assert fields["verdict"]["type"] == "boolean"
    assert fields["rating"]["enum"] == [0, 2, 4]
    assert fields["score"]["anyOf"] == [{"type": "number", "minimum": 0, "maximum": 1}, {"type": "null"}]
    assert fields["label"]["enum"] == ["good", "bad"]
