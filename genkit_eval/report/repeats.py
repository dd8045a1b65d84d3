"""What is said of a run whose samples ran several times: the verdicts of its cases, pass@k and pass^k."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from pydantic import JsonValue

from genkit_eval.report.lines import Ink, Line, Span, blank, line
from genkit_eval.report.numbers import counted, number
from genkit_eval.report.tables import Column, Row, table
from genkit_eval.report.text import wrap
from genkit_eval.stats import CaseRepeats, CaseVerdict, PassAt, RepeatSummary

__all__ = ["repeats_document", "repeats_table", "varied_cases"]

SHOWN_KS = 5
_WORDS = {
    CaseVerdict.PASS: "PASS",
    CaseVerdict.FAIL: "FAIL",
    CaseVerdict.VARIED: "VARIED",
    CaseVerdict.UNDECIDED: "undecided",
    CaseVerdict.NO_RESULT: "no result",
}


def repeats_table(summaries: Sequence[RepeatSummary], *, width: int) -> Iterator[Line]:
    """A line of title and a table: of how many cases all repeats agree on what, and the rates for all repeats."""
    if not summaries:
        return
    repeats = summaries[0].repeats
    cases = counted(len(summaries[0].cases), "case")
    title = f"{cases} over {repeats} repeats: pass@k, one of k passes; pass^k, all of k pass"
    yield from (line(Span(text, Ink.FAINT)) for text in wrap(title, width, lines=3))
    columns = [Column("metric"), *(Column(word, right=True) for word in _WORDS.values())]
    columns += [Column(f"pass@{repeats}", right=True), Column(f"pass^{repeats}", right=True)]
    yield from table(columns, [_row(summary) for summary in summaries], width=width)


def _row(summary: RepeatSummary) -> Row:
    verdicts, rates = summary.verdicts, summary.rates
    full = rates[-1] if rates and rates[-1].k == summary.repeats else None
    counts = [str(verdicts[kind]) if verdicts[kind] else "" for kind in _WORDS]
    shown = [_share(full.at_least_one), _share(full.every)] if full else [""] * 2
    return Row((Span(summary.name, Ink.STRONG), *counts, *shown), tuple(_notes(summary, rates, full)))


def _notes(summary: RepeatSummary, rates: Sequence[PassAt], full: PassAt | None) -> Iterator[Span]:
    total = len(summary.cases)
    if full is not None and full.cases < total:
        which = f"the {full.cases} of {total} cases with {full.k} repeats that are PASS or FAIL"
        yield Span(f"pass@{full.k} and pass^{full.k} are over {which}", Ink.ODD)
    if len(rates) > 2 or (rates and full is None):
        chosen = [*rates[:SHOWN_KS], *rates[SHOWN_KS:][-1:]]
        yield Span("pass^k: " + ", ".join(f"k = {rate.k} {_share(rate.every)}" for rate in chosen), Ink.FAINT)
    spread = summary.spread_within
    if spread is not None:
        yield Span(f"spread of the scores within a case: {number(spread)}", Ink.FAINT)


def _share(value: float) -> str:
    """In percent; "100 %" is said only of all, "0 %" only of none."""
    if 0.0 < value < 0.0005:
        return "< 0.1 %"
    if 0.9995 <= value < 1.0:
        return "> 99.9 %"
    return f"{100 * value:.1f}".removesuffix(".0") + " %"


def varied_cases(summaries: Sequence[RepeatSummary], *, width: int, most: int | None = 20) -> Iterator[Line]:
    """The cases whose repeats do not agree, with what they said; nothing where all agree."""
    varied = [(row, case) for row in summaries for case in row.cases if case.verdict is CaseVerdict.VARIED]
    if not varied:
        return
    shown = "" if most is None or len(varied) <= most else f", the first {most} of them"
    yield blank()
    title = f"repeats do not agree on {counted(len(varied), 'cell')}{shown}"
    yield from (line(Span(text, Ink.ODD)) for text in wrap(title, width, lines=2))
    columns = [Column("case", least=8), Column("metric", least=8), Column("repeats")]
    rows = [Row((Span(case.test_case_id), row.name, _said(case))) for row, case in islice(varied, most)]
    yield from table(columns, rows, width=width)


def _said(case: CaseRepeats) -> str:
    counts = {"PASS": case.passed, "FAIL": case.failed, "undecided": case.undecided, "without either": case.plain}
    nothing = case.total - sum(counts.values())
    return ", ".join(f"{count} {word}" for word, count in {**counts, "without a result": nothing}.items() if count)


def repeats_document(summaries: Sequence[RepeatSummary]) -> list[JsonValue]:
    """The same for programs: each metric with its rates for every k, and the verdict of every case."""
    return [_document(summary) for summary in summaries]


def _document(summary: RepeatSummary) -> dict[str, JsonValue]:
    document: dict[str, JsonValue] = {
        "evaluator": summary.evaluator,
        "repeats": summary.repeats,
        "caseVerdicts": {kind.value: count for kind, count in summary.verdicts.items()},
        "passAtK": [{"k": rate.k, "value": rate.at_least_one, "cases": rate.cases} for rate in summary.rates],
        "passHatK": [{"k": rate.k, "value": rate.every, "cases": rate.cases} for rate in summary.rates],
        "spreadWithin": summary.spread_within,
        "cases": [_case_document(case) for case in summary.cases],
    }
    return document if summary.score_id is None else {"scoreId": summary.score_id, **document}


def _case_document(case: CaseRepeats) -> dict[str, JsonValue]:
    return {
        "testCaseId": case.test_case_id,
        "verdict": None if case.verdict is None else case.verdict.value,
        "repeats": case.total,
        "passed": case.passed,
        "failed": case.failed,
        "undecided": case.undecided,
    }
