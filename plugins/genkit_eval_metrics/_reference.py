"""What the metrics whose reference is a program have in common."""

from __future__ import annotations

import json

from pydantic import JsonValue

from genkit_eval import Sample, json_text
from genkit_eval.errors import DataError

__all__ = ["kind_of", "quoted", "shown", "text_reference"]

MAX_SHOWN = 80


def text_reference(sample: Sample, meaning: str) -> str:
    """The reference, which has to be text.

    Raises:
        DataError: there is none, or it is something else; says what.
    """
    if not sample.has("reference"):
        raise DataError(f"reference must be text ({meaning}), found none")
    reference = sample.reference
    if not isinstance(reference, str):
        raise DataError(f"reference must be text ({meaning}), found {kind_of(reference)} {shown(reference)}".rstrip())
    return reference


def kind_of(value: JsonValue) -> str:
    """The JSON type of a value, in a word."""
    if value is None:
        return "null"
    names = ((bool, "boolean"), (int | float, "number"), (str, "string"), (list, "list"), (dict, "object"))
    return next(name for kind, name in names if isinstance(value, kind))


def shown(value: JsonValue) -> str:
    """A value as messages show it: JSON, cut to 80 characters; nothing for null."""
    if value is None:
        return ""
    text = json.dumps(value[: MAX_SHOWN + 1], ensure_ascii=False) if isinstance(value, str) else json_text(value)
    return text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "…"


def quoted(program: str) -> str:
    """A pattern or expression as messages show it: as written, cut to 80 characters."""
    return f"'{program}'" if len(program) <= MAX_SHOWN else f"'{program[:MAX_SHOWN]}…'"
