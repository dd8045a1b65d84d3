"""The table of a run: per metric and score id how many cases were judged, and how they came out."""

from __future__ import annotations

from collections.abc import Sequence

from genkit_eval.report.lines import Ink, Line, Span
from genkit_eval.report.numbers import number, percent
from genkit_eval.report.tables import Column, Row, table
from genkit_eval.stored import MetricSummary
from genkit_eval.types import Direction

__all__ = ["summary_table"]

SHOWN_VALUES = 6

_COLUMNS = (
    Column("metric"),
    Column("judged", right=True),
    Column("PASS", right=True),
    Column("FAIL", right=True),
    Column("pass rate", right=True),
    Column("mean", right=True),
    Column("better"),
)


def summary_table(summaries: Sequence[MetricSummary], *, width: int) -> list[Line]:
    """The lines of the table.

    `judged` says of how many cases there is a verdict; the pass rate is of those with a PASS or FAIL, and says of how
    many; the mean says how many scores it is over. What was not judged stands below its metric.
    """
    return table(_COLUMNS, [_row(summary) for summary in summaries], width=width)


def _row(summary: MetricSummary) -> Row:
    with_status = summary.passed + summary.failed_status
    cells = (
        Span(summary.name, Ink.STRONG),
        f"{summary.verdict}/{summary.total}",
        str(summary.passed) if with_status else "",
        Span(str(summary.failed_status) if with_status else "", Ink.BAD if summary.failed_status else Ink.PLAIN),
        f"{percent(summary.passed, with_status)} of {with_status}" if with_status else "n/a",
        "" if summary.mean is None else f"{number(summary.mean)} ({summary.scored}/{summary.total})",
        "higher" if summary.direction is Direction.MAXIMIZE else "lower",
    )
    return Row(cells, tuple(_notes(summary)))


def _notes(summary: MetricSummary) -> list[Span]:
    notes = []
    counts = {"inconclusive": summary.inconclusive, "undecided": summary.undecided, "FAILED": summary.failed}
    unjudged = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    if unjudged:
        notes.append(Span(f"not judged: {unjudged}", Ink.BAD if summary.failed else Ink.ODD))
    with_status = summary.passed + summary.failed_status
    if summary.distribution and (summary.distinct is not None or with_status < summary.verdict):
        notes.append(Span(_values(summary), Ink.FAINT))
    elif summary.distinct is not None:
        notes.append(Span("values: too many different texts to count", Ink.FAINT))
    return notes


def _values(summary: MetricSummary) -> str:
    counts = summary.distribution or {}
    shown = [f"{value} {count}" for value, count in list(counts.items())[:SHOWN_VALUES]]
    more = (summary.distinct or len(counts)) - len(shown)
    return "values: " + ", ".join(shown) + (f", and {more} more" if more > 0 else "")
