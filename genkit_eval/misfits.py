"""What does not fit a model, in words for whoever wrote the value: pydantic's errors without pydantic's vocabulary."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from genkit_eval.errors import shortened

__all__ = ["explained", "misfits", "shown"]

MAX_MISFITS = 5
KINDS: Mapping[str, str] = {
    "string": "text",
    "tuple": "a list",
    "list": "a list",
    "set": "a list",
    "boolean": "true or false",
    "number": "a number",
    "integer": "a whole number",
    "dictionary": "an object",
}
_THINGS = "Input|Value|String|List|Tuple|Set|Dictionary"


class _Misfit(NamedTuple):
    """One thing that is wrong: where, what was expected, and in which of several forms that are allowed there."""

    place: str
    message: str
    found: str
    form: str | None
    is_other_kind: bool


def explained(problem: ValidationError, document: object) -> str:
    """What does not fit, each with its place in the document; at most five."""
    texts = [f"{place}: {message}" if place else message for place, message in misfits(problem, document)]
    more = len(texts) - MAX_MISFITS
    return "; ".join(texts[:MAX_MISFITS]) + (f"; and {more} more" if more > 0 else "")


def misfits(problem: ValidationError, document: object) -> Sequence[tuple[str, str]]:
    """The place of each thing that does not fit ("turns[0].role"; "" for the whole), and what is wrong with it.

    Args:
        problem: what pydantic says.
        document: what it said it of.
    """
    errors = problem.errors(include_url=False)
    return list(dict.fromkeys(_told([_misfit(error, document) for error in errors])))


def shown(value: object) -> str:
    """A value in a message: a short one as it is in JSON or Python, of others the beginning, or what they are."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list | tuple):
        return "a list"
    return shortened(repr(value))


def _told(wrong: Sequence[_Misfit]) -> Iterator[tuple[str, str]]:
    """One text each; where several forms are allowed, that which was meant counts, or else all of them together."""
    for form in dict.fromkeys(item.form for item in wrong):
        alike = [item for item in wrong if item.form == form]
        meant = [item for item in alike if form is None or not item.is_other_kind]
        if meant:
            yield from ((item.place, item.message + item.found) for item in meant)
        else:
            first, *others = dict.fromkeys(item.message.removeprefix("expected ") for item in alike)
            expected = ", ".join([first, *others[:-1]]) + (f" or {others[-1]}" if others else "")
            yield alike[0].place, f"expected {expected}{alike[0].found}"


def _misfit(error: ErrorDetails, document: object) -> _Misfit:
    kind, given = error["type"], error["input"]
    place, form = _place(error["loc"], document, is_missing=kind == "missing")
    is_other_kind = place == form and kind.endswith(("_type", "_parsing", "literal_error"))
    message, found = {"missing": "is missing", "extra_forbidden": "unknown key"}.get(kind, ""), ""
    if kind in ("value_error", "assertion_error"):
        message = re.sub(r"^(Value error|Assertion failed), ", "", error["msg"])
        # what is wrong with several values together was found in none of them
        is_alone = place and not isinstance(given, Mapping | list | tuple)
        found = f", found {shown(given)}" if is_alone and not _tells(message, given) else ""
    elif kind in ("string_too_short", "string_pattern_mismatch") and not str(given).strip():
        message = "is empty"
    elif not message:
        length = error.get("ctx", {}).get("actual_length")
        message, found = _expected(error), f", found {shown(given) if length is None else length}"
    return _Misfit(place, message, found, form, is_other_kind)


def _tells(message: str, value: object) -> bool:
    return re.search(rf"(?<!\w){re.escape(shown(value))}(?!\w)", message) is not None


def _expected(error: ErrorDetails) -> str:
    if error["type"] == "string_pattern_mismatch":
        return f"expected text that matches {error['ctx']['pattern']}"
    message = re.sub(rf"^({_THINGS}) should( be| have)?", "expected", error["msg"])
    message = re.sub(r" after validation, not .*$", "", message)
    message = re.sub(rf"^expected a valid ({'|'.join(KINDS)})\b.*", lambda kind: f"expected {KINDS[kind[1]]}", message)
    return re.sub(r"^expected None$", "expected null", message)


def _place(location: Sequence[int | str], document: object, *, is_missing: bool) -> tuple[str, str | None]:
    """Where it is, and where several forms are allowed on the way there; what is no key names one of the forms."""
    place, form = "", None
    value = document
    for number, part in enumerate(location):
        if isinstance(part, int):
            place += f"[{part}]"
            value = value[part] if isinstance(value, list | tuple) and part < len(value) else None
        elif isinstance(value, Mapping) and (part in value or (is_missing and number == len(location) - 1)):
            place += f".{part}" if place else part
            value = value.get(part)
        else:
            form = place
    return place, form
