"""Judges of whether what was said responds to what was asked: `judge/answer_relevancy`."""

from __future__ import annotations

from genkit_eval_judges.rating import rated_aspects
from genkit_eval_judges.recipe import Recipe

__all__ = ["JUDGES"]

JUDGES = (
    Recipe(
        name="judge/answer_relevancy",
        ask=rated_aspects("directness", "completeness", "focus"),
        prompts={"rating": "answer_relevancy"},
        needs=("request", "response"),
        display_name="Answer relevancy",
        definition="The answer responds to the request: directly, to all of it, and to nothing else.",
        formula="mean of directness, completeness and focus, each 1 to 5 as (s - 1) / 4",
        source="TnsAI",
        calls="1",
        aliases={"tnsai/answer_relevancy": {}},
    ),
)
