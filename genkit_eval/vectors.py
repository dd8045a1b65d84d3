"""Vectors, as embedders give them."""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["cosine", "unit"]


def cosine(a: Sequence[float], b: Sequence[float]) -> float:
    """Cosine similarity of two vectors, -1 to 1.

    Args:
        a, b: same length n ≥ 1, finite; need not be normalised.

    Raises:
        ValueError: lengths differ, a number is not finite, or a vector is all zeros (the angle is undefined).
    """
    if len(a) != len(b) or not len(a):
        raise ValueError(f"vectors of {len(a)} and {len(b)} numbers have no angle")
    a, b = _scaled(a), _scaled(b)
    value = math.fsum(x * y for x, y in zip(a, b, strict=True)) / (math.hypot(*a) * math.hypot(*b))
    # rounding may carry it past an end by 1e-16
    return max(-1.0, min(1.0, value))


def unit(vector: Sequence[float]) -> list[float]:
    """The vector of length 1 that points the same way: the sum of products of two such is their cosine.

    Raises:
        ValueError: a number is not finite, or all are zero.
    """
    if not len(vector):
        raise ValueError("a vector without numbers has no direction")
    scaled = _scaled(vector)
    length = math.hypot(*scaled)
    return [number / length for number in scaled]


def _scaled(vector: Sequence[float]) -> list[float]:
    """The vector with its largest number at 1 or -1, so that no square over- or underflows."""
    numbers = [float(number) for number in vector]
    if not all(map(math.isfinite, numbers)):
        raise ValueError("a vector holds a number that is not finite")
    largest = max(map(abs, numbers))
    if not largest:
        raise ValueError("a vector is all zeros, so that it has no direction")
    return [number / largest for number in numbers]
