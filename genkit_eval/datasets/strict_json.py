"""JSON read quickly by orjson, and the proof that nothing was lost; where something was, read slowly and exactly.

orjson keeps the last of two equal keys, and makes floats of integers beyond 64 bits, both without a word. Looking for
that key by key costs more than parsing. Instead:

- A value is written again. If that gives the very bytes that were read, nothing was lost.
- Else strings are counted: each has two quotes, in the text and in what is written again; an escaped quote inside a
  string is written again as one, unless it was spelt `\\u0022`. A lost key takes at least its own two quotes along, so
  equal counts prove that none was lost. And no integer is too long where no run of 20 digits (below zero: of 19)
  stands in the text.

What does not pass is read by the standard library, which is told every key and keeps every digit.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from typing import Any

import orjson

from genkit_eval.datasets.fields import kind_of

__all__ = ["Faulty", "Repeated", "elements", "faults", "is_exact", "parse"]

DEEPEST = 250
_BATCH = 500
_PIECE = 1 << 16
_DIGITS_AS_0 = bytes.maketrans(b"123456789", b"000000000")
# 19 digits fit 64 bits, but for the most negative ones; a fraction or an exponent makes it a float anyway
_TOO_LONG = re.compile(rb"(?:(?<![0-9.])[0-9]{20}|-9[0-9]{18})")
_SPACE = re.compile(r"[ \t\n\r]*")


class Repeated(dict[str, Any]):
    """An object in whose text some keys stood more than once: `twice`."""

    def __init__(self, pairs: Sequence[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        counts = Counter(key for key, _ in pairs)
        self.twice = [key for key, count in counts.items() if count > 1]


class Faulty(ValueError):
    """Text that is no JSON, with the position where it stops being it."""

    def __init__(self, message: str, position: int) -> None:
        self.position = position
        super().__init__(message)


def is_exact(data: bytes, values: Sequence[object], *, compact: bytes, start: int) -> bool:
    """Whether `values` hold every key and every digit of the JSON text they were read from.

    Args:
        data: the text.
        values: what orjson made of it, element by element.
        compact: the text with a comma between its elements, as orjson writes them if they are compact.
        start: where in `compact` the first element begins if it is compact.
    """
    try:
        return _is_same(compact, start, values) or (_has_all_quotes(data, values) and not _has_long_integer(data))
    except TypeError:
        # nested deeper than orjson writes
        return False


def _is_same(compact: bytes, place: int, values: Sequence[object]) -> bool:
    for first in range(0, len(values), _BATCH):
        again = orjson.dumps(values[first : first + _BATCH])
        if not compact.startswith(again[1:-1], place):
            return False
        place += len(again) - 1
    return True


def _has_all_quotes(data: bytes, values: Sequence[object]) -> bool:
    quotes = 0
    for first in range(0, len(values), _BATCH):
        quotes += orjson.dumps(values[first : first + _BATCH]).count(b'"')
    return quotes == data.count(b'"') and b"\\u0022" not in data


def _has_long_integer(data: bytes) -> bool:
    for first in range(0, len(data), _PIECE):
        piece = data[first : first + _PIECE + 20]
        # every sixth byte first: a run of 19 digits holds three of them in a row
        if b"000" in piece[::6].translate(_DIGITS_AS_0) and b"0" * 19 in piece.translate(_DIGITS_AS_0):
            if _TOO_LONG.search(piece):
                return True
    return False


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    return found if len(found) == len(pairs) else Repeated(pairs)


_DECODER = json.JSONDecoder(object_pairs_hook=_object)


def _value(text: str, place: int) -> tuple[Any, int]:
    """The value that starts at a place, and where it ends."""
    try:
        value, end = _DECODER.raw_decode(text, place)
    except json.JSONDecodeError as fault:
        raise Faulty(f"not valid JSON: {_lowered(fault.msg)}", fault.pos) from None
    except RecursionError:
        raise Faulty(f"nested deeper than {DEEPEST} levels", place) from None
    except ValueError as fault:
        # an integer of more digits than the interpreter converts
        raise Faulty(str(fault), place) from None
    return value, end


def _lowered(message: str) -> str:
    return message[:1].lower() + message[1:]


def _skip(text: str, place: int) -> int:
    space = _SPACE.match(text, place)
    return space.end() if space else place


def parse(text: str) -> Any:
    """One JSON value, with every digit, objects with repeated keys as `Repeated`, and numbers that are not finite.

    Raises:
        Faulty: no JSON, or more than one value.
    """
    value, end = _value(text, _skip(text, 0))
    end = _skip(text, end)
    if end < len(text):
        raise Faulty("not valid JSON: something follows the value", end)
    return value


def elements(text: str) -> Iterator[tuple[Any, int]]:
    """The samples of a JSON file, with where they start: of an array, or of an object's array `samples`.

    Raises:
        Faulty: no JSON, or neither of the two; what came before was good.
    """
    place = _skip(text, 0)
    if text.startswith("[", place):
        place = yield from _items(text, place)
    elif text.startswith("{", place):
        place = yield from _wrapped(text, place)
    elif place == len(text):
        raise Faulty("the file is empty: expected an array of samples", 0)
    else:
        raise Faulty("expected an array of samples", place)
    place = _skip(text, place)
    if place < len(text):
        hint = ": one sample a line is format jsonl" if text.startswith("{", place) else ""
        raise Faulty(f"not valid JSON: something follows the value{hint}", place)


def _items(text: str, place: int) -> Generator[tuple[Any, int], None, int]:
    place = _skip(text, place + 1)
    if text.startswith("]", place):
        return place + 1
    while True:
        value, end = _value(text, place)
        yield value, place
        place = _skip(text, end)
        if text.startswith("]", place):
            return place + 1
        place = _after(text, place, ",", "expecting ',' or ']' after a sample")


def _wrapped(text: str, place: int) -> Generator[tuple[Any, int], None, int]:
    keys: set[str] = set()
    start, place = place, _skip(text, place + 1)
    while not (text.startswith("}", place) and not keys):
        key, end = _value(text, place)
        if not isinstance(key, str):
            raise Faulty("not valid JSON: expecting a key in double quotes", place)
        if key in keys:
            raise Faulty(f"key '{key}' is given twice: keep one", place)
        keys.add(key)
        place = _after(text, _skip(text, end), ":", f"expecting ':' after key '{key}'")
        if key == "samples" and text.startswith("[", place):
            place = yield from _items(text, place)
        else:
            value, end = _value(text, place)
            if key == "samples":
                raise Faulty(f"'samples' is {kind_of(value)}: expected an array of samples", place)
            place = end
        place = _skip(text, place)
        if text.startswith("}", place):
            break
        place = _after(text, place, ",", "expecting ',' or '}'")
    if "samples" not in keys:
        found = ", ".join(f"'{key}'" for key in sorted(keys)[:8]) or "no key at all"
        raise Faulty(f"expected an array of samples, or an object with the array 'samples'; found {found}", start)
    return place + 1


def _after(text: str, place: int, sign: str, message: str) -> int:
    if not text.startswith(sign, place):
        raise Faulty(f"not valid JSON: {message}", place)
    return _skip(text, place + 1)


def faults(value: object, path: str = "", depth: int = DEEPEST) -> Iterator[tuple[str, str]]:
    """What is wrong inside a value that was parsed leniently, as field path and message."""
    if isinstance(value, str):
        if not value.isascii() and _HALF.search(value):
            yield path, "text with half of a surrogate pair: it has no UTF-8 form"
    elif isinstance(value, float):
        if not math.isfinite(value):
            yield path, "NaN, Infinity and numbers beyond 1.8e308 are no JSON: write text, or leave the key out"
    elif isinstance(value, dict | list) and depth <= 0:
        yield path, f"nested deeper than {DEEPEST} levels"
    elif isinstance(value, dict):
        for key in value.twice if isinstance(value, Repeated) else ():
            yield path, f"key '{key}' is given twice: keep one"
        for key, item in value.items():
            yield from faults(key, path, depth)
            yield from faults(item, f"{path}.{key}" if path else key, depth - 1)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from faults(item, f"{path}[{index}]", depth - 1)


_HALF = re.compile("[\ud800-\udfff]")
