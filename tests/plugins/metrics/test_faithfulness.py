"""`genkitEval/faithfulness`: supported statements / statements sent."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genkit_eval import DataPoint, EvalMetric, GenkitEval, Message, ModelError, Outcome, Status, run_sync
from genkit_eval.testing import ScriptedModel
from genkit_eval_metrics import genkit_metrics

Judged = Callable[..., EvalMetric]

POINT = {"input": "When does it open?", "output": "At nine, and it is free.", "context": ["The kiosk opens at nine."]}


def stated(*statements: str) -> str:
    return json.dumps({"statements": statements})


def verdicts(*found: bool) -> str:
    return json.dumps(
        {
            "verdicts": [
                {"number": number, "reason": f"reason {number}", "verdict": verdict}
                for number, verdict in enumerate(found, 1)
            ]
        }
    )


def judge_of(found: Sequence[bool]) -> ScriptedModel:
    """A judge that states one thing for each verdict; groups are answered by the numbers that they hold."""
    left = list(found)

    def answer(messages: Sequence[Message]) -> str:
        if "take an answer apart" in messages[0].content:
            return stated(*(f"fact {number}" for number in range(len(found))))
        asked = messages[-1].content.count(". fact ")
        group, left[:] = left[:asked], left[asked:]
        return verdicts(*group)

    return ScriptedModel(answer)


@pytest.mark.parametrize(
    ("found", "score", "status"),
    [
        ([True, True, True, False], 0.75, Status.PASS),
        pytest.param([True, False], 0.5, Status.FAIL, marks=pytest.mark.case("judge-metric/boundary-half")),
        ([False], 0.0, Status.FAIL),
        ([True], 1.0, Status.PASS),
    ],
)
def test_the_score_is_the_share_of_supported_statements(
    judged: Judged, found: list[bool], score: float, status: Status
) -> None:
    metric = judged("faithfulness", judge_of(found), **POINT)

    assert (metric.score, metric.status, metric.ended) == (score, status, Outcome.VERDICT)


def test_each_statement_is_a_finding_with_verdict_and_reason(judged: Judged) -> None:
    judge = ScriptedModel([stated("It opens at nine.", "It is free."), verdicts(True, False)])

    metric = judged("faithfulness", judge, **POINT)

    assert [(finding.text, finding.passed, finding.reason) for finding in metric.findings] == [
        ("It opens at nine.", True, "reason 1"),
        ("It is free.", False, "reason 2"),
    ]
    assert metric.rationale == "1 of 2 statements borne out by the context; not: It is free. reason 2"


@pytest.mark.case("judge-metric/fewer-verdicts-than-claims")
def test_a_statement_without_a_verdict_is_asked_for_again_and_then_an_error(judged: Judged) -> None:
    judge = ScriptedModel([stated("A is red", "B is blue", "C is tall", "D is old"), verdicts(True), verdicts(True)])

    metric = judged("faithfulness", judge, **POINT)

    assert (metric.ended, metric.score) == (Outcome.FAILED, None)
    assert "no verdict for 2 of 4 statements" in str(metric.error)


def test_a_missing_verdict_that_comes_when_asked_again_counts(judged: Judged) -> None:
    judge = ScriptedModel([stated("A is red", "B is blue"), verdicts(True), verdicts(False)])

    metric = judged("faithfulness", judge, **POINT)

    assert metric.score == 0.5


@pytest.mark.case("judge-metric/zero-claims")
def test_an_answer_that_states_nothing_is_inconclusive_after_one_call(judged: Judged) -> None:
    judge = ScriptedModel([stated()])

    metric = judged("faithfulness", judge, input="q", output="Sorry, I do not know.", context=["c"])

    assert (metric.ended, metric.score, metric.status) == (Outcome.INCONCLUSIVE, None, Status.UNKNOWN)
    assert metric.rationale == "the answer states nothing that could be checked"
    assert len(judge.calls) == 1


@pytest.mark.case("judge-metric/context-missing")
@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, "no context was given"),
        ({"context": []}, "context is empty"),
        ({"context": ["", {"text": "  "}]}, "context is empty"),
    ],
)
def test_without_a_context_the_judge_is_not_asked(judged: Judged, fields: dict[str, object], reason: str) -> None:
    judge = ScriptedModel("")

    metric = judged("faithfulness", judge, input="q", output="a", **fields)

    assert (metric.ended, metric.rationale, judge.calls) == (Outcome.INCONCLUSIVE, reason, [])


@pytest.mark.case("judge-metric/empty-output-no-judge-call")
def test_without_an_answer_the_judge_is_not_asked(judged: Judged) -> None:
    judge = ScriptedModel("")

    metric = judged("faithfulness", judge, input="q", output="", context=["c"])

    assert (metric.ended, metric.rationale, judge.calls) == (Outcome.INCONCLUSIVE, "output is empty", [])


@pytest.mark.case("judge-metric/answer-and-context-keys")
def test_an_object_with_answer_and_context_is_read_by_its_keys(judged: Judged) -> None:
    judge = ScriptedModel([stated("It opens at nine."), verdicts(True)])

    metric = judged(
        "faithfulness",
        judge,
        input={"question": "When?"},
        output={"answer": "Opens at nine.", "context": ["The kiosk opens at nine."]},
    )

    assert metric.status is Status.PASS
    assert "\nOpens at nine.\n" in judge.calls[0].text
    assert "\nWhen?\n" in judge.calls[0].text
    assert "\nThe kiosk opens at nine.\n" in judge.calls[1].text


@pytest.mark.case("judge-metric/dataset-context-used")
def test_the_context_of_the_sample_reaches_the_judge(tmp_path: object) -> None:
    judge = ScriptedModel([stated("A co-operative runs it."), verdicts(True)])
    ge = GenkitEval(plugins=[genkit_metrics(judge=judge, metrics=["faithfulness"])], root=str(tmp_path))
    ge.define_flow("run_by", lambda question: "A co-operative.")
    samples = [
        {"testCaseId": "c1", "input": "Who runs it?", "context": ["The depot is run by a co-operative."]},
    ]

    run = run_sync(ge.evaluate(samples, target="/flow/run_by", evaluators=["genkitEval/faithfulness"]))

    assert run.results[0].metrics[0].status is Status.PASS
    assert "The depot is run by a co-operative." in judge.calls[1].text


@pytest.mark.case("judge-reply/refusal-text")
def test_a_refusal_is_no_verdict_on_the_answer(judged: Judged) -> None:
    metric = judged("faithfulness", ScriptedModel("I'm sorry, but I can't assess this content."), **POINT)

    assert (metric.ended, metric.score, metric.status) == (Outcome.FAILED, None, Status.UNKNOWN)
    assert "I'm sorry" in str(metric.error)


def test_a_context_longer_than_the_judge_can_read_is_split_and_that_is_said(judged: Judged) -> None:
    def answer(messages: Sequence[Message]) -> str | Exception:
        if "take an answer apart" in messages[0].content:
            return stated("It opens at nine.")
        if "first document" in messages[-1].content and "second document" in messages[-1].content:
            return ModelError("too long", kind="window")
        return verdicts("second document" in messages[-1].content)

    metric = judged(
        "faithfulness", ScriptedModel(answer), input="q", output="a", context=["first document", "second document"]
    )

    assert metric.score == 1.0
    assert metric.details == {"contextParts": 2}
    assert "read in 2 parts" in str(metric.rationale)


@given(st.lists(st.booleans(), min_size=1, max_size=12), st.integers(1, 5))
def test_every_pattern_of_verdicts_gives_supported_by_sent(found: list[bool], group_size: int) -> None:
    ge = GenkitEval(plugins=[genkit_metrics(judge=judge_of(found), metrics=["faithfulness"])])

    (metric,) = run_sync(ge.score(DataPoint(**POINT), ge.ref("genkitEval/faithfulness", group_size=group_size)))

    assert metric.score == sum(found) / len(found)
    assert [finding.passed for finding in metric.findings] == found
