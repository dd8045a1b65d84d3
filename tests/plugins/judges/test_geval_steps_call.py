"""The call that makes the steps of a G-Eval: limited, retried, kept and paid for like those of the cases."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import anyio
import pytest

from genkit_eval import (
    Budget,
    ConfigError,
    GenkitEval,
    JudgeError,
    Limits,
    Price,
    Reply,
    RunState,
    Unprepared,
    Usage,
)
from genkit_eval.testing import Answer, Call, OpenAIServer, chat_answer, error_answer
from genkit_eval_judges import GEval, judges
from genkit_eval_openai import openai_models
from tests.plugins.judges.replies import rating
from tests.plugins.judges.steps import CRITERION, FIRST, GIVEN, asks_for_steps, judging


@pytest.mark.anyio
async def test_without_leave_to_ask_steps_that_are_not_there_are_refused(tmp_path: Path) -> None:
    ge, model = judging(json.dumps(FIRST), tmp_path)

    with pytest.raises(Unprepared, match="only the cache may be asked"):
        await ge.with_cache("only").evaluate([GIVEN], target=None, evaluators=["geval/coherence"])

    assert model.calls == []


@pytest.mark.anyio
async def test_steps_that_are_gone_are_those_of_the_cache(tmp_path: Path) -> None:
    """So it is where a cache is carried from machine to machine, and the runs are not."""
    with OpenAIServer(lambda call: chat_answer(json.dumps(FIRST) if asks_for_steps(call) else rating(4))) as server:
        models, own = openai_models(base_url=server.url), GEval(name="coherence", criterion=CRITERION)
        ge = GenkitEval(plugins=[models, judges(judge="openai/m", own=[own])], root=tmp_path / "one")
        run = await ge.evaluate([GIVEN], target=None, evaluators=["geval/coherence"])
        other = ge.at(tmp_path / "other").with_cache("only")
        again = await other.evaluate([GIVEN], target=None, evaluators=["geval/coherence"])
        asked = len(server.calls)

    assert asked == 2
    assert again.results[0].metrics[0].version == run.results[0].metrics[0].version
    (spent,) = again.key.usage
    assert (spent.model_calls, spent.cached_calls) == (0, 2)


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["geval/coherence", "geval_coherence"])
async def test_the_call_that_makes_the_steps_is_part_of_what_the_run_costs(tmp_path: Path, name: str) -> None:
    usage = Usage(input_tokens=100, output_tokens=10)
    replies = [Reply(text=text, usage=usage) for text in (json.dumps(FIRST), *[rating(4)] * 4)]
    ge, model = judging(replies, tmp_path)
    priced = ge.with_prices({model.name: Price(input=1, output=2)})

    run = await priced.evaluate([GIVEN, {**GIVEN, "testCaseId": "b"}], target=None, evaluators=[name])
    again = await priced.rescore(run)

    (spent,), (later,) = run.key.usage, again.key.usage
    # three calls of 100 x 1 + 10 x 2 dollars a million tokens; the steps are there when it is judged once more
    assert (spent.used_by, spent.model_calls, spent.cost_usd) == (f"/evaluator/{name}", 3, pytest.approx(360e-6))
    assert run.key.unbilled is None
    assert (later.model_calls, later.cost_usd) == (2, pytest.approx(240e-6))


@pytest.mark.anyio
async def test_the_call_that_makes_the_steps_counts_in_the_budget(tmp_path: Path) -> None:
    ge, model = judging([json.dumps(FIRST), rating(4)], tmp_path)

    run = await ge.evaluate([GIVEN], target=None, evaluators=["geval/coherence"], budget=Budget(calls=1))
    resumed = await ge.evaluate([GIVEN], resume=run.key.eval_run_id)

    assert (run.key.state, len(model.calls)) == (RunState.INCOMPLETE, 2)
    assert run.key.stopped is not None
    assert "1 of 1 calls" in run.key.stopped.reason
    (spent,) = resumed.key.usage
    assert (resumed.key.state, spent.model_calls) == (RunState.COMPLETE, 2)


@pytest.mark.anyio
@pytest.mark.parametrize("is_async", [False, True])
async def test_no_case_begins_once_the_steps_have_taken_the_budget(tmp_path: Path, is_async: bool) -> None:
    ge, model = judging([json.dumps(FIRST), rating(4), rating(4)], tmp_path)
    called: list[str] = []

    def flow(text: str) -> str:
        called.append(text)
        return text

    async def waiting(text: str) -> str:
        return flow(text)

    ge.define_flow("f", waiting if is_async else flow)
    samples = [{"input": "It rained."}, {"input": "It did not."}]
    run = await ge.evaluate(samples, target="f", evaluators=["geval/coherence"], budget=Budget(calls=1))
    begun = list(called)
    resumed = await ge.evaluate(samples, resume=run.id)

    assert (run.key.state, begun) == (RunState.INCOMPLETE, [])
    assert (resumed.key.state, len(called), len(model.calls)) == (RunState.COMPLETE, 2, 3)


@pytest.mark.anyio
@pytest.mark.parametrize("most", [1, 2, 3, 4])
async def test_however_often_a_budget_ends_nothing_is_paid_twice(tmp_path: Path, most: int) -> None:
    ge, model = judging([json.dumps(FIRST), *[rating(4)] * 5], tmp_path)
    called: list[str] = []

    async def flow(text: str) -> str:
        called.append(text)
        return text

    ge.define_flow("f", flow)
    samples = [{"input": f"It rained on day {number}."} for number in range(5)]
    terms: dict[str, Any] = {"budget": Budget(calls=most), "limits": Limits(max_concurrency=2)}
    run = await ge.evaluate(samples, target="f", evaluators=["geval/coherence"], **terms)
    sessions = 1
    while run.key.state is RunState.INCOMPLETE:
        run, sessions = await ge.evaluate(samples, resume=run.id, **terms), sessions + 1

    (spent,) = run.key.usage
    assert (sessions, len(called), len(model.calls), spent.model_calls) == (math.ceil(6 / most), 5, 6, 6)
    assert run.summary()[0].passed == 5


@pytest.mark.anyio
async def test_a_budget_that_ends_before_the_steps_are_made_is_told(tmp_path: Path) -> None:
    # the first reply is of no use, and the question cannot be put once more
    ge, model = judging('{"steps": []}', tmp_path)

    with pytest.raises(JudgeError, match="the budget is spent: 1 of 1 calls") as refused:
        await ge.evaluate([GIVEN], target=None, evaluators=["geval/coherence"], budget=Budget(calls=1))

    assert "geval/coherence" in str(refused.value)
    assert len(model.calls) == 1
    assert ge.runs.list() == []
    assert not (tmp_path / "prepared").exists()


@pytest.mark.anyio
async def test_the_end_of_a_budgets_time_is_not_waited_through(tmp_path: Path) -> None:
    own = GEval(name="coherence", criterion=CRITERION)
    with OpenAIServer(lambda _: error_answer(429, "slow down", headers={"retry-after": "100"})) as server:
        ge = GenkitEval(
            plugins=[openai_models(base_url=server.url), judges(judge="openai/m", own=[own])], root=tmp_path
        )
        with anyio.fail_after(50), pytest.raises(JudgeError, match=r"the budget is spent: .* of 0\.2 seconds"):
            await ge.evaluate([GIVEN], target=None, evaluators=["geval/coherence"], budget=Budget(seconds=0.2))

    assert len(server.calls) == 1


@pytest.mark.anyio
async def test_a_budget_of_dollars_that_no_price_lets_one_keep_is_refused_before_the_steps(tmp_path: Path) -> None:
    ge, model = judging(json.dumps(FIRST), tmp_path)

    with pytest.raises(ConfigError, match="is not known"):
        await ge.evaluate([GIVEN], target=None, evaluators=["geval/coherence"], budget=Budget(usd=1))

    assert model.calls == []


@pytest.mark.anyio
async def test_the_call_that_makes_the_steps_is_retried_like_any_other(tmp_path: Path) -> None:
    busy = [error_answer(429, "slow down", headers={"retry-after": "0"})]

    def answer(call: Call) -> Answer:
        if busy:
            return busy.pop()
        return chat_answer(json.dumps(FIRST) if asks_for_steps(call) else rating(4))

    own = GEval(name="coherence", criterion=CRITERION)
    with OpenAIServer(answer) as server:
        models = openai_models(base_url=server.url)
        ge = GenkitEval(plugins=[models, judges(judge="openai/m", own=[own])], root=tmp_path)
        run = await ge.evaluate([GIVEN], target=None, evaluators=["geval/coherence"])

    (spent,) = run.key.usage
    assert run.results[0].metrics[0].score == 0.75
    assert (spent.model_calls, spent.retries) == (2, 1)


@pytest.mark.anyio
async def test_steps_that_take_too_long_are_told_of_by_name(tmp_path: Path) -> None:
    class Silent:
        name = "silent"

        async def generate(self, messages: object, **how: object) -> Reply:
            await anyio.sleep_forever()
            raise AssertionError

    own = GEval(name="coherence", criterion=CRITERION)
    ge = GenkitEval(plugins=[judges(judge=Silent(), own=[own])], root=tmp_path)

    with pytest.raises(JudgeError, match=r"geval/coherence.*no answer within 0\.05 s"):
        await ge.evaluate([GIVEN], target=None, evaluators=["geval/coherence"], limits=Limits(evaluator_seconds=0.05))
