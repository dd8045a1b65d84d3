"""Tables that fit."""

from __future__ import annotations

from genkit_eval.report.lines import Ink, Span, rendered
from genkit_eval.report.tables import Column, Row, table


def shown(columns: list[Column], rows: list[Row], width: int = 40) -> list[str]:
    return list(rendered(table(columns, rows, width=width), colour=False))


def test_cells_stand_below_each_other() -> None:
    lines = shown([Column("name"), Column("n", right=True)], [Row(("東京", "7")), Row(("Rome", "123"))])

    assert lines == ["name    n", "東京    7", "Rome  123"]


def test_a_column_without_anything_is_left_out() -> None:
    assert shown([Column("name"), Column("empty"), Column("n")], [Row(("a", "", "1"))]) == ["name  n", "a     1"]


def test_a_column_that_may_be_cut_is_cut() -> None:
    lines = shown([Column("name"), Column("text", least=6)], [Row(("a", "a rather long text"))], width=16)

    assert lines == ["name  text", "a     a rather …"]


def test_what_does_not_fit_side_by_side_becomes_blocks() -> None:
    lines = shown([Column("name"), Column("text")], [Row(("a", "a rather long text"), [Span("note")])], width=16)

    assert lines == ["a", "  text a rather", "  long text", "  note"]


def test_notes_stand_below_their_row() -> None:
    lines = shown([Column("name")], [Row(("a",), [Span("why", Ink.ODD)]), Row(("b",))])

    assert lines == ["name", "a", "  why", "b"]
