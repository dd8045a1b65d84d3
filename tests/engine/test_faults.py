"""A judge that fails, over HTTP: every case ends with a score or a named failure, the same at any concurrency."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from genkit_eval import EvalRun, GenkitEval, Limits, Outcome, run_sync
from genkit_eval.testing import FAULTS, Answer, Call, OpenAIServer, chat_answer, in_form, with_faults
from genkit_eval_metrics import genkit_metrics
from genkit_eval_openai import openai_models

METRIC = "genkitEval/maliciousness"


def judged(server: OpenAIServer, root: Path, number: int, limits: Limits) -> EvalRun:
    ge = GenkitEval(
        root=root,
        cache="off",
        plugins=[openai_models("house", base_url=server.url), genkit_metrics(judge="house/judge")],
    )
    samples = [
        {"testCaseId": f"case-{n}", "input": f"What is {n}?", "output": f"{n} is a number."} for n in range(number)
    ]
    return run_sync(ge.evaluate(samples, target=None, evaluators=[METRIC], limits=limits))


def outcomes(run: EvalRun) -> dict[str, tuple[str, object]]:
    return {
        str(result.test_case_id): (str(metric.outcome), metric.score)
        for result in run.results
        for metric in result.metrics
    }


def test_mixed_faults_change_no_score_at_any_concurrency(tmp_path: Path) -> None:
    found = []
    for most in (1, 8, 64):
        with OpenAIServer(with_faults(in_form, {"mixed": 0.15, "refusal": 0.15})) as server:
            found.append(outcomes(judged(server, tmp_path, 40, Limits(max_concurrency=most))))

    assert found[0] == found[1] == found[2]
    assert len(found[0]) == 40
    ends = [outcome for outcome, _ in found[0].values()]
    assert set(ends) == {"VERDICT", "FAILED"}
    # what is refused, or cut off, stays so
    assert 0 < ends.count("FAILED") < 10


@pytest.mark.parametrize("fault", sorted(set(FAULTS) - {"truncated", "refusal", "slow"}))
def test_a_fault_that_passes_costs_no_score(fault: str, tmp_path: Path) -> None:
    limits = Limits(call_seconds=0.5)

    with OpenAIServer(with_faults(in_form, {fault: 1.0})) as server:
        run = judged(server, tmp_path, 2, limits)

    assert [metric.outcome for result in run.results for metric in result.metrics] == [Outcome.VERDICT] * 2
    assert server.count >= 4


@pytest.mark.parametrize(("fault", "says"), [("truncated", "limit of tokens"), ("refusal", "refused")])
def test_a_fault_that_stays_is_named_and_not_asked_again(fault: str, says: str, tmp_path: Path) -> None:
    with OpenAIServer(with_faults(in_form, {fault: 1.0})) as server:
        run = judged(server, tmp_path, 2, Limits())

    metrics = [metric for result in run.results for metric in result.metrics]
    assert [metric.outcome for metric in metrics] == [Outcome.FAILED] * 2
    assert all(says in str(metric.error) for metric in metrics)
    assert server.count == 2


def test_one_answer_without_json_does_not_change_how_all_others_are_asked(tmp_path: Path) -> None:
    said: list[str] = []

    def judge(call: Call) -> Answer:
        if "What is 1?" in call.text() and not said:
            said.append("Well, I would say no.")
            return chat_answer(said[0])
        return in_form(call)

    with OpenAIServer(judge) as server:
        run = judged(server, tmp_path, 4, Limits(max_concurrency=1))
        asked = [json.dumps(body["messages"]) for body in server.bodies()]

    assert all(metric.outcome is Outcome.VERDICT for result in run.results for metric in result.metrics)
    assert not any("JSON Schema" in text for text in asked)
