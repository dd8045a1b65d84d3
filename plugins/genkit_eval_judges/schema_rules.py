"""What the reader of an evaluator in a file demands of several values together, as far as JSON Schema can say it.

Which texts may speak of which variables, and that labels differ, only the reader can tell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

__all__ = ["RULES"]


def _properties(**given: JsonValue) -> dict[str, JsonValue]:
    return {"properties": {**given}}


def _where_scale(is_like: JsonValue, then: JsonValue) -> JsonValue:
    return {"if": {"required": ["scale"], **_properties(scale=is_like)}, "then": then}


def _scores(score: JsonValue) -> JsonValue:
    """The demonstrations, all with such a score."""
    return {"items": _properties(score=score)}


_RESPONSE: JsonValue = {
    "anyOf": [
        {"const": "response"},
        {
            "type": "object",
            "required": ["name"],
            **_properties(name={"const": "response"}, required={"const": True}, nearest={"type": "null"}),
        },
    ]
}
_SHOWS_RESPONSE = _properties(variables={"anyOf": [{"maxItems": 0}, {"contains": _RESPONSE}]})

RULES: Mapping[str, Sequence[JsonValue]] = {
    "geval": [_SHOWS_RESPONSE],
    "criterion": [
        _SHOWS_RESPONSE,
        _properties(name={"not": {"pattern": "^geval[/_]"}}),
        _where_scale(
            {"const": "binary"},
            _properties(anchors=_properties(middle={"type": "null"}), demonstrations=_scores({"type": "boolean"})),
        ),
        _where_scale(
            {"type": "array"},
            _properties(scale={"minItems": 2}, anchors={"type": "null"}, demonstrations=_scores({"type": "string"})),
        ),
        _where_scale({"type": "object"}, _properties(demonstrations=_scores({"type": "number"}))),
        {
            # where there is none too
            "if": _properties(scale={"const": "continuous"}),
            "then": _properties(demonstrations=_scores({"type": "number", "minimum": 0, "maximum": 1})),
        },
    ],
}
"""The rules of each kind, all of which hold."""
