"""What ratings and verdicts come to, whatever they are."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genkit_eval import Status
from genkit_eval.claims import ClaimVerdict
from genkit_eval_judges.citations import citations
from genkit_eval_judges.counting import average_precision, share_that_holds
from genkit_eval_judges.rating import from_five, from_gravity, mean_of_fives
from genkit_eval_judges.recipe import JudgeOptions, decided

VERDICTS = st.lists(st.booleans(), min_size=1, max_size=30)
RATINGS = st.floats(1, 5)


def found(*held: bool) -> list[ClaimVerdict]:
    return [ClaimVerdict("a claim", verdict, "") for verdict in held]


@pytest.mark.parametrize(("rating", "score"), [(1, 0.0), (2, 0.25), (3, 0.5), (4, 0.75), (5, 1.0)])
def test_1_to_5_becomes_0_to_1(rating: float, score: float) -> None:
    assert from_five(rating) == score


@pytest.mark.parametrize(("gravity", "score"), [(0, 1.0), (1, 0.8), (2.5, 0.5), (5, 0.0)])
def test_a_gravity_from_0_to_5_becomes_1_to_0(gravity: float, score: float) -> None:
    assert from_gravity(gravity) == pytest.approx(score)


@given(st.lists(RATINGS, min_size=1, max_size=30))
def test_a_mean_of_ratings_lies_between_the_lowest_and_the_highest(ratings: list[float]) -> None:
    scores = [from_five(rating) for rating in ratings]

    assert min(scores) - 1e-9 <= mean_of_fives(ratings) <= max(scores) + 1e-9


@given(VERDICTS)
def test_a_share_and_an_average_precision_lie_from_0_to_1(held: list[bool]) -> None:
    for score in (share_that_holds(found(*held)), average_precision(found(*held))):
        assert 0 <= score <= 1
        assert (score == 0) == (not any(held))
    assert (share_that_holds(found(*held)) == 1) == all(held)


@given(VERDICTS)
def test_average_precision_is_highest_with_the_relevant_first(held: list[bool]) -> None:
    best, worst = sorted(held, reverse=True), sorted(held)

    assert average_precision(found(*worst)) <= average_precision(found(*held)) + 1e-12
    assert average_precision(found(*held)) <= average_precision(found(*best)) + 1e-12
    assert average_precision(found(*best)) == float(any(held))


@given(st.text(alphabet="ab 1.!?[]【】,-\n`。", max_size=200))
def test_citations_are_found_in_any_text_in_order_each_beside_what_holds_it(text: str) -> None:
    cited = citations(text)

    assert all(first.marker.span[0] <= second.marker.span[0] for first, second in pairwise(cited))
    assert all(item.marker.text in item.sentence for item in cited)


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_case_passes_from_the_threshold_on(score: float, threshold: float) -> None:
    verdict = decided(score, JudgeOptions(threshold=threshold), reason="")

    assert math.isclose(score, threshold, abs_tol=1e-9) or (verdict.status is Status.PASS) == (score > threshold)
