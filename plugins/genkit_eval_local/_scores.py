"""What all metrics of this plugin have in common."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from genkit_eval import Score
from genkit_eval.text import text_of

__all__ = ["NO_TEXT", "NO_WORDS", "cut", "references"]

NO_TEXT = "there is no text in the {}"
NO_WORDS = "there is no word in the {}"


def cut(value: float, threshold: float | None, reason: str, details: Mapping[str, JsonValue]) -> Score:
    """The score; PASS or FAIL only where a threshold is given."""
    if threshold is None:
        return Score.scored(value, reason=reason, details=details)
    decided = Score.passed if value >= threshold else Score.failed
    return decided(value, reason=reason, details=details)


def references(reference: JsonValue) -> list[str]:
    """The right answers: each text of a list of texts, else the one text that the value is read as."""
    if isinstance(reference, list) and all(isinstance(item, str) for item in reference):
        return [str(item) for item in reference]
    return [text_of(reference)]
