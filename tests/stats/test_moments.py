"""Means, medians and spreads beside those of the standard library, and where that gives up."""

from __future__ import annotations

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genkit_eval.stats.moments import mean, median, spread

NUMBERS = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20)


@given(NUMBERS)
def test_they_are_those_of_the_standard_library(numbers: list[float]) -> None:
    apart = spread(numbers)

    assert mean(numbers) == pytest.approx(statistics.fmean(numbers))
    assert median(numbers) == pytest.approx(statistics.median(numbers))
    assert (apart is None) == (len(numbers) < 2)
    assert apart is None or apart == pytest.approx(statistics.stdev(numbers), abs=1e-6)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_no_finite_numbers_are_too_large(numbers: list[float]) -> None:
    apart = spread(numbers)

    assert math.isfinite(mean(numbers))
    assert min(numbers) <= median(numbers) <= max(numbers)
    assert apart is None or math.isfinite(apart)


def test_the_median_of_an_odd_count_is_one_of_them() -> None:
    assert median([0.1, 0.3, 0.2]) == 0.2
    assert repr(median([3, 1, 2])) == "2"
