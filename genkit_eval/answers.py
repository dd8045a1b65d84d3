"""From a judge's reply to a typed answer: strict reading first, then repairs that cannot change a valid reply.

Types for the fields of answer models:

    class Rated(BaseModel):
        reason: str
        verdict: Verdict                              # a boolean; "yes", "1", "false" are understood
        rating: Annotated[int, Rating(0, 2, 4)]       # one of these numbers
        score: Annotated[float | None, Scale(0, 1)]   # within the scale; null where there was nothing to measure
        label: Annotated[str, Choice("correct", "incorrect")]

Declare every field without a default: a reply that leaves one out must not count as an answer.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationError
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

__all__ = ["Choice", "Rating", "Scale", "Unit", "Unreadable", "Verdict", "read_answer", "read_label"]

Answer = TypeVar("Answer", bound=BaseModel)

REPAIRED_LENGTH = 100_000


class Unreadable(ValueError):
    """A reply is no answer of the asked form; the text says what is wrong, as the judge should read it."""


def read_answer(text: str, answer: type[Answer]) -> Answer:
    """The answer in a reply.

    A reply that is JSON is taken as it is. Else reasoning blocks, fences and prose around one JSON object are left
    out, and as the last resort the object is repaired: trailing commas, comments, Python literals, raw line breaks,
    bad escapes. A number or word is never cut out of a longer one.

    Raises:
        Unreadable: nothing fits, or two different answers do.
    """
    problem = Unreadable("it holds no JSON object" if text.strip() else "it is empty")
    for candidates in (_whole, _embedded, _repaired):
        found: list[Answer] = []
        for value in candidates(text):
            try:
                read = _validated(value, answer)
            except Unreadable as issue:
                problem = issue
                continue
            if read not in found:
                found.append(read)
        if len(found) > 1:
            raise Unreadable(f"it holds {len(found)} different answers; give one")
        if found:
            return found[0]
        if candidates is _whole and _parsed(text, _NOTHING) is not _NOTHING:
            # it is JSON: to look for another answer inside would be to change it
            break
    raise problem


def _validated(value: Any, answer: type[Answer]) -> Answer:
    value = _shaped(value, answer)
    if not isinstance(value, dict):
        raise Unreadable(f"it is no JSON object with {_listed(answer.model_fields)}")
    try:
        read = answer.model_validate(value)
    except ValidationError as problem:
        raise Unreadable(_explained(problem)) from problem
    if _has_nan(read.model_dump()):
        raise Unreadable("it holds a number that is not finite")
    return read


def _shaped(value: Any, answer: type[BaseModel]) -> Any:
    """What cannot be meant otherwise: JSON inside a JSON text, a list of one object, the value of the only field."""
    if isinstance(value, str):
        value = _parsed(value, value)
    names = list(answer.model_fields)
    if isinstance(value, list):
        alone = len(value) == 1 and isinstance(value[0], dict) and (len(names) > 1 or names[0] in value[0])
        value = value[0] if alone else {names[0]: value} if len(names) == 1 else value
    elif len(names) == 1 and (isinstance(value, int | float) or _is_number(value)):
        value = {names[0]: value}
    return _without_halves(value)


def _is_number(value: object) -> bool:
    return isinstance(value, str) and _NUMBER.fullmatch(value.strip()) is not None


# --- where an answer may be ---------------------------------------------------------------------------------------


def _whole(text: str) -> list[Any]:
    value = _parsed(text, _NOTHING)
    return [] if value is _NOTHING else [value]


def _embedded(text: str) -> list[Any]:
    """The whole JSON objects among other text, or lists of them; none where one of them is broken."""
    text = _without_reasoning(text)
    found, at = [], 0
    while opening := _OPENING.search(text, at):
        try:
            value, at = _LENIENT.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            return []
        found.append(value)
    if not found and _is_number(text):
        found.append(text)
    return found


def _repaired(text: str) -> list[Any]:
    text = _without_reasoning(text)
    opening = _OPENING.search(text)
    span = text[opening.start() : 1 + max(text.rfind("}"), text.rfind("]"))] if opening else ""
    if not span or len(span) > REPAIRED_LENGTH or not _bare_values_are_whole(span):
        return []
    # 30 ms at import, and most replies need no repair
    import json_repair

    try:
        return [json_repair.loads(span, skip_json_loads=True)]
    except (ValueError, RecursionError):
        return []


def _parsed(text: str, otherwise: Any) -> Any:
    try:
        return _LENIENT.decode(text.strip())
    except (ValueError, RecursionError):
        return otherwise


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is too large")
    return number


_NOTHING = object()
# lenient in one thing: raw line breaks and tabs inside strings
_LENIENT = json.JSONDecoder(strict=False, parse_constant=_refuse, parse_float=_finite)
# brackets of prose are no beginning of JSON
_OPENING = re.compile(r"""\{(?=\s*(?:["'}]|\w+\s*:|//|/\*|\#))|\[(?=\s*[{\[])""")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?(\s*/\s*\d+(\.\d+)?)?")
_REASONING = re.compile(r"<(think|thinking|thought|reasoning|reflection)>", re.IGNORECASE)
_END_OF_REASONING = re.compile(r"</(think|thinking|thought|reasoning|reflection)>", re.IGNORECASE)


def _without_reasoning(text: str) -> str:
    """Without the blocks in which a model thinks aloud before its answer; one that never ends hides everything."""
    if not text.lstrip().startswith(("{", "[", "```")):
        first, end = _REASONING.search(text), _END_OF_REASONING.search(text)
        if end and (first is None or end.start() < first.start()):
            # chat templates put the opening tag into the prompt
            text = text[end.end() :]
    while (start := _REASONING.search(text)) and "{" not in text[: start.start()]:
        end = _END_OF_REASONING.search(text, start.end())
        text = text[: start.start()] + (text[end.end() :] if end else "")
    return text


_TEXTS = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_BARE_VALUE = re.compile(r"""["'\w]\s*:\s*([^\s"'{\[][^,}\]\n"']*)""")
_COMMENT = re.compile(r"//.*|#.*|/\*.*?\*/|/\*.*", re.DOTALL)
_WHOLE_VALUE = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?|true|false|null|True|False|None")


def _bare_values_are_whole(span: str) -> bool:
    """Whether each value without quotes is one whole literal: a repair would make 80 of 80%, and 0 of 0. 8."""
    bare = (_COMMENT.sub("", value).strip() for value in _BARE_VALUE.findall(_TEXTS.sub('""', span)))
    return all(not value or _WHOLE_VALUE.fullmatch(value) for value in bare)


# --- what it may hold ---------------------------------------------------------------------------------------------


def _without_halves(value: Any) -> Any:
    """Halves of surrogate pairs become the replacement character: no file can hold them."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if _HALF.search(value) else value
    if isinstance(value, dict):
        return {_without_halves(key): _without_halves(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_halves(item) for item in value]
    return value


_HALF = re.compile(r"[\ud800-\udfff]")


def _has_nan(value: Any) -> bool:
    if isinstance(value, float):
        return not math.isfinite(value)
    if isinstance(value, Mapping):
        return any(_has_nan(item) for item in value.values())
    return isinstance(value, list | tuple | set | frozenset) and any(_has_nan(item) for item in value)


def _explained(problem: ValidationError) -> str:
    parts = []
    for error in problem.errors(include_url=False)[:5]:
        place = ".".join(str(part) for part in error["loc"])
        found = "" if error["type"] == "missing" else f", found {_short(error['input'])}"
        parts.append(f"{place}: {error['msg'].removeprefix('Value error, ')}{found}")
    return "; ".join(parts)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"


_VERDICTS: Mapping[object, bool] = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def _verdict(value: object) -> bool:
    if isinstance(value, bool):
        return value
    word = str(value).strip().casefold() if isinstance(value, str | int) else ""
    if word not in _VERDICTS:
        raise ValueError("expected true or false")
    return _VERDICTS[word]


Verdict = Annotated[bool, BeforeValidator(_verdict)]
"""A boolean; 1 and 0, "1" and "0", "yes" and "no", "true" and "false" are understood, anything else is refused."""


def _number(value: object, high: float | None) -> object:
    """A number out of a number or text like " 0.8 " or, of this scale, "4/5"."""
    if isinstance(value, bool):
        raise ValueError("expected a number")
    if not isinstance(value, str):
        return value
    text = value.strip()
    if not _NUMBER.fullmatch(text):
        raise ValueError("expected a number")
    number, _, scale = text.partition("/")
    if scale and float(scale) != high:
        raise ValueError(f"expected a number {'' if high is None else f'out of {high:g}'}".strip())
    return float(number) if "." in number else int(number)


@dataclass(frozen=True, slots=True)
class Scale:
    """A number from `low` to `high`, ends included; " 0.8 " is understood, and "4/5" on a scale up to 5."""

    low: float
    high: float

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self._read, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return _narrowed(handler(schema), {"minimum": self.low, "maximum": self.high})

    def _read(self, value: object) -> object:
        number = _number(value, self.high)
        if isinstance(number, int | float) and not self.low <= number <= self.high:
            raise ValueError(f"expected a number from {self.low:g} to {self.high:g}")
        return number


@dataclass(frozen=True, slots=True, init=False)
class Rating:
    """One of these whole numbers; `Annotated[int, Rating(0, 2, 4)]`."""

    allowed: tuple[int, ...]

    def __init__(self, *allowed: int) -> None:
        object.__setattr__(self, "allowed", allowed)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self._read, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return _narrowed(handler(schema), {"enum": list(self.allowed)})

    def _read(self, value: object) -> object:
        number = _number(value, max(self.allowed))
        if number is not None and number not in self.allowed:
            raise ValueError(f"expected {_listed(self.allowed)}")
        return number


@dataclass(frozen=True, slots=True, init=False)
class Choice:
    """One of these labels, whatever its case and what markup is around it; `Annotated[str, Choice("good", "bad")]`."""

    labels: tuple[str, ...]

    def __init__(self, *labels: str) -> None:
        object.__setattr__(self, "labels", labels)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self._read, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return _narrowed(handler(schema), {"enum": list(self.labels)})

    def _read(self, value: object) -> object:
        if value is None:
            return None
        bare = _bare(value) if isinstance(value, str) else ""
        for label in self.labels:
            if bare == _bare(label):
                return label
        raise ValueError(f"expected {_listed(self.labels)}")


Unit = Annotated[float | None, Scale(0, 1)]
"""A number from 0 to 1, or null where there was nothing to measure."""


def read_label(text: str, labels: Sequence[str]) -> str:
    """The label in a reply of plain text: alone on the last line, or after a word and a colon ("Label: good.").

    Raises:
        Unreadable: the line says something else; a label inside another word or a sentence does not count.
    """
    lines = [line for line in _without_reasoning(text).splitlines() if line.strip(_MARKUP)]
    wanted = {_bare(label): label for label in labels}
    found = dict.fromkeys(
        wanted[bare] for line in lines for bare in (_bare(line), _bare(_after_colon(line))) if bare in wanted
    )
    last = lines[-1] if lines else ""
    if len(found) != 1 or not {_bare(last), _bare(_after_colon(last))} & wanted.keys():
        raise Unreadable(f"expected {_listed(labels)} and nothing else")
    return next(iter(found))


_MARKUP = " \t\r\n*_`~\"'“”‘’«»()[]{}<>#.,;:!-"


def _bare(text: str) -> str:
    return " ".join(text.strip(_MARKUP).casefold().split())


def _after_colon(line: str) -> str:
    before, colon, after = line.partition(":")
    return after if colon and len(before.split()) <= 3 else ""


def _listed(items: Iterable[object]) -> str:
    return " or ".join(f"'{item}'" if isinstance(item, str) else str(item) for item in items)


def _narrowed(schema: JsonSchemaValue, limits: Mapping[str, Any]) -> JsonSchemaValue:
    """The JSON Schema with limits: in the branch that is not null where there are branches."""
    if "anyOf" not in schema:
        return {**schema, **limits}
    branches = [branch if branch == {"type": "null"} else {**branch, **limits} for branch in schema["anyOf"]]
    return {**schema, "anyOf": branches}
