"""Answer against reference, word by word: `heuristic/exact_match`, `heuristic/token_f1`, `heuristic/response_quality`.

A reference that is a list of texts holds several right answers: the best one counts.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal

from pydantic import Field

from genkit_eval import DataPoint, Score
from genkit_eval.text import references, text_of
from genkit_eval_heuristics.definition import Heuristic, Thresholded, verdict
from genkit_eval_heuristics.words import Overlap, Tokens, normalised, overlap, words_of

__all__ = ["EVALUATORS", "ExactOptions", "OverlapOptions", "aggregate", "exact_match", "response_quality", "token_f1"]

NO_TEXT = "there is no text in the {}"
ENOUGH_CHARACTERS = 100


class ExactOptions(Thresholded):
    """How texts are compared."""

    tokens: Literal["squad", "unicode", "exact"] = Field(
        default="squad",
        description="'squad': SQuAD's normalisation; 'unicode': the same words of any script; 'exact': as they are.",
    )


class OverlapOptions(Thresholded):
    """What a word is."""

    tokens: Tokens = Field(
        default="squad", description="'squad': SQuAD's words; 'unicode': words of any script, CJK by character."
    )


def exact_match(point: DataPoint, options: ExactOptions) -> Score:
    """1 if the answer is the reference, else 0; higher is better.

    By default after SQuAD's normalisation, which takes punctuation out of numbers and names too: "3.14" equals "314",
    "C++" equals "C#", "-5" equals "5". Where that matters take `tokens="unicode"` (which reads "3.14" as one word) or
    `tokens="exact"`.
    """
    compared = _COMPARED[options.tokens]
    known = references(point.reference)
    answer = text_of(point.output)
    if not known or not answer.strip():
        return Score.inconclusive(reason=NO_TEXT.format("reference" if answer.strip() else "answer"))
    same = compared(answer) in [compared(text) for text in known]
    which = "the reference" if len(known) == 1 else f"one of the {len(known)} references"
    return verdict(1.0 if same else 0.0, options, reason=f"the answer is {'' if same else 'not '}{which}")


_COMPARED: dict[str, Callable[[str], object]] = {
    "squad": normalised,
    "unicode": partial(words_of, kind="unicode"),
    "exact": str,
}


def token_f1(point: DataPoint, options: OverlapOptions) -> Score:
    """F1 of the words that answer and reference share, each as often as both have it; 0 to 1, higher is better.

    2 · shared / (words of the answer + words of the reference). By SQuAD's normalisation unless `tokens` says
    otherwise, with the same loss as in `exact_match`: "3.14" and "314" are the same word.
    """
    return _against_best(point, options, lambda found: found.f1)


def response_quality(point: DataPoint, options: OverlapOptions) -> Score:
    """The mean of token precision, recall and F1 against the reference; 0 to 1, higher is better.

    Precision stands for relevance, recall for completeness, F1 for accuracy. Without a reference it is
    min(1, characters / 100), which says only that there is an answer. An empty answer is 0.
    """
    answer = text_of(point.output).strip()
    if not answer:
        return verdict(0.0, options, reason="the answer is empty")
    if point.reference is None:
        length = min(1.0, len(answer) / ENOUGH_CHARACTERS)
        return verdict(length, options, reason=f"no reference; the answer has {len(answer)} characters")
    return _against_best(point, options, aggregate)


def aggregate(found: Overlap) -> float:
    """The mean of precision, recall and F1."""
    return (found.precision + found.recall + found.f1) / 3


def _against_best(point: DataPoint, options: OverlapOptions, value: Callable[[Overlap], float]) -> Score:
    answer = text_of(point.output)
    known = references(point.reference)
    if not known or not answer.strip():
        return Score.inconclusive(reason=NO_TEXT.format("reference" if answer.strip() else "answer"))
    words = words_of(answer, options.tokens)
    best = max((overlap(words, words_of(text, options.tokens)) for text in known), key=value)
    reason = f"shared words: {best.shared} (the answer has {best.answer}, the reference {best.reference})"
    details = {"precision": best.precision, "recall": best.recall, "f1": best.f1}
    return verdict(value(best), options, reason=reason, details=details)


EVALUATORS = (
    Heuristic(
        name="heuristic/exact_match",
        fn=exact_match,
        options=ExactOptions,
        display_name="Exact match",
        definition="The answer is the reference, after SQuAD's normalisation.",
        formula="1 if normalised(answer) = normalised(reference), else 0; best of several references",
        source="Rajpurkar et al. 2016, SQuAD",
        kind="heuristic",
        requires=("output", "reference"),
        non_empty=("output",),
        aliases={"akka/ExactMatch": {"tokens": "exact"}},
    ),
    Heuristic(
        name="heuristic/token_f1",
        fn=token_f1,
        options=OverlapOptions,
        display_name="Token F1",
        definition="The words that answer and reference share.",
        formula="2 · shared / (words of answer + words of reference); best of several references",
        source="Rajpurkar et al. 2016, SQuAD",
        kind="heuristic",
        requires=("output", "reference"),
        non_empty=("output",),
        aliases={"akka/TokenF1": {}},
    ),
    Heuristic(
        name="heuristic/response_quality",
        fn=response_quality,
        options=OverlapOptions,
        display_name="Response quality",
        definition="How well the answer's words are those of the reference: precision, recall and F1.",
        formula="(precision + recall + F1) / 3; without a reference min(1, characters / 100); empty answer 0",
        source="TnsAI",
        kind="heuristic",
        requires=("output",),
        reads=("reference",),
        aliases={"tnsai/response_quality": {}},
    ),
)
