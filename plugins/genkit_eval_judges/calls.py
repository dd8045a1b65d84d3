"""Judges of single calls of tools: `judge/tool_correctness` and `judge/argument_correctness`."""

from __future__ import annotations

from genkit_eval_judges.counting import CountOptions, each_judged
from genkit_eval_judges.rating import each_rated
from genkit_eval_judges.recipe import Recipe

__all__ = ["JUDGES"]

JUDGES = (
    Recipe(
        name="judge/tool_correctness",
        ask=each_rated(
            lambda inputs: inputs.calls,
            against=("request", "tool_catalog"),
            what="calls",
            nothing="no tool was called",
        ),
        prompts={"ratings": "tool_correctness"},
        needs=("request",),
        reads=("tools", "tool_catalog"),
        options=CountOptions,
        display_name="Tool correctness",
        definition="Each call was of the right tool, in the right way, when it was called for.",
        formula="mean of (s - 1) / 4, of a rating from 1 to 5 for each call",
        source="TnsAI",
        calls="1 for every 20 calls",
        aliases={"tnsai/tool_correctness": {"on_empty": 1.0}},
    ),
    Recipe(
        name="judge/argument_correctness",
        ask=each_judged(
            lambda inputs: inputs.calls,
            against=("request", "turns", "tool_catalog"),
            what="calls with the right arguments",
            nothing="no tool was called",
            in_order=True,
        ),
        prompts={"verdicts": "argument_correctness"},
        needs=("request",),
        reads=("tools", "turns", "tool_catalog"),
        options=CountOptions,
        display_name="Argument correctness",
        definition="The arguments of each call are those that the request and what was known called for.",
        formula="calls with the right arguments / calls",
        source="Akka evalkit",
        calls="1 for every 20 calls",
    ),
)
