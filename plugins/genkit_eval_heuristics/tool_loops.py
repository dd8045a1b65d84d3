"""`heuristic/tool_loops`: the agent did not call the same tools with the same arguments over and over."""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from pydantic import Field

from genkit_eval import DataPoint, Finding, Score, ToolCall
from genkit_eval_heuristics.definition import Heuristic, Thresholded, verdict
from genkit_eval_heuristics.tool_arguments import by_name

__all__ = ["EVALUATORS", "Loop", "ToolLoopsOptions", "loops_in", "tool_loops", "unlooped_share"]


class ToolLoopsOptions(Thresholded):
    """What counts as a loop."""

    threshold: float = Field(default=1.0, ge=0, le=1, description="PASS at this score or above: without any loop.")
    rounds: int = Field(default=3, ge=2, description="How many times in a row make a loop.")
    longest: int = Field(default=4, ge=1, le=20, description="How many calls one round may have.")


@dataclass(frozen=True, slots=True)
class Loop:
    """A round of calls that comes again and again, from `start` on."""

    start: int
    size: int
    rounds: int

    @property
    def surplus(self) -> int:
        """The calls after the first round."""
        return self.size * (self.rounds - 1)


def loops_in(calls: Sequence[Hashable], *, rounds: int = 3, longest: int = 4) -> list[Loop]:
    """The loops in a sequence of calls, from left to right, none within another; the shortest round is taken."""
    found, start = [], 0
    while start < len(calls):
        loop = next(
            (loop for size in range(1, longest + 1) if (loop := _loop(calls, start, size)).rounds >= rounds), None
        )
        if loop is None:
            start += 1
            continue
        found.append(loop)
        start += loop.size * loop.rounds
    return found


def _loop(calls: Sequence[Hashable], start: int, size: int) -> Loop:
    end = start + size
    while end < len(calls) and calls[end] == calls[end - size]:
        end += 1
    return Loop(start, size, max(1, (end - start) // size))


def unlooped_share(loops: Sequence[Loop], calls: int) -> float:
    """1 - calls after the first round of their loop / calls (at least one), 0 to 1, higher is better."""
    return 1 - sum(loop.surplus for loop in loops) / calls


def tool_loops(point: DataPoint, options: ToolLoopsOptions) -> Score:
    """The share of calls that are no repetition of a loop; the same call is the same tool with the same arguments."""
    calls = point.tools or ()
    if not calls:
        return Score.inconclusive(reason="no tool was called")
    loops = loops_in([_key(call) for call in calls], rounds=options.rounds, longest=options.longest)
    findings = [_finding(loop, calls) for loop in loops]
    reason = "; ".join(f"{finding.text} {finding.reason}" for finding in findings) or "no loop"
    return verdict(unlooped_share(loops, len(calls)), options, reason=reason, findings=findings)


def _key(call: ToolCall) -> Hashable:
    return call.name, json.dumps(by_name(call.arguments), sort_keys=True)


def _finding(loop: Loop, calls: Sequence[ToolCall]) -> Finding:
    names = ", ".join(call.name for call in calls[loop.start : loop.start + loop.size])
    return Finding.trusted(
        {
            "text": names,
            "passed": False,
            "reason": f"{loop.rounds} times in a row, from call {loop.start + 1} on",
            "details": {"start": loop.start, "rounds": loop.rounds},
        }
    )


EVALUATORS = (
    Heuristic(
        name="heuristic/tool_loops",
        fn=tool_loops,
        options=ToolLoopsOptions,
        display_name="Tool loops",
        definition="The same calls were not made over and over.",
        formula="1 - calls after the first round of a loop / calls",
        source="own",
        kind="heuristic",
        requires=("tools",),
    ),
)
"""The evaluators of this module."""
