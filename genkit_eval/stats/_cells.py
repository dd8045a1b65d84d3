"""Cells that are alike, counted together: what a summary is made of.

A signature is what tells cells apart for counting. Everything that needs thought is thought once per
signature, so that counting one more cell is a look-up and an increment.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, NamedTuple

from genkit_eval.errors import shortened
from genkit_eval.types import Outcome, Status

__all__ = ["DISTINCT_TEXTS", "Cells", "ScoreType", "Signature", "Texts", "sound"]

DISTINCT_TEXTS = 1_000
"""Texts with more distinct values than this are prose, not categories: they are no longer told apart."""

LONGEST_TEXT = 200

ScoreType = Literal["boolean", "number", "text"]


class Signature(NamedTuple):
    """What makes two cells count alike; `score` is True or False, else the score's Python type."""

    evaluator: str
    score_id: str | None
    outcome: str | None
    status: str | None
    score: bool | type
    error: bool


class Texts:
    """How often each text was seen, in bounded memory; `counts` is None when there are too many to tell apart."""

    def __init__(self) -> None:
        self.counts: Counter[str] | None = Counter()

    def add(self, text: str, times: int = 1) -> None:
        """Count a text; long ones by their beginning."""
        if self.counts is None:
            return
        self.counts[shortened(text, LONGEST_TEXT)] += times
        if len(self.counts) > DISTINCT_TEXTS:
            self.counts = None

    def merge(self, other: Texts) -> None:
        """Count all that the other has counted."""
        if other.counts is None:
            self.counts = None
        else:
            for text, times in other.counts.items():
                self.add(text, times)


class Cells:
    """All cells of one signature: how many, and their numbers or texts."""

    __slots__ = (
        "count",
        "error",
        "evaluator",
        "keep",
        "numbers",
        "outcome",
        "score",
        "score_id",
        "status",
        "texts",
        "type",
    )

    def __init__(self, signature: Signature) -> None:
        self.evaluator, self.score_id, _, self.status, self.score, self.error = signature
        self.type = _score_type(signature.score)
        self.outcome = _ended(signature, scored=self.type is not None)
        self.count = 0
        self.numbers = array("d")
        self.texts = Texts()
        self.keep = self._keeper()

    def _keeper(self) -> Callable[..., None] | None:
        if self.type == "text":
            return self.texts.add
        if self.type == "number":
            return self._keep_whole_number if issubclass(_class_of(self.score), int) else self.numbers.append
        return None

    def _keep_whole_number(self, value: int) -> None:
        try:
            self.numbers.append(value)
        except OverflowError:
            # beyond every double, so as little use as infinity: `sound` turns it into a FAILED cell
            self.numbers.append(math.inf)


def _class_of(score: bool | type) -> type:
    return bool if isinstance(score, bool) else score


def _score_type(score: bool | type) -> ScoreType | None:
    kind = _class_of(score)
    if kind is type(None):
        return None
    if kind is bool:
        return "boolean"
    if issubclass(kind, int | float):
        return "number"
    if issubclass(kind, str):
        return "text"
    raise TypeError(f"a score of type {kind.__name__}: expected a number, a boolean, text or none")


def _ended(signature: Signature, *, scored: bool) -> Outcome:
    """The outcome; where a file has none, what the other keys imply, as `EvalMetric.ended` does."""
    if signature.outcome is not None:
        return Outcome(signature.outcome)
    if signature.error:
        return Outcome.FAILED
    return Outcome.VERDICT if scored or signature.status in (Status.PASS, Status.FAIL) else Outcome.INCONCLUSIVE


def sound(cells: Iterable[Cells]) -> Iterator[Cells]:
    """The same cells, with scores that are not finite moved to FAILED: they can't enter a mean."""
    for cell in cells:
        finite = array("d", filter(math.isfinite, cell.numbers))
        broken = len(cell.numbers) - len(finite)
        if not broken:
            yield cell
            continue
        if finite:
            yield _copy(cell, cell.score, cell.outcome, len(finite), numbers=finite, error=cell.error)
        yield _copy(cell, type(None), Outcome.FAILED, broken, numbers=array("d"), error=True)


def _copy(
    cell: Cells, score: bool | type, outcome: Outcome, count: int, *, numbers: array[float], error: bool
) -> Cells:
    copy = Cells(Signature(cell.evaluator, cell.score_id, outcome, cell.status, score, error))
    copy.count, copy.numbers = count, numbers
    return copy
