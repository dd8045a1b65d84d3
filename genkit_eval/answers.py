"""Types for the fields of answer models: what a judge may say, in the spellings that judges use.

    class Rated(BaseModel):
        reason: str
        verdict: Verdict                              # a boolean; "yes", "1", "false" are understood
        rating: Annotated[int, Rating(0, 2, 4)]       # one of these numbers
        score: Annotated[float | None, Scale(0, 1)]   # within the scale; null where there was nothing to measure
        label: Annotated[str, Choice("correct", "incorrect")]

Declare every field without a default: a reply that leaves one out must not count as an answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from genkit_eval.errors import ConfigError

__all__ = ["NUMBER", "Choice", "Rating", "Scale", "Unit", "Verdict", "label_key", "listed"]

NUMBER = re.compile(r"[+-]?\d+(\.\d+)?(\s*/\s*\d+(\.\d+)?)?")
"""A number, or a number out of another one."""

_QUOTED = " \t\r\n*`\"'."
_VERDICTS: Mapping[object, bool] = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def _verdict(value: object) -> bool:
    if isinstance(value, bool):
        return value
    word = str(value).strip(_QUOTED).casefold() if isinstance(value, str | int) else ""
    if word not in _VERDICTS:
        raise ValueError("expected true or false")
    return _VERDICTS[word]


Verdict = Annotated[bool, BeforeValidator(_verdict)]
"""A boolean; 1 and 0, "1" and "0", "yes" and "no", "true" and "false" are understood, anything else is refused.

Quotes, stars and a full stop around a word do not matter.
"""


def _number(value: object, high: float | None) -> object:
    """A number out of a number or text like " 0.8 " or, of this scale, "4/5"."""
    if isinstance(value, bool):
        raise ValueError("expected a number")
    if not isinstance(value, str):
        return value
    text = value.strip()
    if not NUMBER.fullmatch(text):
        raise ValueError("expected a number")
    number, _, scale = text.partition("/")
    if scale and float(scale) != high:
        raise ValueError(f"expected a number {'' if high is None else f'out of {high:.12g}'}".strip())
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
            raise ValueError(f"expected a number from {self.low:.12g} to {self.high:.12g}")
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
            raise ValueError(f"expected {listed(self.allowed)}")
        return number


@dataclass(frozen=True, slots=True, init=False)
class Choice:
    """One of these labels, whatever its case and what markup is around it; `Annotated[str, Choice("good", "bad")]`."""

    labels: tuple[str, ...]

    def __init__(self, *labels: str) -> None:
        if len({label_key(label) for label in labels} - {""}) != len(labels) or not labels:
            raise ConfigError(f"labels {listed(labels)}: expected some that differ in more than case and punctuation")
        object.__setattr__(self, "labels", labels)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self._read, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return _narrowed(handler(schema), {"enum": list(self.labels)})

    def _read(self, value: object) -> object:
        if value is None:
            return None
        bare = label_key(value) if isinstance(value, str) else ""
        for label in self.labels:
            if bare == label_key(label):
                return label
        raise ValueError(f"expected {listed(self.labels)}")


Unit = Annotated[float | None, Scale(0, 1)]
"""A number from 0 to 1, or null where there was nothing to measure."""


_MARKUP = " \t\r\n*_`~\"'“”‘’«»()[]{}<>#.,;:!-"
_BETWEEN_WORDS = re.compile(r"[\s_-]+")


def label_key(text: str) -> str:
    """What two spellings of a label have in common: neither case, nor what joins its words or stands around them."""
    return " ".join(_BETWEEN_WORDS.split(text.strip(_MARKUP).casefold()))


def listed(items: Iterable[object]) -> str:
    """Alternatives in words, as messages say them."""
    return " or ".join(f"'{item}'" if isinstance(item, str) else str(item) for item in items)


def _narrowed(schema: JsonSchemaValue, limits: Mapping[str, Any]) -> JsonSchemaValue:
    """The JSON Schema with limits: in the branch that is not null where there are branches."""
    if "anyOf" not in schema:
        return {**schema, **limits}
    branches = [branch if branch == {"type": "null"} else {**branch, **limits} for branch in schema["anyOf"]]
    return {**schema, "anyOf": branches}
