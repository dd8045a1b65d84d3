"""JSON as this package reads and writes it: strict, fast, exact for large integers."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Mapping
from datetime import date, datetime
from enum import Enum
from typing import Any
from uuid import UUID

import orjson
from pydantic import BaseModel

from genkit_eval.errors import NotJson, no_constant

__all__ = ["dump", "indented", "json_bytes", "json_form", "json_text", "load"]

MAX_DEPTH = 200


def json_form(value: object) -> Any:
    """The JSON form of a value, always a copy of its own: what is scored equals what is stored.

    Tuples become lists; dataclasses, pydantic models and named tuples objects (named tuples: lists); keys that are
    whole numbers text; dates ISO 8601; enums their value; sets lists in sorted order.

    Raises:
        NotJson: NaN, infinity, bytes, generators, functions, cycles, nesting deeper than 200 levels.
    """
    return json_bytes(value)[1]


def json_bytes(value: object) -> tuple[bytes, Any]:
    """The JSON text of a value, and its JSON form (as `json_form` gives it), for the price of one."""
    try:
        data = orjson.dumps(value)
        back = orjson.loads(data)
        if back == value:
            return data, back
    except (TypeError, ValueError, RecursionError):
        pass
    form = _walk(value, "", MAX_DEPTH)
    return dump(form), form


def _walk(value: object, where: str, depth: int) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Enum):
        return _walk(value.value, where, depth)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, str):
        return _text(value, where)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise NotJson(f"the number {value}", where=where)
        return float(value)
    if depth <= 0:
        raise NotJson(f"nesting deeper than {MAX_DEPTH} levels, or a cycle,")
    return _walk_compound(value, where, depth - 1)


def _text(value: str, where: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise NotJson("text with half of a surrogate pair", where=where) from None
    return str(value)


def _walk_compound(value: object, where: str, depth: int) -> Any:
    if isinstance(value, BaseModel):
        return _walk(_model_form(value, where), where, depth)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return _walk(fields, where, depth)
    if isinstance(value, Mapping):
        form = {
            _key(key, where): _walk(item, f"{where}.{key}" if where else str(key), depth) for key, item in value.items()
        }
        if len(form) < len(value):
            raise NotJson("an object with a number and its text as keys", where=where)
        return form
    if isinstance(value, list | tuple):
        return [_walk(item, f"{where}[{i}]", depth) for i, item in enumerate(value)]
    if isinstance(value, set | frozenset):
        try:
            return _walk(sorted(value), where, depth)
        except TypeError:
            raise NotJson("a set whose items have no order", where=where) from None
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    raise NotJson(f"a value of type {type(value).__name__}", where=where)


def _model_form(value: BaseModel, where: str) -> Any:
    try:
        return value.model_dump(mode="json", by_alias=True)
    except ValueError as problem:
        raise NotJson(f"a {type(value).__name__} that does not serialise ({problem})", where=where) from problem


def _key(key: object, where: str) -> str:
    if isinstance(key, str):
        return _text(key, where)
    if isinstance(key, int) and not isinstance(key, bool):
        return str(key)
    raise NotJson(f"an object key of type {type(key).__name__}", where=where)


def dump(value: object) -> bytes:
    """Compact JSON text of a value that is in JSON form already; integers of any size.

    Half of a surrogate pair, which no file can hold, becomes "?": data with one is refused before (`json_form`),
    but reasons and error messages may hold one, and must not cost the run.
    """
    try:
        return orjson.dumps(value)
    except TypeError:
        # integers beyond 64 bits, nesting that orjson refuses, halves of surrogate pairs
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return text.encode(errors="replace")


def indented(value: object) -> bytes:
    """JSON text of a value that is in JSON form already, for people: two blanks a level; integers of any size."""
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2)
    except TypeError:
        # as in `dump`
        text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
        return text.encode(errors="replace")


def json_text(value: object) -> str:
    """What a text metric reads: text as it is, anything else as compact JSON."""
    return value if isinstance(value, str) else dump(value).decode()


def load(data: bytes | bytearray | memoryview | str) -> Any:
    """Parse JSON strictly; integers keep every digit.

    Raises:
        ValueError: not JSON, or a number that is not finite (`NaN`, `Infinity`, `1e999`).
    """
    if isinstance(data, str):
        data = data.encode()
    # orjson turns integers beyond 64 bits into floats without a word; they have at least 19 digits
    if _may_have_long_number(data) and _LONG_NUMBER.search(data):
        try:
            return json.loads(bytes(data), parse_constant=no_constant, parse_float=_finite)
        except RecursionError:
            raise ValueError("it nests too deeply") from None
    return orjson.loads(data)


_LONG_NUMBER = re.compile(rb"[0-9]{19}")
_DIGITS = bytes(ord("0") if byte in b"0123456789" else ord(" ") for byte in range(256))


def _may_have_long_number(data: bytes | bytearray | memoryview) -> bool:
    # 19 digits in a row fill at least 4 places in a row of every fourth byte; a regular expression over all bytes
    # would take longer than the parsing
    return b"0000" in bytes(data[::4]).translate(_DIGITS)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the number {text} is too large")
    return value
