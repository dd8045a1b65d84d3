"""Numbers that people read say nothing that is not so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genkit_eval.report.numbers import dollars, duration, number, percent


@pytest.mark.case("comparison/rounding-to-100")
@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (199, 200, "99.5 %"),
        (99_999, 100_000, "99.999 %"),
        (1, 100_000, "0.001 %"),
        (1, 3, "33.3 %"),
        (1, 2, "50 %"),
        (0, 7, "0 %"),
        (7, 7, "100 %"),
    ],
)
def test_percent(part: int, whole: int, text: str) -> None:
    assert percent(part, whole) == text


@given(st.integers(1, 10**7), st.integers(0, 10**7))
def test_all_and_none_are_said_only_of_all_and_none(whole: int, part: int) -> None:
    text = percent(min(part, whole), whole)

    assert (text == "100 %") == (part >= whole)
    assert (text == "0 %") == (part == 0)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, "0.5"),
        (1 / 3, "0.3333"),
        (0.999996, "0.999996"),
        (1.0, "1"),
        (44.824, "44.82"),
        (-0.5, "-0.5"),
        (123456.0, "123456"),
        (0.0, "0"),
        (1e-7, "1e-07"),
        (1.5e20, "1.5e+20"),
    ],
)
def test_number(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0004, "0 ms"),
        (0.04, "40 ms"),
        (0.0996, "0.1 s"),
        (9.96, "10 s"),
        (59.7, "1 min 0 s"),
        (200, "3 min 20 s"),
        (7500, "2 h 5 min"),
    ],
)
def test_duration(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (0, "0.00"),
        (0.1, "0.10"),
        (1.4, "1.40"),
        (0.0123, "0.012"),
        (0.00012, "0.00012"),
        (0.00104, "0.0010"),
        (6.5e-5, "0.000065"),
        (3e-7, "0.00000030"),
    ],
)
def test_dollars_never_look_like_nothing_where_they_are_something(amount: float, text: str) -> None:
    assert dollars(amount) == text
