"""`rule/tool_permission`: only tools that may be called were called."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Self

from pydantic import Field, model_validator

from genkit_eval import DataPoint, Finding, Score
from genkit_eval_heuristics.definition import Heuristic, Thresholded, verdict

__all__ = ["EVALUATORS", "ToolPermissionOptions", "authorised_share", "permissions", "tool_permission"]


class ToolPermissionOptions(Thresholded):
    """Which tools may be called."""

    allow: tuple[str, ...] = Field(default=(), description="Only these tools may be called; empty: any but the denied.")
    deny: tuple[str, ...] = Field(default=(), description="These may not, whatever the other list says.")
    strict: bool = Field(default=False, description="A single call that may not be makes the score 0.")

    @model_validator(mode="after")
    def _lists_something(self) -> Self:
        if not self.allow and not self.deny:
            raise ValueError(
                "both lists are empty, which allows everything: give allow, deny or both, for the samples that carry "
                "none of their own in custom"
            )
        return self


def permissions(called: Sequence[str], allow: Collection[str], deny: Collection[str]) -> list[Finding]:
    """One finding a call, in order: whether it may be. A denial outranks an allowance."""
    return [_permission(name, allow, deny) for name in called]


def _permission(name: str, allow: Collection[str], deny: Collection[str]) -> Finding:
    if name in deny:
        return Finding.trusted({"text": name, "passed": False, "reason": "denied"})
    if allow and name not in allow:
        return Finding.trusted({"text": name, "passed": False, "reason": "not among the allowed"})
    return Finding.trusted({"text": name, "passed": True})


def authorised_share(findings: Sequence[Finding], *, strict: bool) -> float:
    """Calls that may be / calls (at least one), 0 to 1, higher is better; strict: 0 unless all may be."""
    share = sum(1 for finding in findings if finding.passed) / len(findings)
    return 0.0 if strict and share < 1 else share


def tool_permission(point: DataPoint, options: ToolPermissionOptions) -> Score:
    """The share of tool calls that are authorised. Source: Akka evalkit, DeepEval."""
    called = [call.name for call in point.tools or ()]
    if not called:
        return Score.inconclusive(reason="no tool was called")
    findings = permissions(called, options.allow, options.deny)
    denied = [finding.text for finding in findings if not finding.passed]
    reason = f"{len(called) - len(denied)} of {len(called)} calls are authorised"
    if denied:
        reason += f"; not: {', '.join(dict.fromkeys(denied))}"
    return verdict(authorised_share(findings, strict=options.strict), options, reason=reason, findings=findings)


EVALUATORS = (
    Heuristic(
        name="rule/tool_permission",
        fn=tool_permission,
        options=ToolPermissionOptions,
        display_name="Tool permission",
        definition="Only tools that may be called were called; to fail a case for a single other one, threshold=1.",
        formula="authorised calls / calls; strict: 0 unless all are authorised",
        source="Akka evalkit",
        kind="deterministic",
        requires=("tools",),
        custom=("allow", "deny"),
        # theirs passes at 1 alone
        aliases={"akka/ToolPermission": {"threshold": 1.0}},
    ),
)
"""The evaluators of this module."""
