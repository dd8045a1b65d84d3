"""The metrics that count what two texts have in common: `local/reference_recall`, `ngram_grounding`, `answer_overlap`.

Words are those of `genkit_eval.text.tokens`. All counts are of multisets: a word that is there twice counts twice, as
often as both texts have it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice

from pydantic import BaseModel, ConfigDict, Field

from genkit_eval import DataPoint, Score
from genkit_eval.errors import shortened
from genkit_eval.text import ngrams, references, text_of, tokens
from genkit_eval_local._scores import NO_WORDS, cut

__all__ = ["ShareOptions", "answer_overlap", "ngram_grounding", "reference_recall"]

MAX_TOLD = 5
MAX_WORD = 40

Words = Counter[tuple[str, ...]]


class ShareOptions(BaseModel):
    """Where to cut, if anywhere."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    threshold: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="PASS at this score or above, FAIL below; without it there is a score and no verdict.",
    )


def reference_recall(point: DataPoint, options: ShareOptions) -> Score:
    """How much of the reference is in the answer: shared words / words of the reference, 0 to 1, higher is better.

    "Paris" in "It is Paris, in France." is 1: what else the answer says costs nothing, whether it is true or not.
    A reference that is a list of texts holds several right answers; the best one counts.

    Measured beforehand: of 15,098 answers to the questions of EVOUNA-NQ, judged right or wrong by people, it ranks a
    right one above a wrong one in 93 % of the pairs (AUC .93). The cut is to be set on your own data.
    """

    def recall(answer: Words, reference: Words) -> float:
        return (answer & reference).total() / reference.total()

    return _best(point, options, recall)


def answer_overlap(point: DataPoint, options: ShareOptions) -> Score:
    """How much answer and reference share: F1 of their words, 2 · shared / (words of both), 0 to 1, higher is better.

    The harmonic mean of precision and recall, so a long answer costs. Unlike SQuAD's F1, articles are words too, and a
    hyphen parts words. A reference that is a list of texts holds several right answers; the best one counts.
    """

    def f1(answer: Words, reference: Words) -> float:
        return 2 * (answer & reference).total() / (answer.total() + reference.total())

    return _best(point, options, f1)


def ngram_grounding(point: DataPoint, options: ShareOptions) -> Score:
    """How much of the answer's wording is in the context: mean of its unigram and bigram precision, 0 to 1.

    Precision is the share of the answer's words (and of its pairs of neighbouring words) that the context has, each at
    most as often as the context has it. Pairs do not reach from one document into the next. An answer of one word has
    no pairs: then the score is the unigram precision alone. Higher is better.

    It sees wording, not truth: a paraphrase scores low, and "not" costs one word. Measured beforehand, against labels
    by people: AUC .89 to .97 on BEGIN, .63 to .82 on QAGS-CNN/DM, .62 to .67 on QAGS-XSum, where summaries are
    rephrased throughout. The cut is to be set on your own data.
    """
    words = tokens(text_of(point.output))
    documents = [tokens(text_of(document)) for document in point.context]
    if not words or not any(documents):
        return Score.inconclusive(reason=NO_WORDS.format("context" if words else "answer"))
    missing = ngrams(words, 1) - _counted(documents, 1)
    precisions = {"unigramPrecision": (len(words) - missing.total()) / len(words)}
    if len(words) > 1:
        pairs = ngrams(words, 2)
        precisions["bigramPrecision"] = (pairs & _counted(documents, 2)).total() / pairs.total()
    value = sum(precisions.values()) / len(precisions)
    told = _told(missing, "every word is in the context", "not in the context: ")
    return cut(value, options.threshold, told, precisions)


def _counted(documents: Sequence[Sequence[str]], size: int) -> Words:
    counts = Words()
    for words in documents:
        counts.update(ngrams(words, size))
    return counts


def _best(point: DataPoint, options: ShareOptions, measure: Callable[[Words, Words], float]) -> Score:
    """The score against the reference that suits the answer best."""
    answer = ngrams(tokens(text_of(point.output)), 1)
    known = [words for text in references(point.reference) if (words := ngrams(tokens(text), 1))]
    if not answer or not known:
        return Score.inconclusive(reason=NO_WORDS.format("reference" if answer else "answer"))
    reference = max(known, key=lambda words: measure(answer, words))
    told = _told(reference - answer, "every word of the reference is in the answer", "not in the answer: ")
    details = {
        "sharedWords": (answer & reference).total(),
        "answerWords": answer.total(),
        "referenceWords": reference.total(),
    }
    return cut(measure(answer, reference), options.threshold, told, details)


def _told(missing: Words, none: str, some: str) -> str:
    """The missing words in a line."""
    words = [shortened(word, MAX_WORD) for (word,) in islice(missing, MAX_TOLD)]
    more = len(missing) - len(words)
    return f"{some}{', '.join(words)}" + (f" and {more} more" if more else "") if words else none
