"""Who settled the cases of a run with `route`: how many each evaluator decided, and how they came out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from pydantic import JsonValue

from genkit_eval.engine import EvalRun
from genkit_eval.report.lines import Ink, Line, Span, blank
from genkit_eval.report.tables import Column, Row, table
from genkit_eval.types import Outcome, Status

__all__ = ["decider_lines", "deciders_document"]

ROUTE = "/evaluator/route"
NOBODY = "nobody"

_COLUMNS = (
    Column("decided by"),
    Column("cases", right=True),
    Column("PASS", right=True),
    Column("FAIL", right=True),
    Column("not judged", right=True),
)


def _decided_by(run: EvalRun) -> Mapping[str, Counter[str]]:
    """Per evaluator how many cases it settled with PASS, with FAIL or not at all; the most asked first, nobody last.

    Empty for a run without `route`; else one pass over its results.
    """
    if all(record.evaluator != ROUTE for record in run.key.evaluators):
        return {}
    found: dict[str, Counter[str]] = {}
    for result in run.results:
        for metric in result.metrics:
            if metric.evaluator == ROUTE:
                name = str((metric.details or {}).get("decidedBy", NOBODY))
                ended = metric.status if metric.ended is Outcome.VERDICT else None
                found.setdefault(name, Counter())[ended.value if ended is not None else "notJudged"] += 1
    order = sorted(found, key=lambda name: (name == NOBODY, -found[name].total(), name))
    return {name: found[name] for name in order}


def decider_lines(run: EvalRun, *, width: int) -> list[Line]:
    """The same as a table; nothing for a run without `route`."""
    rows = [
        Row((Span(name, Ink.STRONG), str(counts.total()), *(str(counts[key]) for key in ("PASS", "FAIL", "notJudged"))))
        for name, counts in _decided_by(run).items()
    ]
    return [blank(), *table(_COLUMNS, rows, width=width)] if rows else []


def deciders_document(run: EvalRun) -> list[JsonValue]:
    """The same for JSON."""
    return [
        {
            "evaluator": name,
            "cases": counts.total(),
            "passed": counts[Status.PASS.value],
            "failed": counts[Status.FAIL.value],
            "notJudged": counts["notJudged"],
        }
        for name, counts in _decided_by(run).items()
    ]
