"""Vectors, as embedders give them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genkit_eval.vectors import cosine, unit

NUMBER = st.floats(allow_nan=False, allow_infinity=False)
PAIR = st.integers(1, 8).flatmap(lambda n: st.tuples(*[st.lists(NUMBER, min_size=n, max_size=n).filter(any)] * 2))


@pytest.mark.parametrize(
    ("a", "b", "value"),
    [
        ([1, 0], [1, 1], 1 / math.sqrt(2)),
        ([3, 4], [4, 3], 24 / 25),
        ([1, 2], [-2, -4], -1),
        ([1, 0], [0, 1], 0),
        ([1e-200, 0], [1e200, 0], 1),
    ],
)
def test_the_cosine_of(a: list[float], b: list[float], value: float) -> None:
    assert cosine(a, b) == pytest.approx(value, abs=1e-15)


@given(PAIR)
def test_a_cosine_is_within_its_bounds_and_symmetric(pair: tuple[list[float], list[float]]) -> None:
    a, b = pair

    assert -1 <= cosine(a, b) <= 1
    assert cosine(a, b) == cosine(b, a)


@pytest.mark.parametrize(
    ("a", "b", "problem"),
    [
        ([0, 0], [1, 0], "all zeros"),
        ([1], [1, 2], "1 and 2 numbers"),
        ([], [], "0 and 0 numbers"),
        ([math.nan, 1], [1, 1], "not finite"),
        ([1, 1], [math.inf, 1], "not finite"),
    ],
)
def test_vectors_without_an_angle_are_refused(a: list[float], b: list[float], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        cosine(a, b)


@given(PAIR)
def test_products_of_unit_vectors_are_cosines(pair: tuple[list[float], list[float]]) -> None:
    a, b = pair

    product = math.fsum(x * y for x, y in zip(unit(a), unit(b), strict=True))

    assert product == pytest.approx(cosine(a, b), abs=1e-12)


@pytest.mark.parametrize("vector", [[], [0.0, 0.0], [math.nan], [math.inf, 1.0]])
def test_a_vector_without_direction_has_no_unit(vector: list[float]) -> None:
    with pytest.raises(ValueError, match="vector"):
        unit(vector)
