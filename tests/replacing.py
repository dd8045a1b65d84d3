"""Documents with something wrong in them, for tests that nothing in a document breaks what reads it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

__all__ = ["with_one_value_replaced"]

VALUES = (5, True, None, "x", [], {}, [5], {"a": 1}, [[]])


def with_one_value_replaced(document: Any, values: Sequence[object] = VALUES) -> Iterator[Any]:
    """The document many times over, each time with another value in one of its places."""
    for place in _places(document):
        for value in values:
            yield _replaced(document, place, value)


def _places(value: Any) -> Iterator[tuple[Any, ...]]:
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield (key,)
        yield from ((key, *inner) for inner in _places(value[key]))


def _replaced(value: Any, place: tuple[Any, ...], by: object) -> Any:
    if not place:
        return by
    copy = {**value} if isinstance(value, dict) else [*value]
    copy[place[0]] = _replaced(value[place[0]], place[1:], by)
    return copy
