"""What a run has cost, by who asked which model."""

from __future__ import annotations

from collections.abc import Sequence

from genkit_eval.report.lines import Ink, Line, Span
from genkit_eval.report.numbers import counted, dollars
from genkit_eval.report.tables import Column, Row, table
from genkit_eval.stored import ModelUsage

__all__ = ["usage_table"]

_COLUMNS = (
    Column("asked by", least=24),
    Column("model", least=12),
    Column("calls", right=True),
    Column("cached", right=True),
    Column("retried", right=True),
    Column("tokens in", right=True),
    Column("out", right=True),
    Column("US $", right=True),
)
UNKNOWN = "?"


def usage_table(usage: Sequence[ModelUsage], *, width: int) -> list[Line]:
    """The lines of the table; none where no model was asked.

    What a server did not say is "?", and so is a cost where no price is known.
    """
    if not usage:
        return []
    rows = [_row(spent) for spent in usage]
    lines = table(_COLUMNS, rows, width=width)
    costs = [spent.cost_usd for spent in usage]
    known = [cost for cost in costs if cost is not None]
    if known and len(usage) > 1:
        unknown = len(costs) - len(known)
        beside = f", and what is not known of {counted(unknown, 'row')}" if unknown else ""
        lines.append((Span(f"in all {dollars(sum(known))} US dollars{beside}", Ink.FAINT),))
    if any(cell == UNKNOWN for row in rows for cell in row.cells):
        lines.append((Span("?: the server did not say, or no price is known", Ink.FAINT),))
    return lines


def _row(spent: ModelUsage) -> Row:
    who = (spent.used_by or "").removeprefix("/evaluator/")
    cells = (
        Span(who, Ink.STRONG),
        spent.model,
        UNKNOWN if spent.model_calls is None else str(spent.model_calls),
        str(spent.cached_calls or ""),
        str(spent.retries or ""),
        _known(spent.input_tokens, spent),
        _known(spent.output_tokens, spent),
        UNKNOWN if spent.cost_usd is None else dollars(spent.cost_usd),
    )
    return Row(cells)


def _known(tokens: int | None, spent: ModelUsage) -> str:
    if tokens is not None:
        return str(tokens)
    # nothing was asked: nothing is unknown
    return "" if spent.model_calls == 0 else UNKNOWN
