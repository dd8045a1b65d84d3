"""JSON as this package reads and writes it."""

from __future__ import annotations

import enum
import json
import math
import uuid
from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, field_serializer

from genkit_eval._json import dump, json_bytes, json_form, json_text, load
from genkit_eval.errors import NotJson


class Colour(enum.Enum):
    RED = "red"


class Point(NamedTuple):
    x: int
    y: int


@dataclass
class Food:
    name: str
    tags: tuple[str, ...] = ()


class Answer(BaseModel):
    text: str = Field(alias="answerText")
    when: datetime | None = None


@pytest.mark.parametrize(
    ("value", "form"),
    [
        ((1, (2, 3)), [1, [2, 3]]),
        ({1: "a", "b": 2}, {"1": "a", "b": 2}),
        (Food("pea", ("green",)), {"name": "pea", "tags": ["green"]}),
        ([Food("pea")], [{"name": "pea", "tags": []}]),
        (
            Answer(answerText="hi", when=datetime(2026, 1, 2, tzinfo=UTC)),
            {"answerText": "hi", "when": "2026-01-02T00:00:00Z"},
        ),
        (Point(1, 2), [1, 2]),
        (Colour.RED, "red"),
        ({"b", "a"}, ["a", "b"]),
        (date(2026, 1, 2), "2026-01-02"),
        (datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02T00:00:00+00:00"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (OrderedDict(a=1), {"a": 1}),
        (2**70, 2**70),
        (None, None),
    ],
)
def test_python_values_have_a_json_form(value: object, form: Any) -> None:
    data, got = json_bytes(value)

    assert got == form
    assert type(got) is type(form)
    assert load(data) == form


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (math.nan, "the number nan"),
        ({"a": [math.inf]}, r"the number inf at a\[0\]"),
        (b"x", "type bytes"),
        ((i for i in ()), "type generator"),
        (print, "builtin"),
        ({("a",): 1}, "key of type tuple"),
        ({True: 1}, "key of type bool"),
        ({1, "a"}, "no order"),
        ("half \ud800", "surrogate"),
        ({"\udfff": 1}, "surrogate"),
    ],
)
def test_what_has_no_json_form_is_refused_with_its_place(value: object, found: str) -> None:
    with pytest.raises(NotJson, match=found):
        json_form(value)


@pytest.mark.case("deep-equal/cyclic-output")
def test_a_cycle_is_refused_at_once() -> None:
    cycle: list[Any] = []
    cycle.append(cycle)

    with pytest.raises(NotJson, match="cycle"):
        json_form(cycle)


@pytest.mark.parametrize("inside", ["1", "12345678901234567890123"])
def test_json_text_that_nests_too_deeply_is_refused_like_any_that_is_none(inside: str) -> None:
    with pytest.raises(ValueError, match=r"deep|depth"):
        load("[" * 200_000 + inside + "]" * 200_000)


def test_a_model_that_does_not_serialise_is_refused() -> None:
    class Broken(BaseModel):
        x: int = 1

        @field_serializer("x")
        def no(self, value: int) -> int:
            raise ValueError("never")

    with pytest.raises(NotJson, match="Broken"):
        json_form(Broken())


def test_the_form_is_a_copy() -> None:
    value = {"a": [1]}

    form = json_form(value)
    value["a"].append(2)

    assert form == {"a": [1]}


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**80), 2**80)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_json_values_come_back_as_they_were(value: Any) -> None:
    data, form = json_bytes(value)

    assert json.dumps(form) == json.dumps(value)
    assert json.dumps(load(data)) == json.dumps(value)


@pytest.mark.parametrize(
    "text", ["NaN", "[Infinity]", '{"a": -Infinity}', "1e999", "[12345678901234567890123, 1e999]", "{", ""]
)
def test_what_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  # each parser says it in its own words
        load(text)


def test_text_is_itself_and_anything_else_compact_json() -> None:
    assert json_text("a b") == "a b"
    assert json_text({"a": [1, None, "é"]}) == '{"a":[1,null,"é"]}'
    assert dump(2**65) == str(2**65).encode()


def test_keys_that_become_the_same_text_are_refused() -> None:
    with pytest.raises(NotJson, match="a number and its text as keys"):
        json_form({"a": {1: "x", "1": "y"}})
