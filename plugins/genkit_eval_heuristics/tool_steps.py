"""`heuristic/tool_selection` and `heuristic/step_efficiency`: the right tools in the right order, in no more steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pydantic import Field

from genkit_eval import DataPoint, Finding, Score
from genkit_eval_heuristics.definition import Heuristic, Thresholded, verdict
from genkit_eval_heuristics.sequences import common_subsequence, comparable

__all__ = [
    "EVALUATORS",
    "StepEfficiencyOptions",
    "efficiency",
    "selection_findings",
    "selection_parts",
    "step_efficiency",
    "tool_selection",
]

UNNEEDED = 0.5
"""What calling tools scores where none is expected; TnsAI's rule."""


class StepEfficiencyOptions(Thresholded):
    """How many steps are expected."""

    expected_steps: int | None = Field(
        default=None, ge=0, description="How many calls are expected; without it as many as there are expected tools."
    )


def selection_parts(expected: Sequence[str], called: Sequence[str]) -> dict[str, float]:
    """Precision and recall of the names, each as often as it occurs, and the share of the expected order that was kept.

    At least one tool is expected.
    """
    shared = (Counter(expected) & Counter(called)).total()
    return {
        "precision": shared / len(called) if called else 0.0,
        "recall": shared / len(expected),
        "order": common_subsequence(comparable(expected, "calls"), comparable(called, "calls")) / len(expected),
    }


def selection_findings(expected: Sequence[str], called: Sequence[str]) -> list[Finding]:
    """One finding for each expected tool, called or not, and for each call that is none of them."""
    unmet, unneeded = Counter(expected) - Counter(called), Counter(called) - Counter(expected)
    met = Counter(expected) - unmet
    return [
        *(Finding.trusted({"text": name, "passed": True}) for name in met.elements()),
        *(Finding.trusted({"text": n, "passed": False, "reason": "expected, not called"}) for n in unmet.elements()),
        *(Finding.trusted({"text": n, "passed": False, "reason": "called, not expected"}) for n in unneeded.elements()),
    ]


def tool_selection(point: DataPoint, options: Thresholded) -> Score:
    """(precision + recall + order) / 3 of the called tools, 0 to 1, higher is better. Source: TnsAI."""
    expected = [call.name for call in point.expected_tools or ()]
    called = [call.name for call in point.tools or ()]
    findings = selection_findings(expected, called)
    if not expected:
        score, words = (UNNEEDED, "tools were called") if called else (1.0, "no tool was called")
        return verdict(score, options, reason=f"no tool is expected, and {words}", findings=findings)
    parts = selection_parts(expected, called)
    reason = ", ".join(f"{name} {value:.2f}" for name, value in parts.items())
    return verdict(sum(parts.values()) / 3, options, reason=reason, findings=findings, details=dict(parts))


def efficiency(expected: int, actual: int) -> float:
    """expected / max(expected, actual), 0 to 1, higher is better; 1 where both are 0. Source: TnsAI."""
    return expected / max(expected, actual) if expected or actual else 1.0


def step_efficiency(point: DataPoint, options: StepEfficiencyOptions) -> Score:
    """How few calls it took beside those that are expected; 1 where nothing says how many are."""
    actual = len(point.tools or ())
    expected = options.expected_steps
    if expected is None and point.expected_tools is not None:
        expected = len(point.expected_tools)
    if expected is None:
        return verdict(1.0, options, reason=f"{actual} steps; nothing says how many are expected")
    details = {"expected": expected, "actual": actual}
    return verdict(
        efficiency(expected, actual), options, reason=f"{actual} steps, expected {expected}", details=details
    )


EVALUATORS = (
    Heuristic(
        name="heuristic/tool_selection",
        fn=tool_selection,
        options=Thresholded,
        display_name="Tool selection",
        definition="The expected tools were called, in their order, and no others.",
        formula="(precision + recall + order) / 3; none expected: 1 if none was called, else 0.5",
        source="TnsAI",
        kind="heuristic",
        requires=("tools", "expected_tools"),
        aliases={"tnsai/tool_selection": {}},
    ),
    Heuristic(
        name="heuristic/step_efficiency",
        fn=step_efficiency,
        options=StepEfficiencyOptions,
        display_name="Step efficiency",
        definition="It took no more tool calls than expected.",
        formula="expected / max(expected, actual); nothing expected: 1",
        source="TnsAI",
        kind="heuristic",
        requires=("tools",),
        reads=("expected_tools",),
        custom=("expected_steps",),
        aliases={"tnsai/step_efficiency": {}},
    ),
)
"""The evaluators of this module."""
