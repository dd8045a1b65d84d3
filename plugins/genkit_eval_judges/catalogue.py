"""All judges of the plugin: a line for each module that brings some.

The table in the README is made of it: `python -m tests.plugins.judges.catalogue_table` writes it anew.
"""

from __future__ import annotations

from genkit_eval_judges import (
    calls,
    citations,
    conversation,
    grounding,
    harm,
    plans,
    quality,
    relevancy,
    retrieval,
    tasks,
)
from genkit_eval_judges.recipe import Recipe

__all__ = ["JUDGES"]

JUDGES: tuple[Recipe, ...] = (
    *calls.JUDGES,
    *citations.JUDGES,
    *conversation.JUDGES,
    *grounding.JUDGES,
    *harm.JUDGES,
    *plans.JUDGES,
    *quality.JUDGES,
    *relevancy.JUDGES,
    *retrieval.JUDGES,
    *tasks.JUDGES,
)
