"""What does not fit a model, as whoever wrote the value reads it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator, model_validator
from pydantic.alias_generators import to_camel

from genkit_eval.misfits import explained, misfits, shown


class Part(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, validate_by_alias=True, extra="forbid")

    max_words: int = 1
    share: Annotated[float, Field(ge=0, le=1)] = 0
    name: Annotated[str, Field(min_length=3, pattern=r"^[a-z]+$")] = "abc"
    is_on: bool = False
    kind: Literal["one", "other"] = "one"
    among: str | list[str] | None = None
    figure: int | float = 0
    parts: tuple[Annotated[int, Field(gt=0)], ...] = ()
    pair: Annotated[list[int], Field(min_length=2)] = [1, 2]
    inner: dict[str, dict[str, int]] = {}
    nothing: None = None
    even: int = 0

    @field_validator("even")
    @classmethod
    def _even(cls, value: int) -> int:
        if value % 2:
            raise ValueError("expected an even number")
        return value

    @model_validator(mode="after")
    def _together(self) -> Part:
        if self.max_words > 5 and self.is_on:
            raise ValueError("at most 5 words where it is on")
        return self


class Whole(BaseModel):
    part: Part
    parts: list[Part | Literal["none"]] = []


def wrong(kind: Any, document: Any) -> str:
    try:
        TypeAdapter(kind).validate_python(document)
    except ValidationError as problem:
        return explained(problem, document)
    raise AssertionError(f"{document!r} fits")


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"max_words": "many"}, "max_words: expected a whole number, found 'many'"),
        ({"maxWords": 2.5}, "maxWords: expected a whole number, found 2.5"),
        ({"maxWords": None}, "maxWords: expected a whole number, found null"),
        ({"share": 2}, "share: expected less than or equal to 1, found 2"),
        ({"share": {}}, "share: expected a number, found an object"),
        ({"name": " "}, "name: is empty"),
        ({"name": "ab"}, "name: expected at least 3 characters, found 'ab'"),
        ({"name": "ABC"}, "name: expected text that matches ^[a-z]+$, found 'ABC'"),
        ({"name": True}, "name: expected text, found true"),
        ({"isOn": "maybe"}, "isOn: expected true or false, found 'maybe'"),
        ({"kind": "two"}, "kind: expected 'one' or 'other', found 'two'"),
        ({"among": 3}, "among: expected text or a list, found 3"),
        ({"among": ["a", 3]}, "among[1]: expected text, found 3"),
        ({"figure": "high"}, "figure: expected a whole number or a number, found 'high'"),
        ({"parts": [1, 0]}, "parts[1]: expected greater than 0, found 0"),
        ({"parts": "ab"}, "parts: expected a list, found 'ab'"),
        ({"pair": [1]}, "pair: expected at least 2 items, found 1"),
        ({"inner": {"a.b c": {"int": "x"}}}, "inner.a.b c.int: expected a whole number, found 'x'"),
        ({"nothing": 1}, "nothing: expected null, found 1"),
        ({"even": 3}, "even: expected an even number, found 3"),
        ({"maxWords": 6, "isOn": True}, "at most 5 words where it is on"),
        ({"most": 1}, "most: unknown key"),
        ([], "expected an object, found a list"),
    ],
)
def test_it_is_told_without_the_words_of_pydantic(document: Any, said: str) -> None:
    assert wrong(Part, document) == said


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({}, "part: is missing"),
        ({"part": {"maxWords": 6, "isOn": True}}, "part: at most 5 words where it is on"),
        ({"part": {}, "parts": ["some"]}, "parts[0]: expected an object or 'none', found 'some'"),
        ({"part": {}, "parts": [{}, {"even": 1}]}, "parts[1].even: expected an even number, found 1"),
    ],
)
def test_its_place_is_the_way_there_through_the_document(document: Any, said: str) -> None:
    assert wrong(Whole, document) == said


def test_a_value_that_is_no_document_has_no_place() -> None:
    assert wrong(int, "many") == "expected a whole number, found 'many'"
    assert wrong(int | list[int], "many") == "expected a whole number or a list, found 'many'"


def test_a_message_that_tells_the_value_tells_it_once() -> None:
    class Named(BaseModel):
        name: str

        @field_validator("name")
        @classmethod
        def _refuse(cls, value: str) -> str:
            raise ValueError(f"{value!r} is taken")

    class Counted(BaseModel):
        number: int

        @field_validator("number")
        @classmethod
        def _refuse(cls, value: int) -> int:
            raise ValueError("at least 10")

    assert wrong(Named, {"name": "a"}) == "name: 'a' is taken"
    assert wrong(Counted, {"number": 1}) == "number: at least 10, found 1"


def test_no_more_than_five_are_told_and_all_are_counted() -> None:
    said = wrong(list[int], [*"abcdefg"])

    assert said.startswith("[0]: expected a whole number, found 'a'; [1]: ")
    assert said.endswith("found 'e'; and 2 more")


def test_all_can_be_had_by_place() -> None:
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(list[int]).validate_python([*"abcdefg"])

    assert [place for place, _ in misfits(refused.value, [*"abcdefg"])] == [f"[{number}]" for number in range(7)]


def test_of_a_long_value_the_beginning_is_shown() -> None:
    assert shown("x" * 500) == "'" + "x" * 79 + "…"
    assert shown({"a": 1}) == "an object"
