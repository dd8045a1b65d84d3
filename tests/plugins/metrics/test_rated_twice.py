"""`genkitEval/context_relevance` and `genkitEval/response_groundedness`: two ratings out of 0, 1 and 2."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genkit_eval import EvalMetric, Message, Outcome, Status
from genkit_eval.testing import ScriptedModel
from genkit_eval_metrics.formulas import mean_rating

Judged = Callable[..., EvalMetric]

METRICS = ["context_relevance", "response_groundedness"]
POINT = {"input": "the question", "output": "the answer", "context": ["the context"]}


def ratings(first: int, second: int) -> ScriptedModel:
    def rate(messages: Sequence[Message]) -> str:
        # the second prompt shows the context first
        text = messages[-1].content
        rating = second if text.startswith("Context:") else first
        return json.dumps({"reason": f"rated {rating}", "rating": rating})

    return ScriptedModel(rate)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(("first", "second", "score"), [(2, 2, 1.0), (2, 1, 0.75), (0, 1, 0.25), (0, 0, 0.0)])
def test_the_score_is_the_sum_of_the_ratings_by_four(
    judged: Judged, metric: str, first: int, second: int, score: float
) -> None:
    found = judged(metric, ratings(first, second), options={"threshold": 0.75}, **POINT)

    assert (found.score, found.status) == (score, Status.PASS if score >= 0.75 else Status.FAIL)
    assert found.details == {"ratings": [first, second]}
    assert found.rationale == f"{first} of 2: rated {first}; {second} of 2: rated {second}"


@pytest.mark.parametrize("metric", METRICS)
def test_a_rating_off_the_scale_is_an_error(judged: Judged, metric: str) -> None:
    found = judged(metric, ratings(3, 3), **POINT)

    assert (found.ended, found.score) == (Outcome.FAILED, None)


@pytest.mark.parametrize(
    ("metric", "shown", "hidden"),
    [("context_relevance", "question", "answer"), ("response_groundedness", "answer", "question")],
)
def test_each_judge_sees_what_it_is_to_judge(judged: Judged, metric: str, shown: str, hidden: str) -> None:
    judge = ratings(1, 1)

    judged(metric, judge, **POINT)

    for call in judge.calls:
        assert f"\nthe {shown}\n" in call.text
        assert "\nthe context\n" in call.text
        assert f"\nthe {hidden}\n" not in call.text


@pytest.mark.parametrize("metric", METRICS)
def test_without_a_context_there_is_nothing_to_judge(judged: Judged, metric: str) -> None:
    judge = ratings(2, 2)

    found = judged(metric, judge, input="q", output="a", context=[" "])

    assert (found.ended, found.rationale, judge.calls) == (Outcome.INCONCLUSIVE, "context is empty", [])


@given(st.sampled_from([0, 1, 2]), st.sampled_from([0, 1, 2]))
def test_the_order_of_the_ratings_does_not_matter(first: int, second: int) -> None:
    assert mean_rating(first, second) == mean_rating(second, first)
    assert 0 <= mean_rating(first, second) <= 1
