"""Runs side by side: what each was about, and how it came out, so that a change shows in one listing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from genkit_eval.engine import repeats_of
from genkit_eval.report.lines import Ink, Line, Span
from genkit_eval.report.numbers import counted, number, percent
from genkit_eval.report.run_report import run_subject
from genkit_eval.report.tables import INDENT, Column, Row, table
from genkit_eval.report.text import one_line, shown_width
from genkit_eval.stored import EvalRunKey, RunState

__all__ = ["NO_RUNS", "run_figures", "run_listing"]

NO_RUNS = "no runs yet: genkit-eval run makes one"
GAP = "   "
SHOWN_VALUES = 3


def run_listing(keys: Sequence[EvalRunKey], unreadable: Collection[str] = (), *, width: int) -> list[Line]:
    """A table of runs, below each one its figures; then those that cannot be read."""
    shown = [Column("run"), Column("started (UTC)"), Column("cases", right=True), Column("what", least=12)]
    rows = [Row(_cells(key), tuple(_notes(key, width))) for key in keys]
    rows += [Row((Span(name, Ink.STRONG), "", "", Span("unreadable", Ink.BAD))) for name in unreadable]
    return table(shown, rows, width=width)


def _cells(key: EvalRunKey) -> tuple[Span | str, ...]:
    subject = run_subject(key).removeprefix("flow ")
    if key.parent is not None:
        subject += ", judged once more"
    return (
        Span(key.eval_run_id, Ink.STRONG),
        f"{key.created_at:%Y-%m-%d %H:%M}",
        _cases(key),
        subject if key.state is RunState.COMPLETE else Span(f"incomplete: {subject}", Ink.ODD),
    )


def _cases(key: EvalRunKey) -> str:
    if key.case_count is None:
        return ""
    times = repeats_of(key).target
    return str(key.case_count) if times == 1 else f"{key.case_count // times} x {times}"


def _notes(key: EvalRunKey, width: int) -> Iterator[Span]:
    if key.target_errors:
        cases = counted(key.case_count or 0, "case" if repeats_of(key).target == 1 else "result")
        yield Span(f"{key.target_errors} of {cases} FAILED in the target", Ink.BAD)
    figures = run_figures(key)
    if figures:
        yield Span(_fitting(figures, width - len(INDENT)))


def run_figures(key: EvalRunKey) -> list[str]:
    """The pass rate of each metric of a finished run, of any tool, or its mean, or how often it gave which value."""
    return [_figure(row) for row in key.metric_summaries]


def _figure(row: Mapping[str, Any]) -> str:
    name = str(row.get("evaluator", "")).removeprefix("/evaluator/")
    total, errors = row.get("testCaseCount", 0), row.get("errorCount", 0)
    statuses = row.get("statusDistribution") or {}
    passed, judged = statuses.get("PASS", 0), statuses.get("PASS", 0) + statuses.get("FAIL", 0)
    if judged:
        said = f"{percent(passed, judged)} of {judged}"
    elif isinstance(mean := row.get("averageScore"), int | float):
        said = f"mean {number(mean)} ({total - row.get('scoreUndefinedCount', 0)}/{total})"
    else:
        values = list((row.get("scoreDistribution") or {}).items())
        said = ", ".join(f"{value} {count}" for value, count in values[:SHOWN_VALUES]) or "n/a"
    return f"{name} {said}" + (f", {errors} FAILED" if errors else "")


def _fitting(figures: Sequence[str], width: int) -> str:
    """As many as a line holds, one at least, and how many more there are."""
    figures = [one_line(figure) for figure in figures]
    for count in range(len(figures), 1, -1):
        text = GAP.join(figures[:count]) + _more(len(figures) - count)
        if shown_width(text) <= width:
            return text
    return figures[0] + _more(len(figures) - 1)


def _more(count: int) -> str:
    return f"{GAP}and {count} more" if count else ""
