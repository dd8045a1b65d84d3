"""What judges reply, in the forms that recipes ask for."""

from __future__ import annotations

import json

__all__ = ["aspects", "grades", "rating", "ratings", "statements", "verdicts"]


def rating(value: float | str | None, reason: str = "so it is") -> str:
    """A reason and a rating."""
    return json.dumps({"reason": reason, "rating": value})


def aspects(**values: float | None) -> str:
    """A reason and a rating for each aspect."""
    return json.dumps({name: {"reason": f"why {name}", "rating": value} for name, value in values.items()})


def ratings(*values: float) -> str:
    """A rating for each numbered thing."""
    items = [
        {"number": number, "reason": f"reason {number}", "rating": value} for number, value in enumerate(values, 1)
    ]
    return json.dumps({"ratings": items})


def grades(*words: str) -> str:
    """A grade for each numbered thing."""
    items = [{"number": number, "reason": f"reason {number}", "grade": word} for number, word in enumerate(words, 1)]
    return json.dumps({"grades": items})


def statements(*texts: str) -> str:
    """The statements of a text."""
    return json.dumps({"statements": texts})


def verdicts(*values: bool) -> str:
    """A verdict for each numbered thing."""
    items = [
        {"number": number, "reason": f"reason {number}", "verdict": value} for number, value in enumerate(values, 1)
    ]
    return json.dumps({"verdicts": items})
