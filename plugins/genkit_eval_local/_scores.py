"""What all metrics of this plugin have in common."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from genkit_eval import Score

__all__ = ["NO_TEXT", "NO_WORDS", "cut"]

NO_TEXT = "there is no text in the {}"
NO_WORDS = "there is no word in the {}"


def cut(value: float, threshold: float | None, reason: str, details: Mapping[str, JsonValue]) -> Score:
    """The score; PASS or FAIL only where a threshold is given."""
    if threshold is None:
        return Score.scored(value, reason=reason, details=details)
    decided = Score.passed if value >= threshold else Score.failed
    return decided(value, reason=reason, details=details)
