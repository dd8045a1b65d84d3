"""The arithmetic of the judged metrics: pure functions from what judges and embedders said to a score.

None of them divides by what a judge chose to emit, and none gives NaN: an empty denominator raises ValueError, so that
the caller has to say beforehand what an empty list means.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from genkit_eval.scores import EDGE

__all__ = [
    "above",
    "average_precision",
    "f_beta",
    "harmonic15",
    "js_relevancy",
    "mean_rating",
    "mean_similarity",
    "misled",
    "rated_accuracy",
    "reaches",
    "share_of",
    "summary_score",
]


def above(score: float, cut: float) -> bool:
    """Whether the score is above the cut by more than rounding may make of it."""
    return score - cut > EDGE


def reaches(score: float, threshold: float | None, *, minimize: bool = False) -> bool | None:
    """Whether the score is at the threshold or better; None where there is no threshold."""
    if threshold is None:
        return None
    return not above(score, threshold) if minimize else not above(threshold, score)


def share_of(verdicts: Sequence[bool]) -> float:
    """How many of them are true, 0 to 1.

    Raises:
        ValueError: there are none, so that there is no share.
    """
    if not verdicts:
        raise ValueError("a share of nothing is undefined")
    return sum(verdicts) / len(verdicts)


def rated_accuracy(first: int, swapped: int) -> float:
    """(first + swapped) / 8 of two ratings out of 0, 2 and 4: 0 to 1.

    Source: the answer accuracy of NVIDIA's judges in RAGAS, as Genkit for JavaScript has it.
    """
    return (first + swapped) / 8


def mean_rating(first: int, second: int) -> float:
    """(first + second) / 4 of two ratings out of 0, 1 and 2: 0 to 1.

    Source: context relevance and response groundedness of NVIDIA's judges in RAGAS.
    """
    return (first + second) / 4


def harmonic15(first: int, swapped: int) -> float:
    """Harmonic mean of two ratings from 1 to 5, each as (rating - 1) / 4; 0 if either is 0.

    Source: Genkit for Java.
    """
    a, b = (first - 1) / 4, (swapped - 1) / 4
    return 2 * a * b / (a + b) if a and b else 0.0


def mean_similarity(cosines: Sequence[float]) -> float:
    """Mean of max(0, cosine), 0 to 1: texts that point away from each other are as unlike as unrelated ones.

    Raises:
        ValueError: there are none.
    """
    if not cosines:
        raise ValueError("a mean of nothing is undefined")
    return math.fsum(max(0.0, value) for value in cosines) / len(cosines)


def js_relevancy(similarity: float, *, answered: bool, noncommittal: bool) -> float:
    """max(0, |cosine| - (0 if answered else 0.5)), and 0 for a noncommittal answer.

    Source: Genkit for JavaScript, which takes the absolute value.
    """
    return 0.0 if noncommittal else max(0.0, abs(similarity) - (0.0 if answered else 0.5))


def average_precision(relevant: Sequence[bool]) -> float:
    """Mean, over the relevant documents, of the precision up to each one's rank; 0 without a relevant one.

    sum over k of precision@k * relevant_k, divided by how many are relevant.
    Source: RAGAS, context precision.
    """
    hits, total = 0, 0.0
    for rank, is_relevant in enumerate(relevant, 1):
        if is_relevant:
            hits += 1
            total += hits / rank
    return total / hits if hits else 0.0


def f_beta(true_positives: int, false_positives: int, false_negatives: int, *, beta: float = 1.0) -> float:
    """F score from counts, 0 to 1: (1 + b²) TP / ((1 + b²) TP + b² FN + FP).

    Raises:
        ValueError: all counts are 0.
    """
    weighted = (1 + beta**2) * true_positives
    denominator = weighted + beta**2 * false_negatives + false_positives
    if not denominator:
        raise ValueError("an F score without any statement is undefined")
    return weighted / denominator


def misled(
    *,
    correct: Sequence[bool],
    answer_in_document: Sequence[Sequence[bool]],
    reference_in_document: Sequence[Sequence[bool]],
    mode: Literal["relevant", "irrelevant"] = "relevant",
) -> list[bool]:
    """For each statement of the answer, whether it is wrong and a document led to it.

    A document is relevant if it supports a statement of the reference. With mode "relevant" those wrong statements
    count that a relevant document supports; with "irrelevant" those that only irrelevant documents support.

    Args:
        correct: for each statement of the answer, whether the reference supports it.
        answer_in_document: for each document, for each statement of the answer, whether the document supports it.
        reference_in_document: for each document, for each statement of the reference, the same.
        mode: which documents count.
    Source: RAGAS, noise sensitivity.
    """
    relevant = [any(supported) for supported in reference_in_document]

    def led(index: int) -> bool:
        by = {good for supported, good in zip(answer_in_document, relevant, strict=True) if supported[index]}
        return True in by if mode == "relevant" else by == {False}

    return [not right and led(index) for index, right in enumerate(correct)]


def summary_score(answered: float, *, text_length: int, summary_length: int, brevity: float = 0.5) -> float:
    """answered * (1 - brevity) + conciseness * brevity, with conciseness = 1 - min(summary, text) / text: 0 to 1.

    Args:
        answered: the share of questions to the text that the summary answers.
        text_length, summary_length: in characters; the text has at least one.
        brevity: what conciseness weighs, 0 to 1.
    Source: RAGAS, summarization score.
    """
    conciseness = 1 - min(summary_length, text_length) / text_length
    return answered * (1 - brevity) + conciseness * brevity
