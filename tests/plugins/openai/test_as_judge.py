"""Judged metrics over HTTP: what a server does to one call is what its cell says, and the run goes on."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from genkit_eval import EvalRun, GenkitEval, Limits, Outcome, Status, run_sync
from genkit_eval.testing import Answer, Call, OpenAIServer, chat_answer, error_answer
from genkit_eval.testing.server import Script
from genkit_eval_metrics import genkit_metrics
from genkit_eval_openai import openai_models

SAMPLES = [
    {"testCaseId": f"s{number}", "input": "q", "output": f"answer {number}", "context": ["It is blue."]}
    for number in (1, 2, 3)
]


def judge(call: Call) -> str:
    """States one thing of every answer, and finds it borne out."""
    if "statements" in str(wanted(call)["properties"]):
        return json.dumps({"statements": ["It is blue."]})
    return json.dumps({"verdicts": [{"number": 1, "reason": "it says so", "verdict": True}]})


def wanted(call: Call) -> Any:
    """The schema that a call asks for."""
    body: Any = call.body
    return body["response_format"]["json_schema"]["schema"]


@pytest.fixture
def faithfulness(tmp_path: Path) -> Callable[..., EvalRun]:
    """A run of faithfulness over the three samples, one at a time."""

    def run(server: OpenAIServer, **options: Any) -> EvalRun:
        models = openai_models(base_url=server.url, **options)
        metrics = genkit_metrics(judge="openai/gpt-x", judge_config={"temperature": 0}, metrics=["faithfulness"])
        # calls are counted: the same statement is asked about for each sample
        ge = GenkitEval(plugins=[models, metrics], root=tmp_path, cache="off")
        # each call is sent once: how it is sent again is tested elsewhere
        limits = Limits(max_concurrency=1, retries=0)
        return run_sync(ge.evaluate(SAMPLES, target=None, evaluators=["genkitEval/faithfulness"], limits=limits))

    return run


def test_a_metric_is_judged_in_two_calls_a_sample(faithfulness: Callable[..., EvalRun]) -> None:
    with OpenAIServer(judge) as server:
        run = faithfulness(server)

    assert [(metric.status, metric.score) for result in run.results for metric in result.metrics] == [
        (Status.PASS, 1.0)
    ] * 3
    assert len(server.calls) == 6
    assert {body["temperature"] for body in server.bodies()} == {0}


def test_who_is_told_to_wait_for_a_day_does_not(faithfulness: Callable[..., EvalRun]) -> None:
    def script(call: Call) -> str | Answer:
        day = error_answer(429, "slow down", headers={"Retry-After": "86400"})
        return day if "answer 2" in call.text() else judge(call)

    with OpenAIServer(script) as server:
        run = faithfulness(server)

    second = run.results[1].metrics[0]
    assert (second.outcome, second.status, second.score) == (Outcome.FAILED, Status.UNKNOWN, None)
    assert "asks to wait 86400 s" in str(second.error)
    assert len([call for call in server.calls if "answer 2" in call.text()]) == 1


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (error_answer(400, "filtered", code="content_filter"), "content filter"),
        (chat_answer('{"statements": ["It is blue"', finish_reason="length"), "limit of tokens"),
        (chat_answer(None, refusal="I cannot help with that."), "refused: 'I cannot help with that.'"),
        (Answer(body={"id": "x", "choices": []}), "without any choice"),
        (Answer(body={"error": {"message": "upstream", "code": 502}}), "HTTP 502"),
        (replace(chat_answer("much of it"), cut=30), "hung up"),
    ],
)
def test_a_fault_of_one_call_fails_its_cell_and_no_other(
    answer: Answer, said: str, faithfulness: Callable[..., EvalRun]
) -> None:
    def script(call: Call) -> str | Answer:
        return answer if "answer 2" in call.text() else judge(call)

    with OpenAIServer(script) as server:
        run = faithfulness(server)

    first, second, third = [result.metrics[0] for result in run.results]
    assert (first.status, third.status) == (Status.PASS, Status.PASS)
    assert (second.outcome, second.status, second.score) == (Outcome.FAILED, Status.UNKNOWN, None)
    assert str(second.error).startswith("LLM judge error: ")
    assert said in str(second.error)
    assert len([call for call in server.calls if "answer 2" in call.text()]) == 1


@pytest.mark.parametrize(
    "script",
    [
        # marks around the reply, usage left out, a form that is not kept at first
        lambda call: chat_answer(f"<think>Hm.</think>\n```json\n{judge(call)}\n```", usage=None),
        lambda call: chat_answer(judge(call), usage={"prompt_tokens": "many"}, finish_reason=None, extra=[1]),
    ],
)
def test_what_is_odd_about_a_server_changes_no_score(script: Script, faithfulness: Callable[..., EvalRun]) -> None:
    with OpenAIServer(script) as server:
        run = faithfulness(server)

    assert [result.metrics[0].score for result in run.results] == [1.0, 1.0, 1.0]


def test_a_server_that_ignores_the_form_gets_one_more_try(faithfulness: Callable[..., EvalRun]) -> None:
    def script(call: Call) -> str:
        return judge(call) if "JSON Schema" in call.text() else "The statements are: it is blue."

    with OpenAIServer(script) as server:
        run = faithfulness(server)

    assert [result.metrics[0].score for result in run.results] == [1.0, 1.0, 1.0]
    assert len(server.calls) == 7


@pytest.mark.case("api-fault/temperature-unsupported")
def test_a_refused_temperature_costs_one_call_a_run_and_each_score_says_so(
    faithfulness: Callable[..., EvalRun],
) -> None:
    with OpenAIServer(judge, refuses={"temperature"}) as server:
        run = faithfulness(server)

    metrics = [result.metrics[0] for result in run.results]
    assert [metric.score for metric in metrics] == [1.0, 1.0, 1.0]
    assert [metric.details for metric in metrics] == [{"notApplied": ["temperature"]}] * 3
    assert len(server.calls) == 7


@pytest.mark.case("api-fault/empty-api-key-local")
def test_no_key_is_needed_for_a_server_that_wants_none(faithfulness: Callable[..., EvalRun]) -> None:
    with OpenAIServer(judge) as server:
        run = faithfulness(server, api_key="")

    assert [result.metrics[0].score for result in run.results] == [1.0, 1.0, 1.0]


def test_answer_relevancy_takes_its_vectors_from_the_same_server(tmp_path: Path) -> None:
    def relevant(call: Call) -> str:
        properties = wanted(call)["properties"]
        return json.dumps({name: filled(name, schema) for name, schema in properties.items()})

    with OpenAIServer(relevant) as server:
        models = openai_models(base_url=server.url)
        metrics = genkit_metrics(judge="openai/gpt-x", embedder="openai/embed-x", metrics=["answer_relevancy"])
        # calls are counted: the same statement is asked about for each sample
        ge = GenkitEval(plugins=[models, metrics], root=tmp_path, cache="off")
        run = run_sync(ge.evaluate(SAMPLES[:1], target=None, evaluators=["genkitEval/answer_relevancy"]))

    [metric] = run.results[0].metrics
    assert metric.outcome is Outcome.VERDICT, metric.error
    assert server.bodies("embeddings")[0]["model"] == "embed-x"


def filled(name: str, schema: Any) -> Any:
    """A value of that kind; the question is the sample's own."""
    if schema.get("type") == "boolean":
        return name != "noncommittal"
    return [] if schema.get("type") == "array" else "q"
