"""What two sequences of words, characters or calls have in common."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Literal, TypeVar

from genkit_eval.errors import DataError

__all__ = ["MOST", "common_subsequence", "comparable"]

S = TypeVar("S", bound=Sequence[Hashable])

MOST: Mapping[str, int] = {"characters": 100_000, "words": 50_000, "calls": 50_000}
"""How many are compared: twice as many take four times as long, and as much memory where most of them differ."""


def comparable(items: S, unit: Literal["characters", "words", "calls"]) -> S:
    """The items, if they are not too many to compare.

    Raises:
        DataError: they are.
    """
    if len(items) > MOST[unit]:
        raise DataError(f"{len(items)} {unit} are too many to compare: the most are {MOST[unit]}")
    return items


def common_subsequence(one: Sequence[Hashable], other: Sequence[Hashable]) -> int:
    """The length of the longest sequence that both have in order, with gaps.

    Source: Hyyrö 2004, "Bit-parallel LCS-length computation revisited". A column of the table is one integer.
    """
    places: dict[Hashable, int] = {}
    for index, item in enumerate(one):
        places[item] = places.get(item, 0) | 1 << index
    full = open_rows = (1 << len(one)) - 1
    for item in other:
        matches = open_rows & places.get(item, 0)
        open_rows = (open_rows + matches | open_rows - matches) & full
    return len(one) - open_rows.bit_count()
