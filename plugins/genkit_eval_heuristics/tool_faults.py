"""What is wrong with an expected call, in words: it was not made, or not so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from genkit_eval import ToolCall
from genkit_eval.text import shown
from genkit_eval_heuristics.tool_arguments import by_name, expected_share, same_json

__all__ = ["fault_of", "names_of"]

MAX_NAMES = 10


def fault_of(want: ToolCall, called: Sequence[ToolCall], *, arguments: bool, extra: bool, output: bool) -> str:
    """Why the call of this tool that comes nearest to the expected one is not it.

    Args:
        want: a call that did not earn all of its credit.
        called: all calls that were made.
        arguments: expected arguments count.
        extra: so do those that were not expected.
        output: the output counts.
    """
    same = [call for call in called if call.name == want.name]
    if not same:
        return "not called"
    nearest = max(same, key=lambda call: expected_share(want, call))
    differing = [*_differing(want, nearest, extra=extra)] if arguments and want.has("arguments") else []
    if differing:
        return differing[0] + (", and more" if len(differing) > 1 else "")
    if (
        output
        and want.has("output")
        and not any(call.has("output") and same_json(want.output, call.output) for call in same)
    ):
        return "another output than expected"
    return "not at its place, or not often enough"


def _differing(want: ToolCall, got: ToolCall, *, extra: bool) -> Iterator[str]:
    ours, theirs = by_name(want.arguments), by_name(got.arguments)
    for name, value in ours.items():
        if name not in theirs:
            yield f"{name or 'the argument'} is not given, expected {shown(value)}"
        elif not same_json(value, theirs[name]):
            yield f"{name or 'the argument'} is {shown(theirs[name])}, expected {shown(value)}"
    if extra:
        yield from (f"{name or 'the argument'} was not expected" for name in theirs if name not in ours)


def names_of(calls: Sequence[ToolCall]) -> str:
    """The names of calls; "none" without any."""
    shown = ", ".join(call.name for call in calls[:MAX_NAMES]) or "none"
    return f"{shown}, and {len(calls) - MAX_NAMES} more" if len(calls) > MAX_NAMES else shown
