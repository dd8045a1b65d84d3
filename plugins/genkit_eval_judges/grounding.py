"""Judges of what an answer stands on: `judge/faithfulness`."""

from __future__ import annotations

from genkit_eval_judges.counting import CountOptions, supported_claims
from genkit_eval_judges.recipe import Recipe

__all__ = ["JUDGES"]

JUDGES = (
    Recipe(
        name="judge/faithfulness",
        ask=supported_claims(
            of="response",
            by="context",
            what="claims borne out by the documents",
            nothing="the answer claims nothing that could be checked",
        ),
        prompts={"statements": "faithfulness_claims", "verdicts": "faithfulness_verdicts"},
        needs=("response", "context"),
        display_name="Faithfulness",
        definition="The retrieved documents bear out what the answer claims.",
        formula="claims borne out / claims of the answer",
        source="TnsAI",
        calls="1 + 1 for every 20 claims",
        options=CountOptions,
        aliases={"tnsai/faithfulness": {}, "akka/Faithfulness": {"on_empty": 1.0}},
    ),
)
