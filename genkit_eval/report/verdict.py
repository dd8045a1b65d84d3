"""What a run comes to: whether anything broke, whether anything was judged, and whether its gates are held."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from genkit_eval.definitions import Evaluator
from genkit_eval.engine import EvalRun
from genkit_eval.errors import ConfigError, UnknownName
from genkit_eval.report.numbers import counted
from genkit_eval.stats import Gate, gate
from genkit_eval.stored import MetricSummary, StopCause
from genkit_eval.types import Outcome

__all__ = ["Bound", "Verdict", "check_bounds", "verdict"]

PASSED, BROKEN, STOPPED, GATE_MISSED = 0, 1, 3, 100


@dataclass(frozen=True, slots=True)
class Bound:
    """What a metric is held against: its pass rate, or its mean where nothing has a PASS or FAIL."""

    metric: str
    value: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """The exit code of a run, and why, in words."""

    exit_code: int
    messages: Sequence[str]
    gates: Sequence[Gate] = field(default=())
    failed_cells: int = 0


def check_bounds(bounds: Iterable[Bound], evaluators: Sequence[Evaluator]) -> None:
    """Refuse, before anything runs, what could never be held or missed.

    Raises:
        UnknownName: no evaluator of the run has that name.
        ConfigError: not a number, or outside 0 to 1 (or outside the range that the evaluator declares).
    """
    for bound in bounds:
        name = bound.metric.removeprefix("/evaluator/")
        # a score id follows the evaluator's name; which ones there are is known only after the run
        owners = [e for e in evaluators if name == e.name or name.startswith(f"{e.name}/")]
        if not owners:
            raise UnknownName("metric to hold against a bound", name, [e.name for e in evaluators])
        low, high = _range(max(owners, key=lambda e: len(e.name)))
        if not (math.isfinite(bound.value) and low <= bound.value <= high):
            raise ConfigError(
                f"the bound of '{name}' is {bound.value:g}: expected a number from {low:g} to {high:g}"
                + ("; a mean outside 0 to 1 needs a declared range (low=…, high=…)" if (low, high) == (0, 1) else "")
            )


def _range(evaluator: Evaluator) -> tuple[float, float]:
    """Where its pass rate or its mean can lie."""
    rule = evaluator.rule
    if rule.low is None or rule.high is None or rule.threshold is not None:
        return 0.0, 1.0
    return min(rule.low, 0.0), max(rule.high, 1.0)


def verdict(run: EvalRun, bounds: Sequence[Bound] = (), *, most_failed: int = 0) -> Verdict:
    """Judge a run. What ended it early weighs more than FAILED cells or nothing judged, and they than a missed gate."""
    summaries = run.summary()
    failed = _failed_cells(run, summaries)
    gates = [_held(bound, summaries) for bound in bounds]
    missed = [held for held in gates if not held.passed]
    messages = [f"gate {'missed' if not held.passed else 'held'}: {held.message}" for held in gates]
    code = GATE_MISSED if missed else PASSED
    if failed > most_failed:
        code = BROKEN
        messages.append(f"{counted(failed, 'FAILED cell')} (tolerated: {most_failed})")
    if not any(row.verdict for row in summaries):
        code = BROKEN
        messages.append(f"nothing was judged: {_why(summaries, len(run.results))}")
    stopped = run.key.stopped
    if stopped is not None:
        code = STOPPED if stopped.cause is StopCause.BUDGET else BROKEN
        messages.append(f"stopped early: {stopped.reason}")
    return Verdict(exit_code=code, messages=messages, gates=gates, failed_cells=failed)


def _failed_cells(run: EvalRun, summaries: Sequence[MetricSummary]) -> int:
    evaluators = {row.evaluator for row in summaries}
    if len(evaluators) == len(summaries) > 0:
        return sum(row.failed for row in summaries)
    # a cell counts under each of its score ids there; and without evaluators the target may have failed all the same
    failed = 0
    for result in run.failing():
        if result.error is not None and not result.metrics:
            failed += max(len(evaluators), 1)
        failed += len({metric.evaluator for metric in result.metrics if metric.ended is Outcome.FAILED})
    return failed


def _held(bound: Bound, summaries: Sequence[MetricSummary]) -> Gate:
    wanted = bound.metric.removeprefix("/evaluator/")
    for row in summaries:
        if row.name == wanted:
            return gate(row, bound.value)
    names = [row.name for row in summaries]
    names = [name for name in names if name.startswith(f"{wanted}/")] or names
    known = ", ".join(names[:10]) or "none"
    message = f"{wanted}: the run has no such score (it has {known}), so the gate {bound.value:g} is missed"
    return Gate(passed=False, value=None, message=message)


def _why(summaries: Sequence[MetricSummary], cases: int) -> str:
    if not summaries:
        return f"the run has {counted(cases, 'case')} and no metric"
    counts = {
        "FAILED": sum(row.failed for row in summaries),
        "inconclusive": sum(row.inconclusive for row in summaries),
        "undecided": sum(row.undecided for row in summaries),
    }
    total = sum(row.total for row in summaries)
    return f"of {counted(total, 'cell')} " + (
        ", ".join(f"{n} {name}" for name, n in counts.items() if n) or "none has a verdict"
    )
