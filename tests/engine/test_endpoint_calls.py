"""Calls of an endpoint in a run: in their turn, and sent again where what went wrong may pass."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from genkit_eval import EvalRun, GenkitEval, HttpTarget, Limits, run_sync
from genkit_eval.engine.asking.model_limits import ModelLimits
from tests.engine.endpoints import Answer, Asked, Endpoint

pytestmark = pytest.mark.usefixtures("no_proxy")


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("genkit_eval.engine.asking.retry.FIRST_PAUSE", 0.01)


def evaluated(ge: GenkitEval, target: Any, *, count: int = 1, **limits: Any) -> EvalRun:
    samples = [{"input": n} for n in range(count)]
    return run_sync(ge.evaluate(samples, target=target, evaluators=[], limits=Limits(**limits)))


def in_turn(*answers: Answer) -> Callable[[Asked], Answer]:
    left = list(answers)
    return lambda asked: left.pop(0) if len(left) > 1 else left[0]


@pytest.mark.case("api-fault/transient-mix")
@pytest.mark.parametrize(
    "faults",
    [
        [Answer(status=500), Answer(reset=True)],
        [Answer(status=503), Answer(json="half", cut=True)],
        [Answer(status=429, headers={"Retry-After": "0"})],
        [Answer(status=408)],
    ],
    ids=["500-reset", "503-cut", "429", "408"],
)
def test_what_may_pass_is_sent_again(ge: GenkitEval, faults: list[Answer]) -> None:
    with Endpoint(in_turn(*faults, Answer(json="whole"))) as endpoint:
        run = evaluated(ge, endpoint.url)

    assert run.results[0].output == "whole"
    assert len(endpoint.asked) == len(faults) + 1
    assert [asked.json for asked in endpoint.asked] == [0] * len(endpoint.asked)


@pytest.mark.parametrize("status", [400, 403, 404, 422, 501])
def test_what_will_not_pass_is_sent_once(ge: GenkitEval, status: int) -> None:
    with Endpoint(in_turn(Answer(status=status))) as endpoint:
        run = evaluated(ge, endpoint.url)

    assert f"answered HTTP {status}" in str(run.results[0].error)
    assert len(endpoint.asked) == 1


def test_an_answer_that_is_no_good_is_not_asked_for_again(ge: GenkitEval) -> None:
    with Endpoint(in_turn(Answer(body=b"{", content_type="application/json"))) as endpoint:
        run = evaluated(ge, HttpTarget(endpoint.url, response="nothing"))

    assert "answered what is no JSON" in str(run.results[0].error)
    assert len(endpoint.asked) == 1


def test_what_was_tried_stands_in_the_error(ge: GenkitEval) -> None:
    with Endpoint(in_turn(Answer(status=503), Answer(reset=True), Answer(status=500))) as endpoint:
        run = evaluated(ge, endpoint.url, retries=2)

    assert "answered HTTP 500" in str(run.results[0].error)
    assert "tried 3 times in" in str(run.results[0].error)
    assert len(endpoint.asked) == 3


@pytest.mark.case("api-fault/auth-401-fast")
def test_a_secret_that_is_refused_costs_a_handful_of_calls(ge: GenkitEval) -> None:
    with Endpoint(in_turn(Answer(status=401))) as endpoint:
        run = evaluated(ge, endpoint.url, count=100)

    assert len(endpoint.asked) <= 8
    assert all("HTTP 401" in str(result.error) for result in run.results)


def test_an_endpoint_has_limits_by_its_address(ge: GenkitEval) -> None:
    lock, inside, most = threading.Lock(), [0], [0]

    def answer(asked: Asked) -> Answer:
        with lock:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
        threading.Event().wait(0.02)
        with lock:
            inside[0] -= 1
        return Answer(json=asked.json)

    with Endpoint(answer) as endpoint:
        models = {endpoint.url: ModelLimits(concurrency=2, most_concurrency=2)}
        run = evaluated(ge, f"{endpoint.url}?lang=en", count=12, models=models)

    assert [result.output for result in run.results] == list(range(12))
    assert most[0] <= 2


def test_waiting_for_its_turn_counts_neither_as_latency_nor_for_the_deadline(ge: GenkitEval) -> None:
    def answer(asked: Asked) -> Answer:
        threading.Event().wait(0.1)
        return Answer(json=asked.json)

    with Endpoint(answer) as endpoint:
        models = {endpoint.url: ModelLimits(concurrency=1, most_concurrency=1)}
        run = evaluated(ge, endpoint.url, count=12, models=models, target_seconds=0.9)

    assert [result.error for result in run.results] == [None] * 12
    assert max(result.latency or 0.0 for result in run.results) < 0.9


def test_a_run_that_ends_early_calls_the_endpoint_no_more(ge: GenkitEval) -> None:
    with Endpoint(in_turn(Answer(status=400))) as endpoint:
        models = {endpoint.url: ModelLimits(concurrency=1, most_concurrency=1)}
        run = evaluated(ge, endpoint.url, count=20, models=models, max_failures=1)

    assert run.key.stopped is not None
    assert not run.complete
    # the first, and one that had its turn before that was known
    assert len(endpoint.asked) <= 2
