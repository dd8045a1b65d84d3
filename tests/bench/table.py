"""Tables of the benchmark: what was measured, beside what, and whether the target is met."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Row", "Table", "count", "megabytes", "per_case", "render", "seconds"]


@dataclass(frozen=True, slots=True)
class Row:
    """One figure. `ratio`, `target` and `met` stay empty where there is nothing to compare or to reach."""

    what: str
    baseline: str
    ours: str
    ratio: float | None = None
    target: str = ""
    met: bool | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """The figures of one topic, and what has to be known to read them."""

    title: str
    rows: Sequence[Row]
    notes: Sequence[str] = ()
    baseline: str = "baseline"


def seconds(value: float) -> str:
    """A time in the unit that fits."""
    if value < 0.001:
        return f"{value * 1e6:.1f} µs"
    return f"{value * 1000:.1f} ms" if value < 1 else f"{value:.2f} s"


def megabytes(value: float) -> str:
    """A size in memory or on disk."""
    return f"{value / 1e6:.1f} MB"


def per_case(value: float) -> str:
    """Bytes for each sample."""
    return f"{value:.0f} B"


def count(value: int) -> str:
    """A number of things."""
    return f"{value:,}"


def render(table: Table) -> str:
    """The table as lines of text."""
    head = ("", table.baseline, "ours", "ratio", "target", "")
    cells = [head, *(_cells(row) for row in table.rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(head))]
    lines = [table.title, "-" * len(table.title)]
    for line in cells:
        first = line[0].ljust(widths[0])
        figures = "  ".join(text.rjust(width) for text, width in zip(line[1:4], widths[1:4], strict=True))
        lines.append(f"{first}  {figures}  {line[4].ljust(widths[4])}  {line[5]}".rstrip())
    return "\n".join([*lines, *(f"  {note}" for note in table.notes), ""])


def _cells(row: Row) -> tuple[str, ...]:
    ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
    met = {True: "met", False: "MISSED", None: ""}[row.met]
    return row.what, row.baseline, row.ours, ratio, row.target, met
