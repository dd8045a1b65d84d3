"""What the scores of a run add up to: pure functions over results."""

from __future__ import annotations

from genkit_eval.stats.gate import Gate, gate
from genkit_eval.stats.repeats import (
    CaseRepeats,
    CaseVerdict,
    PassAt,
    RepeatSummary,
    pass_at_k,
    pass_hat_k,
    summarize_repeats,
)
from genkit_eval.stats.summary import Tally, summarize

__all__ = [
    "CaseRepeats",
    "CaseVerdict",
    "Gate",
    "PassAt",
    "RepeatSummary",
    "Tally",
    "gate",
    "pass_at_k",
    "pass_hat_k",
    "summarize",
    "summarize_repeats",
]
