"""`genkitEval/deep_equal`: the output equals the reference, as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice

import orjson
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from genkit_eval import DataPoint, Score, Status
from genkit_eval.errors import shortened
from genkit_eval.text import shown
from genkit_eval_metrics._reference import kind_of

__all__ = ["DeepEqualOptions", "deep_equal"]

MAX_TOLD = 5
MAX_REASON = 500
MAX_ALIGNED = 2_000
MAX_TEXT = 80


class DeepEqualOptions(BaseModel):
    """How far numbers may be apart."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    tolerance: float | None = Field(
        default=None,
        ge=0,
        allow_inf_nan=False,
        description="How far two numbers may be apart and still be equal; without it they have to be the same.",
    )


def deep_equal(point: DataPoint, options: DeepEqualOptions) -> bool | Score:
    """PASS if output and reference are the same JSON value.

    1 equals 1.0 but neither true nor "1"; the order of keys is free, that of lists is not; a key with null is not a
    missing key; whole numbers are compared digit by digit. A text output is not parsed.
    """
    output, reference = point.output, point.reference
    if _same(output, reference):
        return True
    differences = list(islice(_differences(output, reference, options.tolerance or 0, ""), MAX_TOLD + 1))
    if not differences:
        return True
    return Score.trusted({"score": False, "status": Status.FAIL, "reason": _reason(differences)})


def _same(output: JsonValue, reference: JsonValue) -> bool:
    """Whether the two are surely equal: for Python, which takes 1 for true, and in the text that tells them apart."""
    if output != reference:
        return False
    if type(output) is str:
        return True
    try:
        return orjson.dumps(output, option=orjson.OPT_SORT_KEYS) == orjson.dumps(reference, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        # whole numbers beyond 64 bits
        return False


def _differences(output: JsonValue, reference: JsonValue, tolerance: float, where: str) -> Iterator[str]:
    """What differs, each with its place, in the order of the reference."""
    if isinstance(output, dict) and isinstance(reference, dict):
        yield from _in_objects(output, reference, tolerance, where)
    elif isinstance(output, list) and isinstance(reference, list):
        if len(output) != len(reference):
            yield f"{_at(where)}output has {len(output)} items, reference {len(reference)}"
            yield from _in_unequal_lists(output, reference, where)
            return
        for index, (ours, theirs) in enumerate(zip(output, reference, strict=True)):
            yield from _differences(ours, theirs, tolerance, f"{where}[{index}]")
    elif kind_of(output) != kind_of(reference):
        yield f"{_at(where)}output is {_article(output)}, reference is {_article(reference)}"
    elif output != reference and not _close(output, reference, tolerance):
        yield f"{_at(where)}output is {shown(output)}, reference is {shown(reference)}"


def _in_unequal_lists(output: list[JsonValue], reference: list[JsonValue], where: str) -> Iterator[str]:
    """Which items of one list the other lacks; for small lists only, as aligning them is slow work."""
    # as texts, because the library aligns only what can be hashed
    ours, theirs = (
        [json.dumps(item, ensure_ascii=False, sort_keys=True) for item in side] for side in (output, reference)
    )
    if sum(map(len, ours)) + sum(map(len, theirs)) > MAX_ALIGNED:
        return
    # it costs 110 ms at import, and most runs never need it
    from deepdiff import DeepDiff

    found = DeepDiff(theirs, ours, verbose_level=2)
    for kind, words in (
        ("iterable_item_removed", "missing in the output"),
        ("iterable_item_added", "not in the reference"),
    ):
        for place, text in found.get(kind, {}).items():
            told = shortened(text, MAX_TEXT)
            yield f"{_at(where + place.removeprefix('root'))}{told} is {words}"


def _in_objects(
    output: dict[str, JsonValue], reference: dict[str, JsonValue], tolerance: float, where: str
) -> Iterator[str]:
    for key, theirs in reference.items():
        place = f"{where}.{key}" if where else key
        if key in output:
            yield from _differences(output[key], theirs, tolerance, place)
        else:
            yield f"{_at(place)}missing in the output"
    for key in output:
        if key not in reference:
            yield f"{_at(f'{where}.{key}' if where else key)}not in the reference"


def _close(output: JsonValue, reference: JsonValue, tolerance: float) -> bool:
    if not tolerance or not isinstance(output, int | float) or not isinstance(reference, int | float):
        return False
    try:
        return abs(output - reference) <= tolerance
    except OverflowError:
        # a whole number too large for a float, and a float: further apart than any two floats
        return False


def _at(where: str) -> str:
    return f"at {where}: " if where else ""


def _article(value: JsonValue) -> str:
    kind = kind_of(value)
    if kind in ("boolean", "number"):
        return f"the {kind} {shown(value)}"
    return kind if kind == "null" else f"an {kind}" if kind == "object" else f"a {kind}"


def _reason(differences: list[str]) -> str:
    told = "; ".join(differences[:MAX_TOLD]) + ("; and more" if len(differences) > MAX_TOLD else "")
    return shortened(told, MAX_REASON)
