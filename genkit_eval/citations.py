"""Markers by which an answer cites its documents: [2], [1, 3], [2-4], [^1], 【1】."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

__all__ = ["Marker", "citation_markers", "without_code"]

_MARKER = re.compile(r"[\[【]\^?(\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*)(?:†[^\]】\n]{0,80})?[\]】](?![(:])")
MOST_NUMBERS = 50
"""How many numbers a marker names: nobody cites more documents at once."""
_NUMBERS = re.compile(r"(\d+)(?:\s*[–-]\s*(\d+))?")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Marker:
    """A marker in a text: what it looks like, where it stands, and the numbers that it names."""

    text: str
    span: tuple[int, int]
    numbers: tuple[int, ...]


def without_code(text: str) -> str:
    """The text with blanks in place of code, so that all else keeps its place."""
    return _CODE.sub(lambda code: " " * len(code[0]), text) if "`" in text else text


def citation_markers(text: str) -> list[Marker]:
    """The markers in a text, in order; what stands in code, a link like [1](…), and an interval like [0-100] is none.

    >>> [marker.numbers for marker in citation_markers("At nine [1], for free [2, 4-6].")]
    [(1,), (2, 4, 5, 6)]
    """
    markers = []
    for found in _MARKER.finditer(without_code(text)):
        numbers = tuple(islice(_numbers(found[1]), MOST_NUMBERS + 1))
        if len(numbers) <= MOST_NUMBERS:
            markers.append(Marker(found[0], found.span(), tuple(dict.fromkeys(numbers))))
    return markers


def _numbers(listed: str) -> Iterator[int]:
    for first, last in _NUMBERS.findall(listed):
        # one that runs backwards names its ends
        yield from range(int(first), int(last or first) + 1) or (int(first), int(last))
