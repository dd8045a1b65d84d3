"""Evaluators that a model decides: `judge/…`, `quality/…`, `geval/…`.

ge = GenkitEval(plugins=[openai_models(), judges(judge="openai/NAME")])
"""

from __future__ import annotations

from genkit_eval.judged import MetricConfig, Panel
from genkit_eval_judges.assessor import Assess, Assessor
from genkit_eval_judges.criterion import (
    Anchors,
    Category,
    Criterion,
    Demonstration,
    GEval,
    Nearest,
    Range,
    Variable,
)
from genkit_eval_judges.inputs import Inputs
from genkit_eval_judges.plugin import judges
from genkit_eval_judges.recipe import JudgeOptions, Recipe, decided

__all__ = [
    "Anchors",
    "Assess",
    "Assessor",
    "Category",
    "Criterion",
    "Demonstration",
    "GEval",
    "Inputs",
    "JudgeOptions",
    "MetricConfig",
    "Nearest",
    "Panel",
    "Range",
    "Recipe",
    "Variable",
    "decided",
    "judges",
]
