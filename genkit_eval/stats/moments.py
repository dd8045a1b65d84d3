"""Means, medians and spreads of all numbers that a double can hold, also where their sum or squares are beyond it."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence

__all__ = ["mean", "median", "spread", "spread_within"]


def mean(numbers: Sequence[float]) -> float:
    """The mean of one or more numbers."""
    try:
        return math.fsum(numbers) / len(numbers)
    except OverflowError:
        # the sum is beyond every double, the mean is not
        scale = max(map(abs, numbers))
        return math.fsum(number / scale for number in numbers) / len(numbers) * scale


def median(numbers: Sequence[float]) -> float:
    """The one in the middle of one or more numbers, or the mean of the two there."""
    low, high = statistics.median_low(numbers), statistics.median_high(numbers)
    # a whole number stays one
    return low if low == high else mean([low, high])


def spread(numbers: Sequence[float]) -> float | None:
    """Sample standard deviation; None for one number, and where no double can hold it."""
    return spread_within([numbers])


def spread_within(groups: Iterable[Sequence[float]]) -> float | None:
    """The standard deviation within groups, pooled over them.

    sqrt(sum of squared distances from each group's own mean / sum of (its numbers - 1)); None without a group of two
    numbers, and where no double can hold it.
    """
    squares, freedom = 0.0, 0
    try:
        for numbers in groups:
            if len(numbers) > 1:
                middle = mean(numbers)
                squares += math.fsum((number - middle) ** 2 for number in numbers)
                freedom += len(numbers) - 1
    except OverflowError:
        return None
    return math.sqrt(squares / freedom) if freedom and math.isfinite(squares) else None
