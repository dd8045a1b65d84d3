"""Judges through the client that talks to a server: each gets its answers in the form it asks for."""

from __future__ import annotations

import pytest

from genkit_eval import GenkitEval, Outcome
from genkit_eval.testing import OpenAIServer, data_point, in_form
from genkit_eval_judges import judges
from genkit_eval_judges.catalogue import JUDGES
from genkit_eval_openai import openai_models

TURNS = [
    {"role": "user", "content": "How long is the Nile?"},
    {"role": "assistant", "tool_calls": [{"name": "look_up", "arguments": {"river": "Nile"}, "id": "1"}]},
    {"role": "tool", "content": {"km": 6650}, "tool_call_id": "1"},
    {"role": "assistant", "content": "6,650 km [1]."},
    {"role": "user", "content": "Where does it end?"},
    {"role": "assistant", "content": "In the Mediterranean Sea [2]."},
]
POINT = data_point(
    input="How long is the Nile, and where does it end?",
    output="The Nile is 6,650 km long [1]. It ends in the Mediterranean Sea [2].",
    reference="The Nile is 6,650 km long and flows into the Mediterranean Sea.",
    context=["The Nile is 6,650 km long.", "It flows into the Mediterranean Sea."],
    plan=["Look it up.", "Answer."],
    goal="To know the Nile.",
    turns=TURNS,
    tool_catalog=[{"name": "look_up"}],
)


@pytest.mark.anyio
@pytest.mark.parametrize("name", [recipe.name for recipe in JUDGES if recipe.name.startswith("judge/")])
async def test_each_comes_to_a_verdict(name: str) -> None:
    with OpenAIServer(in_form) as server:
        ge = GenkitEval(plugins=[openai_models(base_url=server.url), judges(judge="openai/judge")], cache="off")
        (metric,) = await ge.score(POINT, name)

    assert (metric.outcome, metric.error) == (Outcome.VERDICT, None)
    assert isinstance(metric.score, float)
    assert 0 <= metric.score <= 1
    assert server.count >= 1
