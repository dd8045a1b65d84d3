"""The keys of a sample: how they are spelt, what each may hold, and what people write instead."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from genkit_eval.types import Sample

__all__ = ["ATTRIBUTES", "CHECKS", "KEYS", "NULLABLE", "OUTPUTS", "Check", "kind_of", "meant"]

KEYS: Mapping[str, str] = {name: field.alias or name for name, field in Sample.model_fields.items()}
"""The key on disk of every attribute."""

ATTRIBUTES: Mapping[str, str] = {key: name for name, key in KEYS.items()} | {name: name for name in KEYS}
"""The attribute of every accepted key: the camelCase of the format, and snake_case."""

NULLABLE = Sample.nullable

OUTPUTS = ("output", "error", "turns", "output_attachments")
"""Fields any of which makes a sample one whose output is given."""


@dataclass(frozen=True, slots=True)
class Check:
    """What a simple field may hold, beside null for "not given"."""

    expected: str
    fits: Callable[[object], bool]
    kind: type | None = None
    """The Python type that says as much as `fits`, of values that come from JSON."""


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_text_or_texts(value: object) -> bool:
    return isinstance(value, str) or _is_texts(value)


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _anything(value: object) -> bool:
    return True


_TEXT = Check("text", _is_text, str)
_TEXTS = Check("a list of text", _is_texts)
_LIST = Check("a list", _is_list, list)
_TEXT_OR_TEXTS = Check("text or a list of text", _is_text_or_texts)
_ANYTHING = Check("anything", _anything)

CHECKS: Mapping[str, Check] = {
    "test_case_id": _TEXT,
    "input": _ANYTHING,
    "output": _ANYTHING,
    "reference": _ANYTHING,
    "error": _TEXT,
    "context": _LIST,
    "custom": Check("an object", _is_object, dict),
    "trace_ids": _TEXTS,
    "tags": _TEXTS,
    "instructions": _TEXT_OR_TEXTS,
    "relevant_ids": _TEXTS,
    "retrieved_ids": _TEXTS,
    "plan": _TEXT_OR_TEXTS,
    "goal": _TEXT,
    "system_prompt": _TEXT,
    "user_id": _TEXT,
    "session_id": _TEXT,
    "tool_catalog": _LIST,
    "attachments": _LIST,
    "output_attachments": _LIST,
    "latency": Check("a finite number of seconds", _is_number),
}
"""The fields that need no model to be checked; the others are validated as Sample declares them."""

_OTHER_NAMES = {
    "input": "inputs question query prompt user_input userinput",
    "reference": "expected expected_output expectedoutput expected_answer ground_truth groundtruth target ideal golden",
    "output": "actual_output actualoutput response answer prediction completion generated",
    "context": "contexts retrieved_contexts retrievedcontexts documents retrieval_context retrieved_documents",
    "goal": "conversation_goal",
    "turns": "conversation_history",
    "testCaseId": "id case_id caseid test_id testid sample_id uid",
    "tags": "tag labels",
    "custom": "metadata meta",
    "traceIds": "traceid trace_id",
}
_MEANT = {other: key for key, others in _OTHER_NAMES.items() for other in others.split()}


def meant(key: str) -> str | None:
    """The known key that an unknown one probably stands for: another tool's word for it, or a slip of the fingers."""
    word = key.strip().lower().replace("-", "_").replace(" ", "_")
    if word in _MEANT:
        return _MEANT[word]
    lowered = {known.lower(): target for known, name in ATTRIBUTES.items() for target in (KEYS[name],)}
    near = get_close_matches(word, lowered, n=1, cutoff=0.8)
    return lowered[near[0]] if near else None


_KINDS = {str: "text", bool: "a boolean", int: "a number", float: "a number", list: "a list", dict: "an object"}


def kind_of(value: object) -> str:
    """What a JSON value is, in words."""
    if value is None:
        return "null"
    if isinstance(value, dict):
        return "an object"
    return _KINDS.get(type(value), type(value).__name__)
