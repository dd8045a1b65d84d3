"""How many edits lie between answer and reference: `heuristic/levenshtein`, `heuristic/levenshtein_similarity`."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import Literal

from pydantic import Field

from genkit_eval import DataPoint, Score, Status
from genkit_eval.text import references, text_of, tokens
from genkit_eval_heuristics.definition import Heuristic, Options, Thresholded, verdict
from genkit_eval_heuristics.sequences import comparable

__all__ = [
    "EVALUATORS",
    "DistanceOptions",
    "SimilarityOptions",
    "distance",
    "distance_by_columns",
    "levenshtein",
    "levenshtein_similarity",
    "similarity",
]

Unit = Literal["characters", "words"]


class DistanceOptions(Options):
    """What is edited, and how many edits are few enough."""

    most: int | None = Field(
        default=None, ge=0, description="PASS at this distance or below, FAIL above; without it there is no verdict."
    )
    unit: Unit = Field(default="characters", description="'characters', or 'words' of any script, whatever their case.")


class SimilarityOptions(Thresholded):
    """What is edited."""

    unit: Unit = Field(default="characters", description="'characters', or 'words' of any script, whatever their case.")


def levenshtein(point: DataPoint, options: DistanceOptions) -> Score:
    """How many characters (or words) have to be put in, taken out or replaced to make the reference of the answer.

    0 and up, lower is better; of several references the nearest counts. Characters are those of the composed texts as
    they are: case and blanks count.
    """
    found = _nearest(point, options.unit, lambda edits, _: edits)
    if found is None:
        return Score.inconclusive(reason="there is no reference")
    edits, _ = found
    status = Status.UNKNOWN if options.most is None else Status.PASS if edits <= options.most else Status.FAIL
    return Score.scored(edits, reason=f"{options.unit} to edit: {edits}", status=status)


def levenshtein_similarity(point: DataPoint, options: SimilarityOptions) -> Score:
    """1 − edits / characters (or words) of the longer text; 0 to 1, higher is better, 1 for equal texts.

    Of several references the nearest counts.
    """
    found = _nearest(point, options.unit, lambda edits, longer: -similarity(edits, longer))
    if found is None:
        return Score.inconclusive(reason="there is no reference")
    edits, longer = found
    return verdict(similarity(edits, longer), options, reason=f"{options.unit} to edit: {edits} of {longer}")


def similarity(edits: int, longer: int) -> float:
    """The similarity of two texts from their distance and the length of the longer one."""
    return 1 - edits / longer if longer else 1.0


def distance(one: Sequence[Hashable], other: Sequence[Hashable]) -> int:
    """Levenshtein's distance of two sequences; by rapidfuzz, of the extra `text`, where it is installed."""
    return _quick_distance()(one, other)


@lru_cache(maxsize=1)
def _quick_distance() -> Callable[[Sequence[Hashable], Sequence[Hashable]], int]:
    try:
        # an optional dependency
        from rapidfuzz.distance import Levenshtein
    except ImportError:
        return distance_by_columns
    return Levenshtein.distance


def distance_by_columns(one: Sequence[Hashable], other: Sequence[Hashable]) -> int:
    """The same without a library: 0.4 ms instead of 10 µs for two texts of 500 characters.

    Source: Myers 1999, "A fast bit-vector algorithm for approximate string matching based on dynamic programming", with
    Hyyrö's form for the distance of whole texts. A column of the table is one integer, so it takes as many steps as
    the shorter text is long.
    """
    rows, columns = (one, other) if len(one) >= len(other) else (other, one)
    if not columns:
        return len(rows)
    places: dict[Hashable, int] = {}
    for index, item in enumerate(rows):
        places[item] = places.get(item, 0) | 1 << index
    edits, last = len(rows), 1 << (len(rows) - 1)
    # in which rows a column's value is one more than the row above, and one less
    full = more = (1 << len(rows)) - 1
    less = 0
    for item in columns:
        same = places.get(item, 0)
        diagonal = ((same & more) + more) ^ more | same | less
        right_more = less | ~(diagonal | more) & full
        right_less = more & diagonal
        edits += (right_more & last != 0) - (right_less & last != 0)
        right_more = right_more << 1 | 1
        more = (right_less << 1 | ~(diagonal | right_more)) & full
        less = right_more & diagonal & full
    return edits


def _nearest(point: DataPoint, unit: Unit, badness: Callable[[int, int], float]) -> tuple[int, int] | None:
    """Edits and the length of the longer text, of the reference for which `badness` of both is least."""
    answer = _units(text_of(point.output), unit)
    known = [_units(text, unit) for text in references(point.reference)]
    found = [(distance(answer, reference), max(len(answer), len(reference))) for reference in known]
    return min(found, key=lambda pair: badness(*pair)) if found else None


def _units(text: str, unit: Unit) -> Sequence[Hashable]:
    units = tokens(text) if unit == "words" else text if text.isascii() else unicodedata.normalize("NFC", text)
    return comparable(units, unit)


EVALUATORS = (
    Heuristic(
        name="heuristic/levenshtein",
        fn=levenshtein,
        options=DistanceOptions,
        display_name="Levenshtein distance",
        definition="How many characters are to be edited to make the reference of the answer.",
        formula="insertions + deletions + replacements, the fewest that do",
        source="Levenshtein 1966",
        kind="heuristic",
        requires=("output", "reference"),
        non_empty=("output",),
        direction="minimize",
        high=None,
    ),
    Heuristic(
        name="heuristic/levenshtein_similarity",
        fn=levenshtein_similarity,
        options=SimilarityOptions,
        display_name="Levenshtein similarity",
        definition="How little of the answer is to be edited to make the reference of it.",
        formula="1 − edits / length of the longer text",
        source="Levenshtein 1966",
        kind="heuristic",
        requires=("output", "reference"),
        non_empty=("output",),
    ),
)
