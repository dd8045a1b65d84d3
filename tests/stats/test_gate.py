"""A metric held against a bound: which number counts, which way, and what is said when there is none."""

from __future__ import annotations

import pytest

from genkit_eval.stats import Tally, gate
from genkit_eval.stored import MetricSummary
from genkit_eval.types import Direction


def summary(**given: object) -> MetricSummary:
    return MetricSummary.model_validate({"evaluator": "/evaluator/test/judge", "total": 10, **given})


def test_the_pass_rate_counts_where_there_is_one() -> None:
    result = gate(summary(verdict=8, passed=6, failed_status=2, scored=8, mean=0.1), 0.75)

    assert result.passed
    assert result.value == 0.75
    assert result.message == "test/judge: pass rate 0.75 (6 of 8 judged) is at least 0.75"


def test_the_mean_counts_where_nothing_passes_or_fails() -> None:
    result = gate(summary(verdict=4, scored=4, mean=0.5), 0.8)

    assert not result.passed
    assert result.message == "test/judge: mean 0.5 (n = 4 of 10) is not at least 0.8"


@pytest.mark.case("comparison/gate-float-mean")
def test_rounding_does_not_miss_a_gate() -> None:
    tally = Tally()
    for _ in range(6):
        tally.add("x", {"score": 0.8, "status": "UNKNOWN", "outcome": "VERDICT"})

    assert gate(tally.summaries(6)[0], 0.8).passed


def test_a_mean_a_hair_below_the_bound_reaches_it() -> None:
    assert gate(summary(verdict=1, scored=1, mean=0.7999999999999999), 0.8).passed
    assert not gate(summary(verdict=1, scored=1, mean=0.79999), 0.8).passed


@pytest.mark.case("comparison/lower-is-better")
def test_where_lower_is_better_the_mean_must_not_exceed_the_bound() -> None:
    low = summary(verdict=1, scored=1, mean=0.1, direction=Direction.MINIMIZE)
    high = summary(verdict=1, scored=1, mean=0.9, direction=Direction.MINIMIZE)

    assert gate(low, 0.5).passed
    assert gate(high, 0.5).message == "test/judge: mean 0.9 (n = 1 of 10) is not at most 0.5"


def test_a_pass_rate_is_better_when_higher_whatever_the_direction_of_the_score() -> None:
    result = gate(summary(verdict=2, passed=2, scored=2, mean=0.1, direction=Direction.MINIMIZE), 0.9)

    assert result.passed


@pytest.mark.case("comparison/all-inconclusive")
def test_nothing_judged_misses_the_gate_with_a_message_of_its_own() -> None:
    result = gate(summary(total=4, inconclusive=4), 0.0)

    assert not result.passed
    assert result.value is None
    assert result.message == (
        "test/judge: nothing was judged (of 4 cases 4 inconclusive, 0 undecided, 0 failed), so the gate 0 is missed"
    )


def test_categories_alone_cannot_be_gated() -> None:
    result = gate(summary(verdict=10, scored=10, distribution={"short": 10}), 0.5)

    assert not result.passed
    assert "neither PASS nor FAIL nor numbers" in result.message


def test_a_score_id_is_named() -> None:
    assert gate(summary(score_id="size", verdict=1, passed=1), 1.0).message.startswith("test/judge/size: ")
