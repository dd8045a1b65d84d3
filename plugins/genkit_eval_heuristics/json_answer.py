"""An answer read as JSON, strictly: what a program that takes it over would read."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from pydantic import Field, JsonValue

from genkit_eval.errors import no_constant
from genkit_eval_heuristics.definition import Thresholded

__all__ = ["FenceOptions", "JsonAnswer", "is_blank", "json_kind", "read_json"]

MAX_PROBLEM = 120

_FENCE = re.compile(r"(`{3,}|~{3,})[^\n`]*\n")
_KINDS = {bool: "boolean", int: "number", float: "number", str: "string", list: "array", dict: "object"}


class FenceOptions(Thresholded):
    """Whether a code fence around the answer is looked through."""

    strip_fences: bool = Field(
        default=False, description="Whether JSON in a Markdown code fence counts; a program would fail on the fence."
    )


@dataclass(frozen=True, slots=True)
class JsonAnswer:
    """What an answer is as JSON: a value, or the problem with it."""

    value: JsonValue = None
    problem: str | None = None
    fenced: bool = False
    """Whether there is a code fence around it."""

    @property
    def details(self) -> dict[str, JsonValue]:
        """That it was fenced, if it was."""
        return {"fenced": True} if self.fenced else {}


def read_json(output: JsonValue, *, strip_fences: bool) -> JsonAnswer:
    """The value that an answer is: text is parsed as a whole, by RFC 8259; anything else is a value already."""
    if not isinstance(output, str):
        return JsonAnswer(output)
    inside = _inside_fence(output)
    fenced = inside is not None
    try:
        text = inside if inside is not None and strip_fences else output
        return JsonAnswer(_parsed(text), fenced=fenced)
    except RecursionError:
        return JsonAnswer(problem="it nests too deeply", fenced=fenced)
    except ValueError as problem:
        told = "there is a code fence around it" if fenced and not strip_fences else str(problem)[:MAX_PROBLEM]
        return JsonAnswer(problem=told, fenced=fenced)


def _parsed(text: str) -> JsonValue:
    value: JsonValue
    try:
        value = json.loads(text, parse_constant=no_constant)
    except json.JSONDecodeError:
        raise
    except ValueError:
        # Python reads no whole number of more than 4,300 digits; as 1e9999 is, it is beyond what a float holds
        value = json.loads(text, parse_constant=no_constant, parse_int=float)
    return value


def _inside_fence(output: str) -> str | None:
    """What is in the code fence around a text; None without one."""
    text = output.strip() if "```" in output or "~~~" in output else ""
    opening = _FENCE.match(text)
    if opening is None or not text.endswith(opening[1]) or len(text) < opening.end() + len(opening[1]):
        return None
    return text[opening.end() : -len(opening[1])]


def is_blank(output: JsonValue) -> bool:
    """Whether there is no answer: null, or text without anything in it."""
    return output is None or (isinstance(output, str) and not output.strip())


def json_kind(value: JsonValue) -> str:
    """The JSON type of a value: null, boolean, number, string, array or object."""
    return _KINDS.get(type(value), "null")
