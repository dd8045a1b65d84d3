"""All evaluators of the plugin: a line for each module that brings some.

The table in the README is made of it: `python -m tests.plugins.heuristics.catalogue_table` writes it anew.
"""

from __future__ import annotations

from genkit_eval_heuristics import (
    bleu,
    budget,
    citations,
    edit_distance,
    instruction_following,
    json_diff,
    json_format,
    labels,
    length,
    number_within,
    patterns,
    phrases,
    pii_leakage,
    reference_overlap,
    refusal,
    retrieval,
    rouge,
    schema_conformance,
    tool_correctness,
    tool_loops,
    tool_permission,
    tool_steps,
)
from genkit_eval_heuristics.definition import Heuristic

__all__ = ["HEURISTICS"]

HEURISTICS: tuple[Heuristic, ...] = (
    *bleu.EVALUATORS,
    *budget.EVALUATORS,
    *citations.EVALUATORS,
    *edit_distance.EVALUATORS,
    *instruction_following.EVALUATORS,
    *json_diff.EVALUATORS,
    *json_format.EVALUATORS,
    *labels.EVALUATORS,
    *length.EVALUATORS,
    *number_within.EVALUATORS,
    *patterns.EVALUATORS,
    *phrases.EVALUATORS,
    *pii_leakage.EVALUATORS,
    *reference_overlap.EVALUATORS,
    *refusal.EVALUATORS,
    *retrieval.EVALUATORS,
    *rouge.EVALUATORS,
    *schema_conformance.EVALUATORS,
    *tool_correctness.EVALUATORS,
    *tool_loops.EVALUATORS,
    *tool_permission.EVALUATORS,
    *tool_steps.EVALUATORS,
)
