"""How well the arguments of a tool call are those that were expected."""

from __future__ import annotations

import json
from collections.abc import Mapping

from pydantic import JsonValue

from genkit_eval import ToolCall

__all__ = ["agreement", "by_name", "expected_share", "same_json"]


def same_json(one: JsonValue, other: JsonValue) -> bool:
    """Whether two values are the same JSON: 1 and 1.0 are, 1 and true are not; the order of keys does not matter."""
    waiting = [(one, other)]
    while waiting:
        ours, theirs = waiting.pop()
        if isinstance(ours, bool) or isinstance(theirs, bool):
            if ours is not theirs:
                return False
        elif isinstance(ours, dict) and isinstance(theirs, dict):
            if ours.keys() != theirs.keys():
                return False
            waiting += [(value, theirs[key]) for key, value in ours.items()]
        elif isinstance(ours, list) and isinstance(theirs, list):
            if len(ours) != len(theirs):
                return False
            waiting += zip(ours, theirs, strict=True)
        elif ours != theirs:
            return False
    return True


def agreement(expected: ToolCall, called: ToolCall) -> float:
    """Arguments that agree / arguments of either call, 0 to 1; 1 where the expected call does not tell its arguments.

    Source: DeepEval's tool correctness.
    """
    if not expected.has("arguments"):
        return 1.0
    ours, theirs = by_name(expected.arguments), by_name(called.arguments)
    names = ours.keys() | theirs.keys()
    return _same(ours, theirs) / len(names) if names else 1.0


def expected_share(expected: ToolCall, called: ToolCall) -> float:
    """Expected arguments that the call has with the same value / expected arguments; 1 where none are expected."""
    ours = by_name(expected.arguments)
    return _same(ours, by_name(called.arguments)) / len(ours) if ours else 1.0


def _same(ours: Mapping[str, JsonValue], theirs: Mapping[str, JsonValue]) -> int:
    return sum(1 for name, value in ours.items() if name in theirs and same_json(value, theirs[name]))


def by_name(arguments: JsonValue) -> Mapping[str, JsonValue]:
    """The arguments; models give them as the text of an object, and what is no object is one argument without name."""
    if isinstance(arguments, str):
        try:
            parsed = json.loads(arguments)
        except (ValueError, RecursionError):
            parsed = None
        arguments = parsed if isinstance(parsed, dict) else arguments
    if arguments is None or arguments == "":
        return {}
    return arguments if isinstance(arguments, dict) else {"": arguments}
