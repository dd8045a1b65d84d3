"""Several answers of a judge become one score: the median, the majority, and never a broken one's zero."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genkit_eval.engine.consensus import agreed
from genkit_eval.types import Outcome, Score, Status

BROKEN = Score.broke("LLM judge error: no reply")


def one(*scores: Score) -> Score:
    [score] = agreed([[score] for score in scores])
    return score


def graded(*numbers: float) -> list[Score]:
    """As of a judge that passes from 0.5 on."""
    return [Score.passed(n, reason=f"it is {n}") if n >= 0.5 else Score.failed(n, reason=f"it is {n}") for n in numbers]


@pytest.mark.parametrize(
    ("numbers", "median", "status"),
    [
        ((0.9, 0.2, 0.8), 0.8, Status.PASS),
        ((0.1, 0.2, 0.8), 0.2, Status.FAIL),
        ((0.6, 0.7, 0.8, 0.2), 0.65, Status.PASS),
        ((0.5,), 0.5, Status.PASS),
        ((1.7e308, 1.6e308), 1.65e308, Status.PASS),
    ],
)
def test_numbers_become_their_median_and_verdicts_what_most_say(
    numbers: Sequence[float], median: float, status: Status
) -> None:
    score = one(*graded(*numbers))

    assert score.score == pytest.approx(median)
    assert (score.status, score.outcome) == (status, Outcome.VERDICT)


def test_as_many_for_as_against_is_undecided_and_keeps_the_number() -> None:
    score = one(*graded(0.4, 0.6))

    assert (score.outcome, score.status, score.score) == (Outcome.UNDECIDED, Status.UNKNOWN, 0.5)
    assert score.reason == "2 answers are split: 1 FAIL, 1 PASS"


def test_numbers_alone_need_no_majority() -> None:
    score = one(Score.scored(1), Score.scored(5), Score.scored(2), Score.scored(3))

    assert (score.score, score.status, score.outcome) == (2.5, Status.UNKNOWN, Outcome.VERDICT)


def test_the_label_that_is_said_most_often_wins_with_less_than_half_too() -> None:
    assert one(*[Score.scored(label) for label in ("tone", "facts", "facts", "length")]).score == "facts"


def test_labels_said_equally_often_are_undecided() -> None:
    score = one(Score.scored("tone"), Score.scored("facts"))

    assert (score.outcome, score.score) == (Outcome.UNDECIDED, None)
    assert score.reason == "2 answers are split: 1 'tone', 1 'facts'"


def test_booleans_are_verdicts() -> None:
    assert one(Score.passed(True), Score.failed(False), Score.passed(True)).score is True


def test_an_answer_that_failed_is_left_out() -> None:
    score = one(*graded(0.9), BROKEN, *graded(0.8))

    assert score.score == pytest.approx(0.85)
    assert score.outcome is Outcome.VERDICT


def test_when_all_failed_the_cell_failed_and_says_each_reason_once() -> None:
    score = one(BROKEN, Score.broke("timeout"), BROKEN)

    assert (score.outcome, score.score, score.status) == (Outcome.FAILED, None, Status.UNKNOWN)
    assert score.error == "LLM judge error: no reply (2 of 3 calls); timeout (1 of 3 calls)"


def test_inconclusive_answers_have_a_vote() -> None:
    nothing = Score.inconclusive(reason="no claims")

    score = one(nothing, *graded(0.9), nothing)

    assert (score.outcome, score.score) == (Outcome.INCONCLUSIVE, None)


def test_the_reason_is_of_the_answer_next_to_the_median_and_says_how_many_agree() -> None:
    score = one(*graded(0.2, 0.9, 0.6))

    assert score.reason == "2 of 3 answers: it is 0.6"


def test_a_reason_that_all_share_stands_alone() -> None:
    assert one(*graded(0.7, 0.7)).reason == "it is 0.7"


def test_the_single_scores_and_their_spread_are_kept_beside_the_details() -> None:
    score = one(Score.passed(0.6, details={"claims": 2}), Score.passed(0.8, details={"claims": 3}), BROKEN)

    details = score.to_json()["details"]

    assert details == {
        "claims": 2,
        "judgeRepeats": {
            "answers": [
                {"score": 0.6, "status": "PASS", "outcome": "VERDICT"},
                {"score": 0.8, "status": "PASS", "outcome": "VERDICT"},
                {"error": "LLM judge error: no reply", "status": "UNKNOWN", "outcome": "FAILED"},
            ],
            "spread": pytest.approx(0.2 / 2**0.5),
        },
    }


def test_scores_with_ids_agree_each_for_itself() -> None:
    first = [Score.passed(1.0, id="facts"), Score.failed(0.0, id="tone")]
    second = [Score.passed(0.8, id="facts"), Score.passed(1.0, id="tone")]

    scores = agreed([first, second, [BROKEN]])

    assert [(score.id, score.score, score.outcome) for score in scores] == [
        ("facts", 0.9, Outcome.VERDICT),
        ("tone", 0.5, Outcome.UNDECIDED),
    ]


def test_when_every_call_failed_there_is_one_failed_score_without_an_id() -> None:
    [score] = agreed([[BROKEN], [BROKEN]])

    assert (score.id, score.outcome) == (None, Outcome.FAILED)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=7), st.randoms())
def test_the_order_of_the_answers_does_not_matter(numbers: list[float], random: object) -> None:
    shuffled = numbers[:]
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis gives a random.Random

    score, other = one(*graded(*numbers)), one(*graded(*shuffled))

    assert (score.score, score.status, score.outcome) == (other.score, other.status, other.outcome)
    assert min(numbers) <= float(str(score.score)) <= max(numbers)
