"""Text as words, in the two readings that metrics offer.

"squad" is SQuAD's scorer: lower case, ASCII punctuation taken out (so "well-known" is one word, and "3.14" is "314"),
the articles a, an and the left out, the rest parted at blanks. Two things are added: canonically equal texts are equal,
and a text of which nothing would be left ("A", "!") is only put in lower case.
"unicode" is `genkit_eval.text.tokens`: Unicode words after NFKC and case folding, scripts without blanks by character,
"3.14" one word, no article left out. It is the one to take for Chinese, Japanese, Korean and Thai.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from genkit_eval.text import tokens

__all__ = ["Overlap", "Tokens", "normalised", "overlap", "words_of"]

Tokens = Literal["squad", "unicode"]

_PUNCTUATION = dict.fromkeys(map(ord, string.punctuation))
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


def normalised(text: str) -> str:
    """A text as SQuAD's scorer compares it; in lower case alone where nothing else would be left.

    >>> normalised("The Lantern Bridge!")
    'lantern bridge'
    """
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    lower = text.lower()
    kept = _ARTICLES.sub(" ", lower.translate(_PUNCTUATION)).split()
    return " ".join(kept or lower.split())


def words_of(text: str, kind: Tokens) -> Sequence[str]:
    """The words of a text, in order."""
    # as in SQuAD's, a text of signs alone is not without any word, or all such texts would be the same
    return normalised(text).split() if kind == "squad" else tokens(text) or text.split()


@dataclass(frozen=True, slots=True)
class Overlap:
    """How many words two texts share, each as often as both have it, out of how many."""

    shared: int
    answer: int
    reference: int

    @property
    def precision(self) -> float:
        """The share of the answer's words that the reference has."""
        return self.shared / self.answer if self.answer else 0.0

    @property
    def recall(self) -> float:
        """The share of the reference's words that the answer has."""
        return self.shared / self.reference if self.reference else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; 1 for two texts without words, as SQuAD's scorer has it."""
        words = self.answer + self.reference
        return 2 * self.shared / words if words else 1.0


def overlap(answer: Sequence[str], reference: Sequence[str]) -> Overlap:
    """What two lists of words share."""
    shared = (Counter(answer) & Counter(reference)).total()
    return Overlap(shared, len(answer), len(reference))
