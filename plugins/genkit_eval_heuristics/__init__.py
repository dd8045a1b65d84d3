"""Evaluators that need no model: `rule/…`, `heuristic/…`, `budget/…` and `retrieval/…`.

ge = GenkitEval(plugins=[heuristics()])
"""

from __future__ import annotations

from genkit_eval_heuristics.definition import Heuristic, Options, Thresholded, verdict
from genkit_eval_heuristics.plugin import heuristics

__all__ = ["Heuristic", "Options", "Thresholded", "heuristics", "verdict"]
