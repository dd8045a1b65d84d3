"""`genkitEval/answer_accuracy`: two ratings, with the roles swapped."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genkit_eval import EvalMetric, Message, Outcome, Status
from genkit_eval.testing import ScriptedModel
from genkit_eval_metrics.formulas import harmonic15, rated_accuracy

Judged = Callable[..., EvalMetric]

POINT = {"input": "Who built it?", "output": "Jon Krall, 1640", "reference": "Jon Krall, 1611"}


def ratings(first: object, swapped: object) -> ScriptedModel:
    """A judge that gives the first rating where the output stands as the answer, else the other."""

    def rate(messages: Sequence[Message]) -> str:
        text = messages[-1].content
        rating = first if text.index(POINT["output"]) < text.index(POINT["reference"]) else swapped
        return json.dumps({"reason": f"rated {rating}", "rating": rating})

    return ScriptedModel(rate)


@pytest.mark.parametrize(
    ("first", "swapped", "score", "status"),
    [
        (4, 4, 1.0, Status.PASS),
        (4, 2, 0.75, Status.PASS),
        pytest.param(4, 0, 0.5, Status.PASS, marks=pytest.mark.case("judge-metric/boundary-half")),
        pytest.param(2, 2, 0.5, Status.PASS, marks=pytest.mark.case("judge-metric/boundary-half")),
        (0, 2, 0.25, Status.FAIL),
        (0, 0, 0.0, Status.FAIL),
    ],
)
def test_the_score_is_the_sum_of_the_ratings_by_eight(
    judged: Judged, first: int, swapped: int, score: float, status: Status
) -> None:
    metric = judged("answer_accuracy", ratings(first, swapped), **POINT)

    assert (metric.score, metric.status, metric.ended) == (score, status, Outcome.VERDICT)
    assert metric.details == {"ratings": [first, swapped]}
    assert [finding.reason for finding in metric.findings] == [f"rated {first}", f"rated {swapped}"]


@pytest.mark.case("judge-metric/accuracy-perfect-pair")
@pytest.mark.parametrize(("variant", "best", "worst"), [("mean024", 4, 0), ("harmonic15", 5, 1)])
def test_the_best_rating_of_the_prompt_is_one_and_the_worst_zero(
    judged: Judged, variant: str, best: int, worst: int
) -> None:
    options = {"variant": variant}

    perfect = judged("answer_accuracy", ratings(best, best), options=options, **POINT)
    wrong = judged("answer_accuracy", ratings(worst, worst), options=options, **POINT)

    assert (perfect.score, perfect.status) == (1.0, Status.PASS)
    assert (wrong.score, wrong.status, wrong.ended) == (0.0, Status.FAIL, Outcome.VERDICT)


def test_harmonic15_is_the_harmonic_mean_of_both_ratings_from_0_to_1(judged: Judged) -> None:
    metric = judged("answer_accuracy", ratings(5, 3), options={"variant": "harmonic15"}, **POINT)

    # 2 · 1 · 0.5 / 1.5
    assert metric.score == pytest.approx(2 / 3)
    assert metric.status is Status.PASS


@pytest.mark.case("judge-reply/rating-number-40")
@pytest.mark.parametrize("rating", [40, 10, 3, -4, 100, "40", "Rating: 4 or 2"])
def test_a_rating_off_the_scale_is_asked_for_again_and_then_an_error(judged: Judged, rating: object) -> None:
    judge = ScriptedModel(json.dumps({"reason": "so", "rating": rating}))

    metric = judged("answer_accuracy", judge, **POINT)

    assert (metric.ended, metric.score) == (Outcome.FAILED, None)
    assert str(metric.error).startswith("LLM judge error: ")
    assert len(judge.calls) >= 2


@pytest.mark.case("judge-reply/rating-number-40")
@pytest.mark.parametrize("text", ["40", "10"])
def test_no_rating_is_cut_out_of_a_longer_number(judged: Judged, text: str) -> None:
    metric = judged("answer_accuracy", ScriptedModel(text), **POINT)

    assert (metric.ended, metric.score) == (Outcome.FAILED, None)


def test_a_rating_as_text_counts(judged: Judged) -> None:
    metric = judged("answer_accuracy", ratings("4", " 2 "), **POINT)

    assert metric.score == 0.75


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"output": "a"}, "no reference was given"),
        ({"output": "a", "reference": " "}, "reference is empty"),
        ({"reference": "a"}, "no output was given"),
        ({"output": "", "reference": "a"}, "output is empty"),
    ],
)
def test_without_both_texts_there_is_nothing_to_judge(judged: Judged, fields: dict[str, str], reason: str) -> None:
    judge = ScriptedModel("")

    metric = judged("answer_accuracy", judge, **fields)

    assert (metric.ended, metric.rationale, judge.calls) == (Outcome.INCONCLUSIVE, reason, [])


@given(st.sampled_from([0, 2, 4]), st.sampled_from([0, 2, 4]))
def test_swapping_the_roles_changes_nothing(first: int, swapped: int) -> None:
    assert rated_accuracy(first, swapped) == rated_accuracy(swapped, first)
    assert 0 <= rated_accuracy(first, swapped) <= 1


@given(st.integers(1, 5), st.integers(1, 5))
def test_swapping_the_roles_changes_nothing_on_the_other_scale(first: int, swapped: int) -> None:
    assert harmonic15(first, swapped) == harmonic15(swapped, first)
    assert 0 <= harmonic15(first, swapped) <= 1
