"""The judges `quality/*`: what Scorable measures, each by a criterion with anchors or thing by thing."""

from __future__ import annotations

from genkit_eval_judges.quality import agents, grounding, language, manner, safety, substance, swift, tasks, tone
from genkit_eval_judges.quality.rubric import Rubric
from genkit_eval_judges.recipe import Recipe

__all__ = ["JUDGES", "RUBRICS"]

RUBRICS: tuple[Rubric, ...] = (
    *language.RUBRICS,
    *manner.RUBRICS,
    *safety.RUBRICS,
    *swift.RUBRICS,
)
"""Those that are one rating."""

JUDGES: tuple[Recipe, ...] = (
    *(rubric.recipe() for rubric in RUBRICS),
    *agents.JUDGES,
    *(composite.recipe() for composite in tasks.COMPOSITES),
    *grounding.JUDGES,
    *substance.JUDGES,
    *tone.JUDGES,
)
