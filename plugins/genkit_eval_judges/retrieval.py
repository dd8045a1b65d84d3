"""Judges of what a search brought: `judge/contextual_precision` and `judge/contextual_recall`."""

from __future__ import annotations

from genkit_eval_judges.counting import CountOptions, average_precision, each_judged, supported_claims
from genkit_eval_judges.recipe import Recipe

__all__ = ["JUDGES"]

JUDGES = (
    Recipe(
        name="judge/contextual_precision",
        ask=each_judged(
            lambda inputs: inputs.retrieved,
            against=("request", "reference"),
            what="documents relevant",
            nothing="there is no document with anything in it",
            score=average_precision,
        ),
        prompts={"verdicts": "contextual_precision"},
        needs=("request", "context"),
        reads=("reference",),
        display_name="Contextual precision",
        definition="Documents that are relevant to the request (to the reference, if there is one) stand before the "
        "others.",
        formula="average precision: mean of precision@k over the ranks k of the relevant documents; 0 without any",
        source="TnsAI",
        calls="1 for every 20 documents",
        aliases={"tnsai/contextual_precision": {}},
    ),
    Recipe(
        name="judge/contextual_recall",
        ask=supported_claims(
            of="reference",
            what="pieces of the reference covered by the documents",
            nothing="the reference holds no information that could be looked for",
        ),
        prompts={"statements": "contextual_recall_statements", "verdicts": "contextual_recall_verdicts"},
        needs=("reference", "context"),
        reads=("request",),
        options=CountOptions,
        display_name="Contextual recall",
        definition="The documents cover what a right answer consists of.",
        formula="pieces covered / pieces of the reference",
        source="TnsAI",
        calls="1 + 1 for every 20 pieces",
        aliases={"tnsai/contextual_recall": {}},
    ),
)
