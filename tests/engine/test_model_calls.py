"""What judges and model targets ask goes through the run's door, and is counted where it was asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from genkit_eval import GenkitEval, Reply, Usage
from genkit_eval.testing import OpenAIServer, ScriptedModel
from genkit_eval_metrics import genkit_metrics
from genkit_eval_openai import openai_models

CLEAN = '{"reason": "nothing harmful", "verdict": false}'


@pytest.mark.anyio
async def test_the_cost_of_a_judge_stands_on_its_metric(tmp_path: Path) -> None:
    usage = Usage(input_tokens=11, output_tokens=4)
    judge = ScriptedModel(Reply(text=CLEAN, finish_reason="stop", usage=usage), name="house/judge")
    ge = GenkitEval(plugins=[genkit_metrics(judge=judge)], root=tmp_path)

    run = await ge.evaluate([{"input": "q", "output": "a"}], target=None, evaluators=["genkitEval/maliciousness"])

    (spent,) = run.results[0].metrics[0].usage
    assert (spent.model, spent.model_calls, spent.input_tokens, spent.output_tokens) == ("house/judge", 1, 11, 4)


@pytest.mark.anyio
async def test_a_judge_that_does_not_say_what_it_cost_leaves_the_tokens_open(tmp_path: Path) -> None:
    judge = ScriptedModel(CLEAN, name="house/judge")
    ge = GenkitEval(plugins=[genkit_metrics(judge=judge)], root=tmp_path)

    run = await ge.evaluate([{"input": "q", "output": "a"}], target=None, evaluators=["genkitEval/maliciousness"])

    (spent,) = run.results[0].metrics[0].usage
    assert (spent.model_calls, spent.input_tokens) == (1, None)


@pytest.mark.anyio
async def test_a_model_can_be_asked_by_its_name(tmp_path: Path) -> None:
    with OpenAIServer("Lyon") as server:
        ge = GenkitEval(plugins=[openai_models(base_url=server.url)], root=tmp_path)

        reply = await ge.generate("openai/test-model", "Where?")

    assert reply.text == "Lyon"
    assert server.bodies()[0]["messages"] == [{"role": "user", "content": "Where?"}]


@pytest.mark.anyio
async def test_embeddings_are_counted_by_their_model(tmp_path: Path) -> None:
    with OpenAIServer() as server:
        plugins = [openai_models(base_url=server.url), genkit_metrics(embedder="openai/small")]
        ge = GenkitEval(plugins=plugins, root=tmp_path)
        samples = [{"input": "q", "output": "a", "reference": "b"}]

        run = await ge.evaluate(samples, target=None, evaluators=["genkitEval/answer_similarity"])

    (spent,) = run.results[0].metrics[0].usage
    assert (spent.model, spent.model_calls, spent.input_tokens) == ("openai/small", 1, 7)
