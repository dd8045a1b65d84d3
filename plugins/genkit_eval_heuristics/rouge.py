"""ROUGE of answer and reference: `heuristic/rouge_1`, `heuristic/rouge_2`, `heuristic/rouge_l`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from importlib.util import find_spec
from typing import Any, Literal

from pydantic import Field

from genkit_eval import DataPoint, Score
from genkit_eval.text import ngrams, references, text_of, tokens
from genkit_eval_heuristics.definition import Heuristic, Thresholded, verdict
from genkit_eval_heuristics.sequences import common_subsequence, comparable
from genkit_eval_heuristics.words import Overlap

__all__ = ["EVALUATORS", "RougeOptions", "rouge_l", "rouge_n"]

_NO_WORD = re.compile(r"[^a-z0-9]+")


class RougeOptions(Thresholded):
    """What a word is, and which share is the score."""

    tokens: Literal["rouge", "unicode"] = Field(
        default="rouge", description="'rouge': runs of a-z and 0-9, as in rouge-score; 'unicode': words of any script."
    )
    measure: Literal["f1", "precision", "recall"] = Field(default="f1", description="Which share is the score.")
    stem: bool = Field(default=False, description="Porter's stems of English words; it needs the extra `text`.")


def rouge_n(size: int, point: DataPoint, options: RougeOptions) -> Score:
    """F1 of the sequences of `size` words that answer and reference share; 0 to 1, higher is better.

    precision = shared / sequences of the answer, recall = shared / sequences of the reference, each sequence counted as
    often as both have it. The same as `rouge-score` says; of several references the best one counts.
    """

    def shared(answer: Sequence[str], reference: Sequence[str]) -> Overlap:
        ours, theirs = ngrams(answer, size), ngrams(reference, size)
        return Overlap((ours & theirs).total(), ours.total(), theirs.total())

    return _best(point, options, shared)


def rouge_l(point: DataPoint, options: RougeOptions) -> Score:
    """F1 of the longest common subsequence of words; 0 to 1, higher is better.

    precision = its length / words of the answer, recall = its length / words of the reference. Texts are one sequence,
    whatever their lines. The same as `rouge-score` says; of several references the best one counts.

    Raises:
        DataError: a text has more than 50,000 words.
    """

    def shared(answer: Sequence[str], reference: Sequence[str]) -> Overlap:
        common = common_subsequence(comparable(answer, "words"), comparable(reference, "words"))
        return Overlap(common, len(answer), len(reference))

    return _best(point, options, shared)


def _best(point: DataPoint, options: RougeOptions, shared: Callable[[Sequence[str], Sequence[str]], Overlap]) -> Score:
    answer = _words(text_of(point.output), options)
    known = [words for text in references(point.reference) if (words := _words(text, options))]
    if not answer or not known:
        hint = "" if options.tokens == "unicode" else ": tokens='unicode' reads other scripts than English"
        return Score.inconclusive(reason=f"there is no word in the {'reference' if answer else 'answer'}{hint}")
    best = max((shared(answer, words) for words in known), key=_f1)
    shares = {"precision": best.precision, "recall": best.recall, "f1": _f1(best)}
    reason = f"{best.shared} shared of {best.answer} in the answer and {best.reference} in the reference"
    return verdict(shares[options.measure], options, reason=reason, details=dict(shares))


def _f1(found: Overlap) -> float:
    # texts too short for a sequence share none
    return found.f1 if found.shared else 0.0


def _words(text: str, options: RougeOptions) -> Sequence[str]:
    words = tokens(text) if options.tokens == "unicode" else _NO_WORD.sub(" ", text.lower()).split()
    if not options.stem:
        return words
    stem = _stemmer().stem
    return [stem(word) if len(word) > 3 else word for word in words]


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    # of the extra `text`, and 0.4 s at import
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer()


def _problem(options: RougeOptions) -> str | None:
    if options.stem and find_spec("nltk") is None:
        return "stem needs the package nltk: pip install 'genkit-eval[text]'"
    return None


def _rouge(name: str, fn: Callable[..., Score], display_name: str, what: str) -> Heuristic:
    return Heuristic(
        name=f"heuristic/{name}",
        fn=fn,
        options=RougeOptions,
        display_name=display_name,
        definition=f"The {what} that answer and reference share.",
        formula="F1 of shared / in the answer and shared / in the reference; best of several references",
        source="Lin 2004, ROUGE",
        kind="heuristic",
        requires=("output", "reference"),
        non_empty=("output",),
        check_options=_problem,
    )


EVALUATORS = (
    _rouge("rouge_1", partial(rouge_n, 1), "ROUGE-1", "words"),
    _rouge("rouge_2", partial(rouge_n, 2), "ROUGE-2", "pairs of neighbouring words"),
    _rouge("rouge_l", rouge_l, "ROUGE-L", "longest sequence of words"),
)
