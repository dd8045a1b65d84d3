"""The labelled lines of `tests/data/pii_lines.txt`: what is personal in each, and which ones are held out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Label", "Line", "labelled_lines"]

LINES = Path(__file__).parents[2] / "data" / "pii_lines.txt"
_MARK = re.compile(r"\[\[([A-Z_]+)\|(.*?)\]\]")


@dataclass(frozen=True, slots=True)
class Label:
    """A value that is personal, by its place in the text."""

    category: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Line:
    """A line without its marks, and what was marked."""

    number: int
    text: str
    labels: Sequence[Label]

    @property
    def held_out(self) -> bool:
        """Whether nothing was tuned on it: every third line."""
        return self.number % 3 == 0


def labelled_lines() -> list[Line]:
    """All lines, in order, numbered from 1."""
    rows = [row for row in LINES.read_text(encoding="utf-8").splitlines() if not row.startswith("#")]
    return [_line(number, row) for number, row in enumerate(rows, 1)]


def _line(number: int, row: str) -> Line:
    text, labels, end = "", [], 0
    for mark in _MARK.finditer(row):
        text += row[end : mark.start()]
        labels.append(Label(mark[1], len(text), len(text) + len(mark[2])))
        text += mark[2]
        end = mark.end()
    return Line(number, text + row[end:], labels)
