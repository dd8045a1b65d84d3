"""What a combination comes to, from what its parts said."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genkit_eval import (
    Combination,
    ConfigError,
    Direction,
    Finding,
    Outcome,
    Score,
    Status,
    all_of,
    any_of,
    gate,
    negate,
    weighted,
)
from genkit_eval.engine.combination import Heard
from genkit_eval.scores import ScoreRule

UNIT = ScoreRule(0.0, 1.0)
PASS, FAIL = Score.passed(True), Score.failed(False)
INCONCLUSIVE = Score.inconclusive(reason="nothing there")
UNDECIDED = Score.undecided(reason="hard to say")
BROKE = Score.broke("boom")
NO_STATUS = Score.scored(0.7)


def decided(combination: Combination, *scores: Score | Sequence[Score], rule: ScoreRule = UNIT) -> Score:
    heard = [
        Heard(f"part{number}", [said] if isinstance(said, Score) else said, rule) for number, said in enumerate(scores)
    ]
    [score] = combination.decide(heard)
    return score


@pytest.mark.parametrize(
    ("said", "all_ends", "any_ends"),
    [
        ((PASS, PASS), "PASS", "PASS"),
        ((PASS, FAIL), "FAIL", "PASS"),
        ((FAIL, FAIL), "FAIL", "FAIL"),
        ((PASS, INCONCLUSIVE), "INCONCLUSIVE", "PASS"),
        ((FAIL, INCONCLUSIVE), "FAIL", "INCONCLUSIVE"),
        ((PASS, UNDECIDED), "UNDECIDED", "PASS"),
        ((FAIL, BROKE), "FAIL", "FAILED"),
        ((PASS, BROKE), "FAILED", "PASS"),
        ((INCONCLUSIVE, UNDECIDED, BROKE), "FAILED", "FAILED"),
        ((INCONCLUSIVE, UNDECIDED), "UNDECIDED", "UNDECIDED"),
        ((PASS, NO_STATUS), "FAILED", "PASS"),
    ],
)
def test_all_and_any_by_three_valued_logic(said: Sequence[Score], all_ends: str, any_ends: str) -> None:
    for combination, ends in ((all_of("a"), all_ends), (any_of("a"), any_ends)):
        score = decided(combination, *said)

        assert (score.status.value if score.outcome is Outcome.VERDICT else score.outcome.value) == ends


def test_what_the_parts_said_stays_visible() -> None:
    own = Finding(text="refund", passed=False)
    failing = Score.failed(0.5, reason="1 of 2 phrases", findings=[own])

    score = decided(all_of("a", "b"), PASS, failing)

    assert [(finding.text, finding.passed, finding.category) for finding in score.findings] == [
        ("part0", True, "part"),
        ("part1", False, "part"),
        ("refund", False, None),
    ]
    assert score.findings[1].reason == "1 of 2 phrases"
    assert score.findings[1].details == {"outcome": "VERDICT", "score": 0.5}
    assert score.reason == "1 of 2 fail: part1 (1 of 2 phrases)"


def test_a_part_that_broke_is_named() -> None:
    score = decided(all_of("a"), PASS, BROKE)

    assert score.error == "part1: boom"
    assert score.findings[1].reason == "boom"


def test_of_several_scores_of_a_part_each_must_pass() -> None:
    several = [Score.passed(True, id="a"), Score.failed(False, id="b")]

    score = decided(all_of("a"), several)

    assert score.status is Status.FAIL
    assert [finding.text for finding in score.findings] == ["part0/a", "part0/b"]


@pytest.mark.parametrize(
    ("said", "status", "score"),
    [
        (Score.passed(0.8), Status.FAIL, 0.2),
        (Score.failed(False), Status.PASS, True),
        (Score.passed(), Status.FAIL, None),
        (Score.failed("red"), Status.PASS, None),
    ],
)
def test_the_opposite_is_mirrored_within_the_range(said: Score, status: Status, score: float | None) -> None:
    found = decided(negate("a"), said)

    assert found.status is status
    assert found.score == (pytest.approx(score) if isinstance(score, float) else score)


@pytest.mark.parametrize("said", [INCONCLUSIVE, UNDECIDED, BROKE])
def test_the_opposite_of_the_unsettled_is_as_unsettled(said: Score) -> None:
    assert decided(negate("a"), said).outcome is said.outcome


def test_a_weighted_mean_by_hand() -> None:
    combination = weighted(("a", 3), ("b", 1), threshold=0.6)

    score = decided(combination, Score.passed(0.5), FAIL)
    other = decided(combination, Score.passed(1.0), FAIL)

    assert (score.score, score.status) == (0.375, Status.FAIL)
    assert (other.score, other.status) == (0.75, Status.PASS)


@pytest.mark.case("comparison/zero-weights")
@pytest.mark.parametrize("other", [Score.passed(0.2), FAIL, INCONCLUSIVE, BROKE])
def test_a_part_that_weighs_nothing_has_no_say(other: Score) -> None:
    score = decided(weighted(("a", 0), ("b", 1)), other, Score.passed(0.8))

    assert score.score == 0.8


def test_ranges_are_put_to_0_to_1_with_1_the_better_end() -> None:
    lower_is_better = ScoreRule(0.0, 10.0, direction=Direction.MINIMIZE)

    score = decided(weighted(("a", 1)), Score.passed(2.5), rule=lower_is_better)

    assert score.score == 0.75


def test_an_inconclusive_part_makes_the_mean_inconclusive_unless_it_is_left_out() -> None:
    said = [Score.passed(0.8), INCONCLUSIVE]

    strict = decided(weighted(("a", 1), ("b", 9)), *said)
    lenient = decided(weighted(("a", 1), ("b", 9), missing="leave_out"), *said)
    nothing = decided(weighted(("a", 1), missing="leave_out"), INCONCLUSIVE)
    broken = decided(weighted(("a", 1), ("b", 9), missing="leave_out"), BROKE, INCONCLUSIVE)

    assert strict.outcome is Outcome.INCONCLUSIVE
    assert (lenient.score, lenient.reason) == (0.8, "weighted mean of 1 of 2 parts")
    assert nothing.outcome is Outcome.INCONCLUSIVE
    assert broken.outcome is Outcome.FAILED


@pytest.mark.parametrize("said", [NO_STATUS, Score.scored("red")])
def test_what_has_no_place_between_0_and_1_cannot_be_weighed(said: Score) -> None:
    score = decided(weighted(("a", 1)), said, rule=ScoreRule())

    assert score.outcome is Outcome.FAILED
    assert "cannot be weighed" in str(score.error)


@pytest.mark.parametrize("otherwise", ["FAIL", "PASS", "INCONCLUSIVE"])
def test_a_closed_gate_ends_as_it_was_told(otherwise: str) -> None:
    score = decided(gate("a", "b", otherwise=otherwise), FAIL)  # type: ignore[arg-type]

    ends = score.status.value if score.outcome is Outcome.VERDICT else score.outcome.value
    assert (ends, score.reason) == (otherwise, "not asked further: part0 is FAIL")


def test_an_open_gate_says_what_is_behind_it_and_shows_the_condition() -> None:
    behind = Score.failed(0.3, reason="unsupported", findings=[Finding(text="claim", passed=False)])

    score = decided(gate("a", "b"), PASS, behind)

    assert (score.score, score.status, score.reason) == (0.3, Status.FAIL, "unsupported")
    assert [finding.text for finding in score.findings] == ["part0", "claim"]


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (all_of, "all_of has no parts"),
        (lambda: negate(7), "is of type int"),  # type: ignore[arg-type]
        (lambda: weighted(("a", 0), ("b", 0)), "all weights are 0"),
        (lambda: weighted(("a", -1), ("b", 1)), "a weight is -1"),
        (lambda: weighted(("a", True)), "a weight is True"),
        (lambda: weighted(("a", math.inf)), "a weight is inf"),
        (lambda: weighted(("a", 1), threshold=2), "the threshold is 2"),
        (lambda: weighted("a"), "takes pairs of an evaluator and its weight, found 'a'"),  # type: ignore[arg-type]
        (lambda: weighted(("a", "1")), "a weight is 1"),  # type: ignore[arg-type]
        (lambda: weighted(("a", 1), missing="zero"), "missing is 'zero', expected inconclusive or leave_out"),  # type: ignore[arg-type]
        (lambda: gate("a", "b", otherwise="pass"), "otherwise is 'pass', expected FAIL or PASS"),  # type: ignore[arg-type]
    ],
)
def test_what_cannot_be_combined_is_refused(made: object, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        made()  # type: ignore[operator]


SCORES = st.sampled_from([PASS, FAIL, INCONCLUSIVE, UNDECIDED, BROKE])


def ends(score: Score) -> tuple[Outcome, Status]:
    return score.outcome, score.status


@given(st.lists(SCORES, min_size=1, max_size=6), st.randoms())
def test_the_order_of_parts_changes_nothing(said: list[Score], random: object) -> None:
    shuffled = said[:]
    random.shuffle(shuffled)  # type: ignore[attr-defined]

    for combination in (all_of("a"), any_of("a")):
        assert ends(decided(combination, *said)) == ends(decided(combination, *shuffled))


@given(st.lists(SCORES, min_size=1, max_size=6))
def test_not_all_is_any_not(said: list[Score]) -> None:
    opposites = [decided(negate("a"), score) for score in said]

    assert ends(decided(negate("a"), decided(all_of("a"), *said))) == ends(decided(any_of("a"), *opposites))


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(1e-6, 1e6)), min_size=1, max_size=8),
    st.sampled_from([Direction.MAXIMIZE, Direction.MINIMIZE]),
)
def test_a_weighted_mean_lies_between_its_parts(parts: list[tuple[float, float]], direction: Direction) -> None:
    rule = ScoreRule(0.0, 1.0, direction=direction)
    values = [1 - value if direction is Direction.MINIMIZE else value for value, _ in parts]

    score = decided(
        weighted(*(("a", weight) for _, weight in parts)), *(Score.scored(value) for value, _ in parts), rule=rule
    )

    assert isinstance(score.score, float)
    assert min(values) - 1e-9 <= score.score <= max(values) + 1e-9
