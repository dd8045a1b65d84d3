"""The entries of the FAQ, and a retriever over them: words that few entries have weigh more."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path

import yaml

__all__ = ["Entry", "Retriever", "entries"]

_WORD = re.compile(r"[a-z]{4,}|\d+")
_STOP_WORDS = frozenset(
    ["before", "does", "from", "have", "that", "they", "this", "what", "when", "where", "with", "your"]
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One question of the FAQ with its answer."""

    id: str
    text: str


def entries() -> list[Entry]:
    """All of them, from `faq.yaml`."""
    found = yaml.safe_load((Path(__file__).parent / "faq.yaml").read_text(encoding="utf-8"))
    return [Entry(**entry) for entry in found]


class Retriever:
    """Finds the entries that share the most telling words with a question."""

    def __init__(self, faq: Sequence[Entry]) -> None:
        self._faq = [(entry, words(f"{entry.id} {entry.text}")) for entry in faq]
        self._holding = Counter(word for _, held in self._faq for word in held)

    def search(self, question: str, most: int = 3) -> list[Entry]:
        """The best ones, best first; none that shares no word."""
        asked = words(question)
        ranked = sorted(((self._fit(asked & held), entry) for entry, held in self._faq), key=lambda pair: -pair[0])
        return [entry for fit, entry in ranked[:most] if fit > 0]

    def _fit(self, shared: set[str]) -> float:
        return sum(log(len(self._faq) / self._holding[word]) for word in sorted(shared))


def words(text: str) -> set[str]:
    """Its words of four letters or more in lower case, without the commonest, and its numbers; no "s" at the end."""
    return {word.rstrip("s") for word in _WORD.findall(text.lower()) if word not in _STOP_WORDS}
