"""Two ways to find the docstrings that answer a question: BM25, and one that only counts words."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from math import log

from docstrings import Entry

__all__ = ["Library", "words"]

STOP_WORDS = """
    a all an and any are as at be by can do does for from get give has have how i if in is it its my of on one or
    python so that the their there this to want what when which with without you your
"""
ENDINGS = ("ing", "ies", "es", "ed", "s", "e")
NAME_WEIGHT = 3
"""A word of an entry's own name counts as much as three in its text."""

_STOP_WORDS = frozenset(STOP_WORDS.split())
_WORD = re.compile(r"[a-z]+|\d+")


def words(text: str) -> list[str]:
    """The words of a text in lower case, without the commonest ones, and without endings."""
    return [_stem(word) for word in _WORD.findall(text.lower()) if word not in _STOP_WORDS]


def _stem(word: str) -> str:
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word


class Library:
    """Entries, and an index from words to the entries that hold them."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = entries
        self._counts = [Counter(words(entry.name) * NAME_WEIGHT + words(entry.text)) for entry in entries]
        self._lengths = [sum(counts.values()) for counts in self._counts]
        self._mean_length = sum(self._lengths) / len(entries)
        self._places: dict[str, list[int]] = defaultdict(list)
        for place, counts in enumerate(self._counts):
            for word in counts:
                self._places[word].append(place)

    def search(self, question: str, most: int = 5) -> list[Entry]:
        """The entries that fit best by BM25: rare words weigh more, long entries less. Best first.

        Source: Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework", with k1 = 1.2 and b = 0.75.
        """
        fits: dict[int, float] = defaultdict(float)
        for word in sorted(set(words(question))):
            places = self._places.get(word, ())
            rarity = log(1 + (len(self.entries) - len(places) + 0.5) / (len(places) + 0.5))
            for place in places:
                count = self._counts[place][word]
                length = self._lengths[place] / self._mean_length
                fits[place] += rarity * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length))
        return self._best(fits, most)

    def search_by_counting(self, question: str, most: int = 5) -> list[Entry]:
        """The entries that repeat the question's words most often: a rare word is worth no more than a common one."""
        fits: dict[int, float] = defaultdict(float)
        for word in sorted(set(words(question))):
            for place in self._places.get(word, ()):
                fits[place] += self._counts[place][word]
        return self._best(fits, most)

    def _best(self, fits: Mapping[int, float], most: int) -> list[Entry]:
        # equal fits in the entries' order, so that every Python finds the same
        ranked = sorted(fits, key=lambda place: (-round(fits[place], 9), place))
        return [self.entries[place] for place in ranked[:most]]
