"""All evaluators of the plugin: a line for each module that brings some."""

from __future__ import annotations

from genkit_eval_heuristics import labels, phrases, reference_overlap, retrieval
from genkit_eval_heuristics.definition import Heuristic

__all__ = ["HEURISTICS"]

HEURISTICS: tuple[Heuristic, ...] = (
    *labels.EVALUATORS,
    *phrases.EVALUATORS,
    *reference_overlap.EVALUATORS,
    *retrieval.EVALUATORS,
)
