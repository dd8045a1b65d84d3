"""What is said before a run: what it would be, whom it would ask, what that would take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from genkit_eval.report.lines import Ink, Line, Span, blank, line
from genkit_eval.report.numbers import duration
from genkit_eval.report.run_report import run_amount, run_subject
from genkit_eval.report.text import wrap
from genkit_eval.report.usage_table import usage_table
from genkit_eval.stored import EvalRunKey, ModelUsage

__all__ = ["forecast_lines"]


def forecast_lines(
    key: EvalRunKey,
    usage: Sequence[ModelUsage],
    *,
    seconds: float | None = None,
    basis: str | None = None,
    stopped: str | None = None,
    lacking: Sequence[str] = (),
    width: int,
) -> Iterator[Line]:
    """The subject, how many cases, a table of what asking would take, and what the estimate was made from."""
    for text in wrap(run_subject(key), width, lines=2):
        yield line(Span(text, Ink.STRONG))
    names = ", ".join(record.evaluator.removeprefix("/evaluator/") for record in key.evaluators)
    for text in wrap(f"{run_amount(key, key.case_count or 0)}, judged by {names or 'nobody'}", width, lines=5):
        yield line(text)
    yield blank()
    if usage:
        yield from usage_table(usage, width=width)
    else:
        yield line("no model is asked by what is known of the target and the evaluators")
    for name in lacking:
        yield line(f"{name}: one call more, before the first case, makes what it lacks; that is kept")
    if seconds is not None:
        yield line(f"it takes about {duration(seconds)}")
    unknown = "what it takes" if not usage else "how often models are asked"
    said = f"nothing was run, so {unknown} is not known: --probe N runs N cases to find out"
    if stopped is not None:
        said = f"the probe was stopped ({stopped}), so there is no estimate: let it take more, or probe fewer cases"
    if basis is not None:
        said = f"estimated from {basis}"
    for text in wrap(said, width, lines=2):
        yield line(Span(text, Ink.FAINT))
