"""The answer as JSON: `heuristic/json_validity`, `heuristic/json_correctness`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import BeforeValidator, Field, JsonValue

from genkit_eval import DataPoint, Finding, Score
from genkit_eval_heuristics.definition import Heuristic, verdict
from genkit_eval_heuristics.json_answer import FenceOptions, is_blank, json_kind, read_json

__all__ = [
    "EVALUATORS",
    "CorrectnessOptions",
    "Schema",
    "aggregate",
    "correctness_findings",
    "json_correctness",
    "json_validity",
]

VALID, FIELDS, TYPES = 0.4, 0.3, 0.3
TYPE_NAMES = ("array", "boolean", "integer", "null", "number", "object", "string")


def _as_object(value: object) -> object:
    """A schema as it is, or out of its text."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as problem:
        raise ValueError(f"the schema is no JSON: {problem}") from None


def _with_known_types(schema: object) -> object:
    """Refuse property types that JSON Schema does not have: they would count against the answer."""
    schema = _as_object(schema)
    properties = schema.get("properties", {}) if isinstance(schema, Mapping) else {}
    if not isinstance(properties, Mapping):
        raise ValueError("the schema's 'properties' is no object")
    for name, inner in properties.items():
        unknown = [kind for kind in _types(inner) if kind not in TYPE_NAMES]
        if unknown:
            raise ValueError(f"property '{name}' has the type {unknown[0]!r}: expected one of {', '.join(TYPE_NAMES)}")
    return schema


Schema = Annotated[Mapping[str, JsonValue] | None, BeforeValidator(_as_object)]
"""A JSON Schema, or its text."""


class CorrectnessOptions(FenceOptions):
    """What the answer has to hold."""

    required_fields: Sequence[str] = Field(default=(), description="The fields that the object must have.")
    json_schema: Annotated[Mapping[str, JsonValue] | None, BeforeValidator(_with_known_types)] = Field(
        default=None, description="A JSON Schema; the types of its properties are checked."
    )


def json_validity(point: DataPoint, options: FenceOptions) -> Score:
    """1 if the answer as a whole is one JSON value, else 0; higher is better.

    By RFC 8259: no `NaN`, no text before or after, no second value, no code fence (unless `strip_fences`). An output
    that is not text is JSON already.
    """
    read = read_json(point.output, strip_fences=options.strip_fences)
    reason = f"not JSON: {read.problem}" if read.problem else f"it is JSON: {json_kind(read.value)}"
    return verdict(0.0 if read.problem else 1.0, options, reason=reason, details=read.details)


def json_correctness(point: DataPoint, options: CorrectnessOptions) -> Score:
    """0.4 · valid + 0.3 · share of required fields + 0.3 · share of property types that match; higher is better.

    0 to 1. Fields and types are those at the top of an object; properties that the answer does not have are not
    counted among the types, and a part with nothing to check counts fully. 1.0 is an integer, true is not. What is
    not JSON, or empty, is 0.
    """
    if is_blank(point.output):
        return verdict(0.0, options, reason="the answer is empty")
    read = read_json(point.output, strip_fences=options.strip_fences)
    if read.problem:
        return verdict(0.0, options, reason=f"not JSON: {read.problem}", details=read.details)
    findings = correctness_findings(read.value, options.required_fields, options.json_schema or {})
    wrong = [f"{finding.text} {finding.reason}" for finding in findings if not finding.passed]
    reason = "; ".join(wrong) if wrong else "it is JSON, with all that was asked for"
    return verdict(aggregate(findings), options, reason=reason, findings=findings, details=read.details)


def correctness_findings(
    value: JsonValue, required: Sequence[str], schema: Mapping[str, JsonValue]
) -> Sequence[Finding]:
    """For each required field whether it is there (category "field"), for each property its type ("type")."""
    fields: Mapping[str, JsonValue] = value if isinstance(value, dict) else {}
    findings = [
        _finding(name, name in fields, "field", "is there" if name in fields else "is missing") for name in required
    ]
    properties = schema.get("properties")
    for name, inner in properties.items() if isinstance(properties, Mapping) else ():
        kinds = _types(inner)
        if kinds and name in fields:
            fits = any(_is_a(fields[name], kind) for kind in kinds)
            wanted = f"the type {' or '.join(kinds)}"
            reason = f"has {wanted}" if fits else f"is of type {json_kind(fields[name])}, not of {wanted}"
            findings.append(_finding(name, fits, "type", reason))
    return findings


def aggregate(findings: Sequence[Finding]) -> float:
    """The score of a valid answer from what was found of its fields and types."""
    return VALID + FIELDS * _share(findings, "field") + TYPES * _share(findings, "type")


def _share(findings: Sequence[Finding], category: str) -> float:
    held = [finding.passed is True for finding in findings if finding.category == category]
    return sum(held) / len(held) if held else 1.0


def _finding(text: str, passed: bool, category: str, reason: str) -> Finding:
    return Finding.trusted({"text": text, "passed": passed, "category": category, "reason": reason})


def _types(schema: object) -> Sequence[str]:
    kinds = schema.get("type") if isinstance(schema, Mapping) else None
    if kinds is None:
        return ()
    return [str(kind) for kind in kinds] if isinstance(kinds, list) else [str(kinds)]


def _is_a(value: JsonValue, kind: str) -> bool:
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return json_kind(value) == ("number" if kind == "integer" else kind)


EVALUATORS = (
    Heuristic(
        name="heuristic/json_validity",
        fn=json_validity,
        options=FenceOptions,
        display_name="JSON validity",
        definition="The answer is JSON.",
        formula="1 if it parses as one JSON value, else 0",
        source="Akka evalkit; RFC 8259",
        kind="heuristic",
        requires=("output",),
        non_empty=("output",),
        aliases={"akka/JsonValidity": {}},
    ),
    Heuristic(
        name="heuristic/json_correctness",
        fn=json_correctness,
        options=CorrectnessOptions,
        display_name="JSON correctness",
        definition="The answer is JSON, has the required fields, and its properties have the right types.",
        formula="0.4 · valid + 0.3 · required fields there + 0.3 · types that match; not JSON or empty 0",
        source="TnsAI",
        kind="heuristic",
        requires=("output",),
        custom=("required_fields", "json_schema"),
        aliases={"tnsai/json_correctness": {}},
    ),
)
