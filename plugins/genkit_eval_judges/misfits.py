"""What is wrong with a document of an evaluator, in words for whoever wrote it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue, ValidationError
from pydantic_core import ErrorDetails

__all__ = ["misfits", "shown"]

SHOWN = 5
KINDS: Mapping[str, str] = {
    "a valid string": "text",
    "a valid tuple": "a list",
    "a valid list": "a list",
    "a valid boolean": "true or false",
    "a valid number": "a number",
    "a valid integer": "a whole number",
}


@dataclass(frozen=True, slots=True)
class _Misfit:
    """One thing that is wrong: where, what was expected, and in which of several forms that are allowed there."""

    place: str
    message: str
    found: str
    form: str | None
    is_other_kind: bool


def misfits(problem: ValidationError, document: JsonValue) -> str:
    """What does not fit, each with its place in the document; at most five."""
    found = [*_told([_misfit(error, document) for error in problem.errors(include_url=False)])]
    return "; ".join(found[:SHOWN]) + (f"; and {len(found) - SHOWN} more" if len(found) > SHOWN else "")


def _told(wrong: Sequence[_Misfit]) -> Iterator[str]:
    """One text each; where several forms are allowed, that which was meant counts, or else all of them together."""
    for form in dict.fromkeys(item.form for item in wrong):
        alike = [item for item in wrong if item.form == form]
        meant = [item for item in alike if form is None or not item.is_other_kind]
        if meant:
            yield from (_text(item.place, item.message, item.found) for item in meant)
        else:
            first, *others = dict.fromkeys(item.message.removeprefix("expected ") for item in alike)
            expected = ", ".join([first, *others[:-1]]) + (f" or {others[-1]}" if others else "")
            yield _text(alike[0].place, f"expected {expected}", alike[0].found)


def _text(place: str, message: str, found: str) -> str:
    return f"{place + ': ' if place else ''}{message}{found}"


def _misfit(error: ErrorDetails, document: JsonValue) -> _Misfit:
    kind = error["type"]
    path, form = _path(error["loc"], document, is_missing=kind == "missing")
    is_other_kind = path == form and kind.endswith(("_type", "literal_error"))
    said = {"missing": "is missing", "extra_forbidden": "unknown key", "string_too_short": "is empty"}.get(kind)
    if kind == "string_pattern_mismatch" and error["ctx"]["pattern"] == r"\S":
        said = "is empty"
    if kind == "value_error":
        said = error["msg"].removeprefix("Value error, ")
    found = "" if said is not None else f", found {shown(error['input'])}"
    return _Misfit(path, said or _expected(error), found, form, is_other_kind)


def _expected(error: ErrorDetails) -> str:
    """Pydantic's message, as far as it speaks of its own classes, in words that those know who write YAML."""
    if error["type"] == "string_pattern_mismatch":
        has_parts = "/" in error["ctx"]["pattern"]
        return "expected letters, digits and " + ("_ . : - with / between them" if has_parts else "_, no digit first")
    message = re.sub(r"^(Input|String|Tuple|List) should( be| have)?", "expected", error["msg"])
    message = re.sub(r" after validation, not \d+$|, unable to parse .*$", "", message)
    for theirs, ours in KINDS.items():
        message = message.replace(f"expected {theirs}", f"expected {ours}")
    return re.sub(r"^expected a valid dictionary.*", "expected a mapping", message)


def shown(value: object) -> str:
    """A value in a message: a short one as it is, of others what they are."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return "a mapping"
    return "a list" if isinstance(value, list | tuple) else f"{value!r:.60}"


def _path(location: Sequence[int | str], document: JsonValue, *, is_missing: bool) -> tuple[str, str | None]:
    """Where it is, and where several forms are allowed on the way there; what is no key names one of the forms."""
    path, form = "", None
    value: object = document
    for number, part in enumerate(location):
        if isinstance(part, int):
            path += f"[{part}]"
            value = value[part] if isinstance(value, list) and part < len(value) else None
        elif isinstance(value, Mapping) and (part in value or (is_missing and number == len(location) - 1)):
            path += f".{part}" if path else part
            value = value.get(part)
        else:
            form = path
    return path, form
