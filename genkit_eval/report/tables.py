"""Tables that fit: columns side by side where there is room, else one small block for each row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from genkit_eval.report.lines import Ink, Line, Span
from genkit_eval.report.text import clip, one_line, shown_width, wrap

__all__ = ["INDENT", "Column", "Row", "table"]

GAP = "  "
INDENT = "  "


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its title, whether its cells stand at the right, and how far it may be cut."""

    title: str
    right: bool = False
    least: int | None = None
    """The width down to which its cells may be cut; None: never."""


@dataclass(frozen=True, slots=True)
class Row:
    """Cells, and notes that stand below them."""

    cells: Sequence[Span | str]
    notes: Sequence[Span] = field(default=())


def table(columns: Sequence[Column], rows: Sequence[Row], *, width: int) -> list[Line]:
    """The lines of a table that is at most `width` columns wide. The first column names the row."""
    cells = [[_safe(cell) for cell in row.cells] for row in rows]
    # a column without anything in it is left out
    kept = [i for i in range(len(columns)) if i == 0 or any(row[i].text for row in cells)]
    columns = [columns[i] for i in kept]
    cells = [[row[i] for i in kept] for row in cells]
    widths = _widths(columns, cells, width)
    notes = [row.notes for row in rows]
    if widths is None:
        return _blocks(columns, cells, notes, width)
    lines = [_table_line(columns, [Span(column.title, Ink.FAINT) for column in columns], widths)]
    for row, below in zip(cells, notes, strict=True):
        lines.append(_table_line(columns, row, widths))
        lines += _notes(below, width)
    return lines


def _safe(cell: Span | str) -> Span:
    span = cell if isinstance(cell, Span) else Span(cell)
    return Span(one_line(span.text), span.ink)


def _widths(columns: Sequence[Column], cells: Sequence[Sequence[Span]], width: int) -> list[int] | None:
    """The width of each column, or None where they do not fit side by side."""
    natural = [
        max(shown_width(column.title), *(shown_width(row[i].text) for row in cells), 1)
        for i, column in enumerate(columns)
    ]
    excess = sum(natural) + len(GAP) * (len(columns) - 1) - width
    for i, column in enumerate(columns):
        if excess > 0 and column.least is not None:
            cut = min(excess, max(0, natural[i] - max(column.least, shown_width(column.title))))
            natural[i] -= cut
            excess -= cut
    return natural if excess <= 0 else None


def _table_line(columns: Sequence[Column], cells: Sequence[Span], widths: Sequence[int]) -> Line:
    spans: list[Span] = []
    for column, cell, width in zip(columns, cells, widths, strict=True):
        text = clip(cell.text, width)
        fill = " " * (width - shown_width(text))
        if spans:
            spans.append(Span(GAP))
        spans += [Span(fill), Span(text, cell.ink)] if column.right else [Span(text, cell.ink), Span(fill)]
    return tuple(spans)


def _notes(notes: Sequence[Span], width: int) -> list[Line]:
    return [
        (Span(INDENT), Span(text, note.ink)) for note in notes for text in wrap(note.text, width - len(INDENT), lines=3)
    ]


def _blocks(
    columns: Sequence[Column], cells: Sequence[Sequence[Span]], notes: Sequence[Sequence[Span]], width: int
) -> list[Line]:
    lines: list[Line] = []
    for row, below in zip(cells, notes, strict=True):
        lines.append((Span(clip(row[0].text, width), row[0].ink or Ink.STRONG),))
        facts = ", ".join(
            f"{column.title} {cell.text}" for column, cell in zip(columns[1:], row[1:], strict=True) if cell.text
        )
        lines += _notes([Span(facts)] if facts else [], width)
        lines += _notes(below, width)
    return lines
