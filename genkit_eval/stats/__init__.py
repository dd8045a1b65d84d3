"""What the scores of a run add up to: pure functions over results."""

from __future__ import annotations

from genkit_eval.stats.gate import Gate, gate
from genkit_eval.stats.summary import Tally, summarize

__all__ = ["Gate", "Tally", "gate", "summarize"]
