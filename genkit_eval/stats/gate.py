"""Whether a metric reaches the bound it is held against."""

from __future__ import annotations

import math
from dataclasses import dataclass

from genkit_eval.stored import MetricSummary
from genkit_eval.types import Direction

__all__ = ["Gate", "gate"]

TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Gate:
    """What a gate said: `value` is the pass rate or the mean that was looked at, None where there is neither."""

    passed: bool
    value: float | None
    message: str


def gate(summary: MetricSummary, bound: float) -> Gate:
    """Hold a metric's pass rate, or its mean where nothing has a PASS or FAIL, against a bound.

    A pass rate must be at least the bound. So must the mean, or at most the bound where lower is better.
    A difference below 1e-9 is none. A metric without either misses every gate, and says why.
    """
    if summary.pass_rate is not None:
        value, lower_is_better = summary.pass_rate, False
        measured = f"pass rate {value:.6g} ({summary.passed} of {summary.passed + summary.failed_status} judged)"
    elif summary.mean is not None:
        value, lower_is_better = summary.mean, summary.direction is Direction.MINIMIZE
        measured = f"mean {value:.6g} (n = {summary.scored} of {summary.total})"
    else:
        return Gate(
            passed=False,
            value=None,
            message=f"{summary.name}: {_why_nothing(summary)}, so the gate {bound:g} is missed",
        )
    close = math.isclose(value, bound, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    passed = close or (value < bound if lower_is_better else value > bound)
    wanted = f"{'at most' if lower_is_better else 'at least'} {bound:g}"
    return Gate(passed=passed, value=value, message=f"{summary.name}: {measured} is {'' if passed else 'not '}{wanted}")


def _why_nothing(summary: MetricSummary) -> str:
    if summary.verdict:
        return "its scores are neither PASS nor FAIL nor numbers"
    return (
        f"nothing was judged (of {summary.total} cases {summary.inconclusive} inconclusive, "
        f"{summary.undecided} undecided, {summary.failed} failed)"
    )
