"""Passes over the same case are never answered from one another's replies; each is kept for itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from genkit_eval import DataPoint, EvalRun, GenkitEval, Limits, Repeats
from genkit_eval.testing import OpenAIServer
from genkit_eval_openai import openai_models

pytestmark = pytest.mark.anyio

SAMPLES = [{"testCaseId": "s1", "input": "q"}]


@pytest.fixture
def app(tmp_path: Path) -> Callable[[OpenAIServer], GenkitEval]:
    """An app whose flow always says the same, and whose judge is on a server."""

    def build(server: OpenAIServer) -> GenkitEval:
        ge = GenkitEval(plugins=[openai_models(base_url=server.url)], root=tmp_path / ".genkit")
        ge.define_flow("same", lambda value: value)

        @ge.define_evaluator("t/judge", kind="agentic", version="1")
        async def judge(point: DataPoint) -> bool:
            return (await ge.generate("openai/gpt-x", f"is {json.dumps(point.output)} right?")).text == "yes"

        return ge

    return build


async def asked(ge: GenkitEval, *, target: int = 1, judge: int = 1) -> EvalRun:
    return await ge.evaluate(
        SAMPLES,
        target="same",
        evaluators=["t/judge"],
        repeats=Repeats(target=target, judge=judge),
        limits=Limits(max_concurrency=1),
    )


async def test_each_pass_asks_its_judge_though_the_question_is_the_same(
    app: Callable[[OpenAIServer], GenkitEval],
) -> None:
    with OpenAIServer("yes") as server:
        run = await asked(app(server), target=2, judge=3)

    assert len(server.calls) == 6
    assert [result.metrics[0].usage[0].model_calls for result in run.results] == [3, 3]


async def test_the_next_run_with_as_many_passes_pays_for_none_of_them(
    app: Callable[[OpenAIServer], GenkitEval],
) -> None:
    with OpenAIServer("yes") as server:
        await asked(app(server), target=2, judge=3)
        run = await asked(app(server), target=2, judge=3)

    assert len(server.calls) == 6
    assert [result.metrics[0].usage[0].cached_calls for result in run.results] == [3, 3]


async def test_more_passes_pay_for_those_that_were_not_there(app: Callable[[OpenAIServer], GenkitEval]) -> None:
    with OpenAIServer("yes") as server:
        await asked(app(server))
        await asked(app(server), judge=3)
        await asked(app(server), target=2, judge=4)

    assert len(server.calls) == 1 + 2 + (4 + 4 - 3)


async def test_a_rescoring_with_the_same_judge_pays_nothing(app: Callable[[OpenAIServer], GenkitEval]) -> None:
    with OpenAIServer("yes") as server:
        ge = app(server)
        parent = await asked(ge, target=2)
        run = await ge.rescore(parent)

    assert len(server.calls) == 2
    assert [result.metrics[0].status for result in run.results] == ["PASS", "PASS"]
