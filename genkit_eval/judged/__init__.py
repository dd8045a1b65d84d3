"""Judged metrics: what they have in common, whatever they read and ask."""

from __future__ import annotations

from genkit_eval.judged.config import Choice, MetricConfig, PromptSource, StatusOverride, configured
from genkit_eval.judged.define import define_judged, digest_of
from genkit_eval.judged.embedding import Embedding
from genkit_eval.judged.metric import (
    NONE,
    Answer,
    Instruments,
    JudgedMetric,
    NothingToJudge,
    claim_score,
    judged,
    side_by_side,
)
from genkit_eval.judged.panel import Judges, Panel, seated

__all__ = [
    "NONE",
    "Answer",
    "Choice",
    "Embedding",
    "Instruments",
    "JudgedMetric",
    "Judges",
    "MetricConfig",
    "NothingToJudge",
    "Panel",
    "PromptSource",
    "StatusOverride",
    "claim_score",
    "configured",
    "define_judged",
    "digest_of",
    "judged",
    "seated",
    "side_by_side",
]
