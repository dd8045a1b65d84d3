"""The options of an evaluator in words, each with its default as `-e` takes it."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from typing import Any

from pydantic_core import to_jsonable_python

from genkit_eval.definitions import Evaluator
from genkit_eval.report.lines import Ink, Line, Span, blank, line
from genkit_eval.report.text import wrap

__all__ = ["option_lines", "taken_by"]

MOST_LINES = 10

_BARE = re.compile(r"[A-Za-z_][\w./-]*")
_KINDS = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "array": "list",
    "object": "object",
    "null": "null",
}


def option_lines(evaluator: Evaluator, width: int) -> list[Line]:
    """Each option with its default, what it takes, and what it means; nothing where there are none."""
    if evaluator.options is None or not evaluator.options.model_fields:
        return []
    schema = evaluator.options.model_json_schema()
    own = evaluator.metadata.get("custom")
    lines = [blank(), line(Span("options", Ink.FAINT))]
    for name, info in evaluator.options.model_fields.items():
        default = (
            "required"
            if info.is_required()
            else _written(evaluator.presets.get(name, info.get_default(call_default_factory=True)))
        )
        taken = taken_by(schema["properties"][info.alias or name], schema.get("$defs", {}))
        if isinstance(own, Collection) and name in own:
            taken += f"; a sample may carry its own in custom.{name}"
        head, *more = wrap(f"{name}={default}  {taken}", width - 6, lines=MOST_LINES)
        lines += [line("  ", Span(head, Ink.STRONG)), *(line(f"      {part}") for part in more)]
        meaning = wrap(info.description or "", width - 4, lines=MOST_LINES)
        lines += [line(Span(f"    {part}", Ink.FAINT)) for part in meaning if part]
    return [
        *lines,
        blank(),
        line(Span(f"-e {evaluator.name}:{next(iter(evaluator.options.model_fields))}=…", Ink.FAINT)),
    ]


def _written(value: object) -> str:
    """A default as it would stand behind the option's name; an ellipsis where there is none."""
    if value is None:
        return "…"
    plain = to_jsonable_python(value, fallback=str)
    return plain if isinstance(plain, str) and _BARE.fullmatch(plain) else json.dumps(plain, ensure_ascii=False)


def taken_by(schema: Mapping[str, Any], defined: Mapping[str, Any]) -> str:
    """What values a JSON Schema takes, in words; null, which stands for no value, is left out."""
    if "$ref" in schema:
        schema = defined[schema["$ref"].rpartition("/")[2]]
    choices = schema.get("enum") or ([schema["const"]] if "const" in schema else [])
    if choices:
        return " or ".join(map(_written, choices))
    if "anyOf" in schema:
        kinds = [taken_by(kind, defined) for kind in schema["anyOf"]]
        return " or ".join(dict.fromkeys(kind for kind in kinds if kind != "null"))
    inner = schema.get("items") or schema.get("additionalProperties")
    within = f": {taken_by(inner, defined)}" if isinstance(inner, Mapping) and inner else ""
    return _KINDS.get(schema.get("type", ""), "any value") + within + _bounds(schema)


def _bounds(schema: Mapping[str, Any]) -> str:
    if "minimum" in schema and "maximum" in schema:
        return f", {schema['minimum']:g} to {schema['maximum']:g}"
    words = {"minimum": "at least", "exclusiveMinimum": "above", "maximum": "at most", "exclusiveMaximum": "below"}
    return "".join(f", {word} {schema[name]:g}" for name, word in words.items() if name in schema)
