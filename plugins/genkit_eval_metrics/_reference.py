"""What the metrics whose reference is a program have in common."""

from __future__ import annotations

from pydantic import JsonValue

from genkit_eval import Sample
from genkit_eval.errors import DataError, shortened
from genkit_eval.text import shown

__all__ = ["jsonata_fault", "kind_of", "quoted", "text_reference"]


def text_reference(sample: Sample, meaning: str) -> str:
    """The reference, which has to be text.

    Raises:
        DataError: there is none, or it is something else; says what.
    """
    if not sample.has("reference"):
        raise DataError(f"reference must be text ({meaning}), found none")
    reference = sample.reference
    if not isinstance(reference, str):
        found = "null" if reference is None else f"{kind_of(reference)} {shown(reference)}"
        raise DataError(f"reference must be text ({meaning}), found {found}")
    return reference


def kind_of(value: JsonValue) -> str:
    """The JSON type of a value, in a word."""
    if value is None:
        return "null"
    names = ((bool, "boolean"), (int | float, "number"), (str, "string"), (list, "list"), (dict, "object"))
    return next(name for kind, name in names if isinstance(value, kind))


def jsonata_fault(expression: str, error: str) -> str:
    """What is wrong with a JSONata expression, as messages say it."""
    return f"JSONata: {error}, in {quoted(expression)}"


def quoted(program: str) -> str:
    """A pattern or expression as messages show it: as written, cut to 80 characters."""
    return f"'{shortened(program)}'"
