"""Judged metrics: what they have in common, whatever they read and ask."""

from __future__ import annotations

from genkit_eval.judged.config import Choice, MetricConfig, PromptSource, StatusOverride, configured
from genkit_eval.judged.define import define_judged, digest_of
from genkit_eval.judged.embedding import Embedding
from genkit_eval.judged.evidence import NO_FILES, Files, files_of
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
from genkit_eval.judged.sight import sighted

__all__ = [
    "NONE",
    "NO_FILES",
    "Answer",
    "Choice",
    "Embedding",
    "Files",
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
    "files_of",
    "judged",
    "seated",
    "side_by_side",
    "sighted",
]
