"""BLEU and chrF of answer and reference, through sacrebleu: `heuristic/bleu`, `heuristic/chrf`."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from genkit_eval import DataPoint, Score
from genkit_eval.text import references, text_of
from genkit_eval_heuristics.definition import Heuristic, Thresholded, verdict

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

__all__ = ["EVALUATORS", "BleuOptions", "ChrfOptions", "bleu", "chrf"]

Tokenizer = Literal["13a", "intl", "zh", "char", "none"]


class BleuOptions(Thresholded):
    """How texts are parted, and how long the sequences are."""

    tokenize: Tokenizer = Field(
        default="13a",
        description="sacrebleu's: '13a', 'intl' (punctuation of any script), 'zh' or 'char' for CJK, or 'none'.",
    )
    lowercase: bool = Field(default=False, description="Whether 'The' is 'the'.")
    max_order: int = Field(default=4, ge=1, le=10, description="How many tokens the longest sequences have.")


class ChrfOptions(Thresholded):
    """How long the sequences are."""

    char_order: int = Field(default=6, ge=1, le=20, description="How many characters the longest sequences have.")
    word_order: int = Field(default=0, ge=0, le=5, description="The same for words: 0 is chrF, 2 is chrF++.")
    beta: int = Field(default=2, ge=1, le=10, description="How many times as much as precision recall counts.")
    lowercase: bool = Field(default=False, description="Whether 'The' is 'the'.")


def bleu(point: DataPoint, options: BleuOptions) -> Score:
    """Sentence BLEU: precision of the sequences of 1 to 4 tokens, times a penalty for brevity; 0 to 1.

    The geometric mean of the precisions, smoothed exponentially, over the orders that the answer is long enough for
    (sacrebleu's effective order), with all references at once; sacrebleu's number / 100. Higher is better. It was
    made for the answers of a whole test set: of a single short one it says little.
    """
    known = references(point.reference)
    if not any(known):
        return Score.inconclusive(reason="there is no text in the reference")
    value = _bleu(options).sentence_score(text_of(point.output), known).score / 100
    return verdict(min(value, 1.0), options, reason=f"BLEU {100 * value:.1f} of 100")


def chrf(point: DataPoint, options: ChrfOptions) -> Score:
    """chrF: F-score of the sequences of 1 to 6 characters, recall counting twice as much as precision; 0 to 1.

    Blanks do not count, so it reads any script; of several references the best one counts; sacrebleu's number / 100.
    Higher is better.
    """
    known = references(point.reference)
    if not any(known):
        return Score.inconclusive(reason="there is no text in the reference")
    value = _chrf(options).sentence_score(text_of(point.output), known).score / 100
    return verdict(min(value, 1.0), options, reason=f"chrF {100 * value:.1f} of 100")


@lru_cache(maxsize=16)
def _bleu(options: BleuOptions) -> BLEU:
    # of the extra `text`
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(
        tokenize=options.tokenize, lowercase=options.lowercase, max_ngram_order=options.max_order, effective_order=True
    )


@lru_cache(maxsize=16)
def _chrf(options: ChrfOptions) -> CHRF:
    # of the extra `text`
    from sacrebleu.metrics.chrf import CHRF

    return CHRF(
        char_order=options.char_order,
        word_order=options.word_order,
        beta=options.beta,
        lowercase=options.lowercase,
    )


EVALUATORS = (
    Heuristic(
        name="heuristic/bleu",
        fn=bleu,
        options=BleuOptions,
        display_name="BLEU",
        definition="How much of the answer's wording is that of the reference.",
        formula="brevity penalty · geometric mean of the precisions of 1 to 4 tokens",
        source="Papineni et al. 2002; sacrebleu",
        kind="heuristic",
        requires=("output", "reference"),
        non_empty=("output",),
        package="sacrebleu",
    ),
    Heuristic(
        name="heuristic/chrf",
        fn=chrf,
        options=ChrfOptions,
        display_name="chrF",
        definition="How many sequences of characters answer and reference share.",
        formula="F2 of the sequences of 1 to 6 characters",
        source="Popović 2015; sacrebleu",
        kind="heuristic",
        requires=("output", "reference"),
        non_empty=("output",),
        package="sacrebleu",
    ),
)
