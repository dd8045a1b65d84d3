"""Runs whose judge fails now and then, or for good: what is asked again, and what the run says."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from genkit_eval import (
    DataPoint,
    EvalRun,
    GenkitEval,
    Judge,
    Limits,
    Message,
    ModelLimits,
    Outcome,
    Status,
    run_sync,
)
from genkit_eval.testing import Answer, Call, OpenAIServer, chat_answer, error_answer
from genkit_eval.types import Usage
from genkit_eval_metrics import genkit_metrics
from genkit_eval_openai import openai_models

CLEAN = json.dumps({"reason": "plain cooking tips", "verdict": False})
BUSY = error_answer(429, "slow down", headers={"retry-after-ms": "20"})
METRIC = "genkitEval/maliciousness"


def inputs(count: int) -> list[dict[str, Any]]:
    return [{"input": number, "output": f"answer {number}"} for number in range(count)]


@pytest.fixture
def ge(tmp_path: Path) -> Callable[..., GenkitEval]:
    def build(server: OpenAIServer, **options: Any) -> GenkitEval:
        plugins = [
            openai_models(base_url=server.url, **options),
            genkit_metrics(judge="openai/j", metrics=["maliciousness"]),
        ]
        return GenkitEval(plugins=plugins, root=tmp_path, cache="off")

    return build


def judged(ge: GenkitEval, samples: Sequence[dict[str, Any]], **limits: Any) -> EvalRun:
    return run_sync(ge.evaluate(samples, target=None, evaluators=[METRIC], limits=Limits(**limits)))


def usage_of(run: EvalRun) -> Usage:
    (usage,) = run.results[0].metrics[0].usage
    return usage


@pytest.mark.case("api-fault/transient-mix")
def test_a_server_error_and_a_reset_are_passed_over(ge: Callable[..., GenkitEval]) -> None:
    with OpenAIServer([error_answer(500, "oops"), Answer(reset=True), CLEAN]) as server:
        run = judged(ge(server), inputs(1), retries=2)

    (result,) = run.results
    assert result.metrics[0].status is Status.PASS
    assert len(server.calls) == 3
    assert (usage_of(run).model_calls, usage_of(run).retries) == (1, 2)


@pytest.mark.case("api-fault/error-inside-200")
def test_an_error_inside_a_good_answer_is_asked_again(ge: Callable[..., GenkitEval]) -> None:
    busy = Answer(body={"error": {"message": "rate limited upstream", "code": 429}})
    with OpenAIServer([busy, CLEAN]) as server:
        run = judged(ge(server), inputs(1))

    assert run.results[0].metrics[0].status is Status.PASS
    assert len(server.calls) == 2


@pytest.mark.case("api-fault/insufficient-quota")
def test_a_spent_quota_is_asked_once_and_said_of_every_case(ge: Callable[..., GenkitEval]) -> None:
    spent = error_answer(429, "quota used up", code="insufficient_quota", kind="insufficient_quota")
    with OpenAIServer(spent) as server:
        run = judged(ge(server), inputs(50))

    errors = [result.metrics[0].error for result in run.results]
    assert {result.metrics[0].outcome for result in run.results} == {Outcome.FAILED}
    assert all("insufficient_quota" in str(error) and "billing" in str(error) for error in errors)
    assert len(server.calls) <= 4


@pytest.mark.case("api-fault/auth-401-fast")
def test_a_wrong_key_costs_a_handful_of_requests(ge: Callable[..., GenkitEval]) -> None:
    with OpenAIServer(CLEAN, key="right") as server:
        run = judged(ge(server, api_key="sk-wrong-key-of-mine"), inputs(200))

    errors = {str(result.metrics[0].error) for result in run.results}
    assert all("check the key" in error for error in errors)
    assert not any("sk-wrong" in error for error in errors)
    assert len(server.calls) <= 4


@pytest.mark.parametrize("status", [401, 403])
def test_who_is_not_let_in_asks_a_handful_of_times(status: int, ge: Callable[..., GenkitEval]) -> None:
    with OpenAIServer(error_answer(status, "not you"), latency_seconds=0.02) as server:
        run = judged(ge(server), inputs(200))

    assert {result.metrics[0].outcome for result in run.results} == {Outcome.FAILED}
    assert len(server.calls) <= 6


def test_one_case_that_is_forbidden_fails_alone(ge: Callable[..., GenkitEval]) -> None:
    def script(call: Call) -> Answer | str:
        return error_answer(403, "not that") if "answer 0" in call.text() else CLEAN

    with OpenAIServer(script) as server:
        run = judged(ge(server), inputs(4), max_concurrency=1)

    first, *others = (result.metrics[0].outcome for result in run.results)
    assert first is Outcome.FAILED
    assert set(others) == {Outcome.VERDICT}


@pytest.mark.case("api-fault/sync-and-async-alike")
@pytest.mark.anyio
async def test_one_refusal_is_passed_over_whoever_awaits_the_run(ge: Callable[..., GenkitEval]) -> None:
    with OpenAIServer([BUSY, *[CLEAN] * 3]) as server:
        run = await ge(server).evaluate(inputs(3), target=None, evaluators=[METRIC])

    assert [result.metrics[0].status for result in run.results] == [Status.PASS] * 3
    assert len(server.calls) == 4


@pytest.mark.case("api-fault/sync-and-async-alike")
def test_one_refusal_is_passed_over_in_a_script(ge: Callable[..., GenkitEval]) -> None:
    with OpenAIServer([BUSY, *[CLEAN] * 3]) as server:
        run = judged(ge(server), inputs(3))

    assert [result.metrics[0].status for result in run.results] == [Status.PASS] * 3
    assert len(server.calls) == 4


@pytest.mark.case("api-fault/total-time-bound")
@pytest.mark.parametrize("answer", [Answer(silent=True), chat_answer(CLEAN)], ids=["silent", "dribbles"])
def test_a_judge_that_stalls_fails_its_case_and_no_other(answer: Answer, ge: Callable[..., GenkitEval]) -> None:
    def script(call: Call) -> Answer | str:
        if "answer 1" not in call.text():
            return CLEAN
        return answer if answer.silent else Answer(body=answer.body, dribble_seconds=0.05)

    with OpenAIServer(script) as server:
        run = judged(ge(server), inputs(3), call_seconds=0.2, retries=1)

    first, second, third = (result.metrics[0] for result in run.results)
    assert (first.status, third.status) == (Status.PASS, Status.PASS)
    assert second.outcome is Outcome.FAILED
    assert "no answer within 0.2 s (call_seconds) (tried 2 times in" in str(second.error)
    assert len(server.calls) == 4


def test_what_was_tried_stands_in_the_cell(ge: Callable[..., GenkitEval]) -> None:
    with OpenAIServer([error_answer(500, "oops"), error_answer(503, "full"), error_answer(500, "oops")]) as server:
        run = judged(ge(server), inputs(1), retries=2)

    error = str(run.results[0].metrics[0].error)
    assert error.startswith("LLM judge error: ")
    assert "tried 3 times in" in error
    assert error.endswith("2 x HTTP 500, 1 x HTTP 503)")


def test_a_case_that_waits_for_its_turn_is_not_late(ge: Callable[..., GenkitEval]) -> None:
    limits = {"models": ModelLimits(requests_per_minute=300), "evaluator_seconds": 0.15}
    with OpenAIServer(CLEAN) as server:
        run = judged(ge(server), inputs(4), **limits)

    assert [result.metrics[0].status for result in run.results] == [Status.PASS] * 4


def test_one_sample_may_ask_many_things_at_one_time(ge: Callable[..., GenkitEval]) -> None:
    with OpenAIServer('{"label": "yes"}', latency_seconds=0.1) as server:
        app = ge(server)
        judge = Judge(app.registry.model("openai/j"))

        @app.define_evaluator("t/many")
        async def many(point: DataPoint) -> bool:
            async with anyio.create_task_group() as group:
                for number in range(20):
                    asked = [Message(role="user", content=f"{point.output} {number}")]
                    group.start_soon(judge.choose, asked, ["yes", "no"])
            return True

        run = run_sync(app.evaluate(inputs(1), target=None, evaluators=["t/many"]))

    assert run.results[0].metrics[0].score is True
    assert server.peak > 8


def test_target_and_judge_share_the_turns_of_one_model(ge: Callable[..., GenkitEval]) -> None:
    with OpenAIServer(CLEAN, latency_seconds=0.01) as server:
        run = run_sync(
            ge(server).evaluate(
                [{"input": f"question {number}"} for number in range(6)],
                target="/model/openai/j",
                evaluators=[METRIC],
                limits=Limits(models=ModelLimits(concurrency=1, most_concurrency=1)),
            )
        )

    assert len(server.calls) == 12
    assert server.peak == 1
    assert {result.metrics[0].status for result in run.results} == {Status.PASS}
