"""`rule/tool_correctness` and `rule/argument_match`: the tools that were expected were called, and called so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

from pydantic import Field

from genkit_eval import DataPoint, Finding, Score, ToolCall
from genkit_eval.errors import DataError
from genkit_eval_heuristics.definition import Heuristic, Thresholded, verdict
from genkit_eval_heuristics.tool_arguments import agreement, expected_share, same_json
from genkit_eval_heuristics.tool_faults import fault_of, names_of

__all__ = [
    "EVALUATORS",
    "ToolCorrectnessOptions",
    "argument_match",
    "credits_anywhere",
    "credits_in_order",
    "mean_credit",
    "tool_correctness",
    "tool_findings",
]

Credit = Callable[[ToolCall, ToolCall], float]

MAX_TOLD = 3
MOST_PAIRS = 1_000_000
"""How many pairs of calls are compared: it takes some seconds, and a table of so many numbers."""


class ToolCorrectnessOptions(Thresholded):
    """What makes a call the expected one."""

    match: Literal["anywhere", "in_order", "exactly"] = Field(
        default="anywhere",
        description="anywhere: in any order; in_order: in the expected order, others may come between; exactly: the "
        "same calls at the same places and no others, else 0.",
    )
    compare_arguments: bool = Field(
        default=False, description="Compare arguments too: partly right is partly credited."
    )
    compare_output: bool = Field(default=False, description="Compare outputs too: another one is no credit.")
    strict: bool = Field(default=False, description="Anything less than 1 is 0.")


def tool_findings(
    expected: Sequence[ToolCall], called: Sequence[ToolCall], options: ToolCorrectnessOptions
) -> list[Finding]:
    """One finding for each expected call, with its credit in the details; a single one if none was expected but called.

    What an expected call does not tell (its arguments, its output) is not compared.
    """
    if not expected:
        return [_finding("(no tool)", 0.0, f"called: {names_of(called)}")] if called else []
    if options.match == "exactly":
        if len(expected) != len(called):
            return [_finding(names_of(expected), 0.0, f"called: {names_of(called)}")]
        pairs = zip(expected, called, strict=True)
        credits = [float(_credit(options, *pair) == 1) for pair in pairs]
    elif options.match == "in_order":
        credits = credits_in_order(expected, called, lambda want, got: _credit(options, want, got))
    else:
        credits = credits_anywhere(expected, called, lambda want, got: _credit(options, want, got))
    counts = options.compare_arguments
    fault = partial(fault_of, called=called, arguments=counts, extra=counts, output=options.compare_output)
    return _findings(expected, credits, fault)


def _credit(options: ToolCorrectnessOptions, want: ToolCall, got: ToolCall) -> float:
    if want.name != got.name:
        return 0.0
    if options.compare_output and want.has("output") and not (got.has("output") and same_json(want.output, got.output)):
        return 0.0
    return agreement(want, got) if options.compare_arguments else 1.0


def credits_anywhere(expected: Sequence[ToolCall], called: Sequence[ToolCall], credit: Credit) -> list[float]:
    """The credit of each expected call by its best match among the calls that none before it has taken."""
    _check_pairs(expected, called)
    left = list(range(len(called)))
    credits = []
    for want in expected:
        best, place = 0.0, -1
        for index in left:
            earned = credit(want, called[index])
            if earned > best:
                best, place = earned, index
        if place >= 0:
            left.remove(place)
        credits.append(best)
    return credits


def credits_in_order(expected: Sequence[ToolCall], called: Sequence[ToolCall], credit: Credit) -> list[float]:
    """The credit of each expected call in the common subsequence of most credit."""
    _check_pairs(expected, called)
    columns = len(called) + 1
    table = [[0.0] * columns for _ in range(len(expected) + 1)]
    earned = [[credit(want, got) for got in called] for want in expected]
    for i, row in enumerate(earned):
        for j, value in enumerate(row):
            taken = table[i][j] + value if value else 0.0
            table[i + 1][j + 1] = max(table[i][j + 1], table[i + 1][j], taken)
    credits = [0.0] * len(expected)
    i, j = len(expected), len(called)
    while i and j:
        if table[i][j] == table[i - 1][j]:
            i -= 1
        elif table[i][j] == table[i][j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            credits[i] = earned[i][j]
    return credits


def _check_pairs(expected: Sequence[ToolCall], called: Sequence[ToolCall]) -> None:
    if len(expected) * len(called) > MOST_PAIRS:
        raise DataError(
            f"{len(expected)} expected calls are too many to compare with each of {len(called)} made: the most "
            f"are {MOST_PAIRS} pairs"
        )


def mean_credit(findings: Sequence[Finding], *, match: str = "anywhere", strict: bool = False) -> float:
    """The mean of the findings' credits, 1 without any; 0 to 1, higher is better.

    For an exact match, or strictly, anything less than 1 is 0.
    """
    if not findings:
        return 1.0
    credits = [finding.details["credit"] for finding in findings if finding.details is not None]
    mean = float(sum(credits) / len(credits))
    return 0.0 if mean < 1 and (strict or match == "exactly") else mean


def tool_correctness(point: DataPoint, options: ToolCorrectnessOptions) -> Score:
    """The credit of the expected calls / expected calls; more calls than expected do not lower it, unless "exactly".

    Source: Akka evalkit, DeepEval.
    """
    expected, called = point.expected_tools or (), point.tools or ()
    findings = tool_findings(expected, called, options)
    score = mean_credit(findings, match=options.match, strict=options.strict)
    return verdict(score, options, reason=_reason(expected, called, findings), findings=findings)


def argument_match(point: DataPoint, options: Thresholded) -> Score:
    """The mean, over the expected calls, of the share of expected arguments that the matched call has.

    Source: Akka evalkit.
    """
    expected, called = point.expected_tools or (), point.tools or ()
    if not expected or not called:
        return Score.inconclusive(reason="no tool was called" if expected else "no tool is expected")
    credits = credits_anywhere(
        expected, called, lambda want, got: expected_share(want, got) if want.name == got.name else 0.0
    )
    fault = partial(fault_of, called=called, arguments=True, extra=False, output=False)
    findings = _findings(expected, credits, fault)
    return verdict(mean_credit(findings), options, reason=_reason(expected, called, findings), findings=findings)


def _findings(
    expected: Sequence[ToolCall], credits: Sequence[float], fault: Callable[[ToolCall], str]
) -> list[Finding]:
    return [
        _finding(want.name, credit, fault(want) if credit < 1 else None)
        for want, credit in zip(expected, credits, strict=True)
    ]


def _finding(name: str, credit: float, reason: str | None) -> Finding:
    values = {"text": name, "passed": credit == 1, "reason": reason, "details": {"credit": credit}}
    return Finding.trusted({key: value for key, value in values.items() if value is not None})


def _reason(expected: Sequence[ToolCall], called: Sequence[ToolCall], findings: Sequence[Finding]) -> str:
    right = sum(1 for finding in findings if finding.passed)
    wrong = [f"{finding.text}: {finding.reason}" for finding in findings if not finding.passed]
    told = "; ".join(wrong[:MAX_TOLD]) + ("; and more" if len(wrong) > MAX_TOLD else "")
    whole = f"{right} of {len(expected)} expected calls were made"
    return f"{whole}; {told}" if told else f"{whole}; called {names_of(called)}"


EVALUATORS = (
    Heuristic(
        name="rule/tool_correctness",
        fn=tool_correctness,
        options=ToolCorrectnessOptions,
        display_name="Tool correctness",
        definition="The tools that were expected were called.",
        formula="credit of the expected calls / expected calls; none expected: 1 if none was called, else 0",
        source="Akka evalkit",
        kind="deterministic",
        requires=("tools", "expected_tools"),
        aliases={"akka/ToolCorrectness": {}},
    ),
    Heuristic(
        name="rule/argument_match",
        fn=argument_match,
        options=Thresholded,
        display_name="Argument match",
        definition="The expected calls were made with the expected arguments.",
        formula="mean over expected calls of: expected arguments with an equal value / expected arguments",
        source="Akka evalkit",
        kind="deterministic",
        requires=("tools", "expected_tools"),
        aliases={"akka/ArgumentCorrectness": {}},
    ),
)
"""The evaluators of this module."""
