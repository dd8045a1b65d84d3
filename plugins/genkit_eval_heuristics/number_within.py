"""`heuristic/number_within`: the number in the answer is that of the reference, within a tolerance."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field, JsonValue

from genkit_eval import DataPoint, Sample, Score
from genkit_eval.errors import DataError
from genkit_eval.text import text_of
from genkit_eval_heuristics.definition import Heuristic, Thresholded, verdict

__all__ = ["EVALUATORS", "NumberOptions", "is_within", "number_within", "numbers_in"]

Mark = Literal["point", "comma"]

_NUMBER = (
    r"(?<![\w.,])[+-]?(?:\d{{1,3}}(?:[{apart}\u00a0\u202f']\d{{3}})+|\d+|(?={mark}\d))(?:{mark}\d+)?(?:[eE][+-]?\d{{1,3}})?"
    r"(?!\d|[.,]\d)"
)
_NUMBERS: Mapping[Mark, re.Pattern[str]] = {
    "point": re.compile(_NUMBER.format(apart=",", mark=r"\.")),
    "comma": re.compile(_NUMBER.format(apart=".", mark=",")),
}
# minus signs and dashes before digits, the Arabic marks
_PLAIN = str.maketrans({"−": "-", "–": "-", "﹣": "-", "－": "-", "٫": ".", "٬": ",", "’": "'", "．": ".", "，": ","})
_BLANKS = re.compile(r"[\u00a0\u202f']")


class NumberOptions(Thresholded):
    """How far off is near enough, and which number of the answer counts."""

    tolerance: float = Field(default=0.0, ge=0, allow_inf_nan=False, description="How far off the number may be.")
    relative: float = Field(
        default=1e-9, ge=0, allow_inf_nan=False, description="How far off it may be as a share of the reference."
    )
    which: Literal["first", "last", "any"] = Field(
        default="last", description="Which number of an answer in words counts; 'any': one of them is near enough."
    )
    decimal: Mark = Field(default="point", description="The decimal mark: 'point' (1,234.5) or 'comma' (1.234,5).")


def number_within(point: DataPoint, options: NumberOptions) -> Score:
    """1 if the number in the answer is at most max(tolerance, relative · |reference|) off, else 0; higher is better.

    The number of an answer in words is its last one: "3 of 4 are 75 %" is 75. Thousands may be parted, digits may be of
    any script, "5kg" is 5, and "1.2.3" and "v2" are no numbers. Per cent signs and units are not looked at. An answer
    without a number is wrong. A reference that is a list holds several right numbers.

    Raises:
        DataError: there is no number in the reference.
    """
    if point.reference is None:
        return Score.inconclusive(reason="there is no reference")
    known = _known(point, options)
    if not known:
        raise DataError(_problem(point, options))
    found = _of_answer(point.output, options)
    expected = " or ".join(f"{number:.12g}" for number in known)
    if not found:
        return verdict(0.0, options, reason=f"there is no number in the answer, expected {expected}")
    near = any(is_within(ours, theirs, options.tolerance, options.relative) for ours in found for theirs in known)
    told = " and ".join(f"{number:.12g}" for number in found[:5])
    reason = f"the answer says {told}" + ("" if near else f", expected {expected}")
    return verdict(float(near), options, reason=reason)


def is_within(number: float, reference: float, tolerance: float, relative: float) -> bool:
    """Whether a number is near enough to the reference."""
    # 0.3 - 0.1 is a little more than 0.2
    room = max(tolerance, relative * abs(reference)) * (1 + 1e-12)
    return abs(number - reference) <= room


def numbers_in(text: str, decimal: Mark = "point") -> list[float]:
    """The numbers in a text, in order; those beyond 1e308 are left out."""
    apart, mark = (",", ".") if decimal == "point" else (".", ",")
    plain = text.translate(_PLAIN) if not text.isascii() else text
    found = (
        _BLANKS.sub("", match[0]).replace(apart, "").replace(mark, ".") for match in _NUMBERS[decimal].finditer(plain)
    )
    return [number for digits in found if math.isfinite(number := float(digits))]


def _known(sample: Sample, options: NumberOptions) -> list[float]:
    """The right numbers."""
    reference = sample.reference
    items = reference if isinstance(reference, list) else [reference]
    return [number for item in items for number in _numbers_of(item, options.decimal)[-1:]]


def _problem(sample: Sample, options: NumberOptions) -> str | None:
    if sample.reference is None or _known(sample, options):
        return None
    return f"reference must hold a number, found {text_of(sample.reference)!r:.80}"


def _numbers_of(value: JsonValue, decimal: Mark) -> Sequence[float]:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return [float(value)] if abs(value) <= 1e308 else []
    return numbers_in(text_of(value), decimal)


def _of_answer(output: JsonValue, options: NumberOptions) -> Sequence[float]:
    numbers = _numbers_of(output, options.decimal)
    if options.which == "any":
        return numbers
    return numbers[:1] if options.which == "first" else numbers[-1:]


EVALUATORS = (
    Heuristic(
        name="heuristic/number_within",
        fn=number_within,
        options=NumberOptions,
        display_name="Number within tolerance",
        definition="The number in the answer is near enough to that of the reference.",
        formula="1 if |number − reference| ≤ max(tolerance, relative · |reference|), else 0",
        source="own",
        kind="heuristic",
        requires=("output", "reference"),
        non_empty=("output",),
        custom=("tolerance", "relative"),
        check=_problem,
    ),
)
