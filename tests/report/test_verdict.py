"""What a run comes to: its exit code and the words for it."""

from __future__ import annotations

import math

import pytest

from genkit_eval import ConfigError, Registry, UnknownName
from genkit_eval.definitions import Evaluator
from genkit_eval.report.verdict import Bound, check_bounds, verdict
from tests.report.conftest import MakeRun
from tests.report.rows import broke, failed, inconclusive, metric, passed, result


@pytest.fixture
def evaluators() -> list[Evaluator]:
    registry = Registry()
    registry.define_evaluator("custom/check", lambda point: True)
    registry.define_evaluator("custom/percent", lambda point: 50, low=0, high=100)
    registry.define_evaluator("custom/grade", lambda point: 50, low=0, high=100, threshold=80)
    return list(registry.evaluators.values())


def test_failing_cases_alone_are_a_pass(make_run: MakeRun) -> None:
    came_to = verdict(make_run([result(1, passed()), result(2, failed())]))

    assert (came_to.exit_code, came_to.messages) == (0, [])


def test_a_failed_cell_is_1_unless_tolerated(make_run: MakeRun) -> None:
    run = make_run([result(1, passed()), result(2, broke())])

    assert verdict(run).exit_code == 1
    assert verdict(run).messages == ["1 FAILED cell (tolerated: 0)"]
    assert verdict(run, most_failed=1).exit_code == 0


def test_a_cell_with_several_scores_fails_once(make_run: MakeRun) -> None:
    run = make_run([result(1, metric(scoreId="a", score=1), metric(scoreId="b", score=2)), result(2, error="no")])

    assert verdict(run).failed_cells == 1


@pytest.mark.case("cli-ci/nothing-judged")
def test_nothing_judged_is_1_and_the_last_message_says_so(make_run: MakeRun) -> None:
    came_to = verdict(make_run([result(1, broke()), result(2, inconclusive())]), most_failed=9)

    assert came_to.exit_code == 1
    assert came_to.messages[-1] == "nothing was judged: of 2 cells 1 FAILED, 1 inconclusive"


def test_a_missed_gate_is_100(make_run: MakeRun) -> None:
    came_to = verdict(make_run([result(1, passed()), result(2, failed())]), [Bound("custom/check", 0.9)])

    assert came_to.exit_code == 100
    assert came_to.messages == ["gate missed: custom/check: pass rate 0.5 (1 of 2 judged) is not at least 0.9"]


def test_a_failed_cell_weighs_more_than_a_missed_gate(make_run: MakeRun) -> None:
    came_to = verdict(make_run([result(1, failed()), result(2, broke())]), [Bound("custom/check", 0.9)])

    assert came_to.exit_code == 1
    assert len(came_to.messages) == 2


@pytest.mark.case("comparison/all-inconclusive")
def test_a_gate_on_nothing_has_its_own_message(make_run: MakeRun) -> None:
    run = make_run([result(1, metric("other", score=1)), result(2, inconclusive())])

    came_to = verdict(run, [Bound("custom/check", 0.0)])

    assert came_to.exit_code == 100
    assert "custom/check: nothing was judged" in came_to.messages[0]


def test_a_score_that_the_run_lacks_misses_its_gate(make_run: MakeRun) -> None:
    came_to = verdict(make_run([result(1, metric(scoreId="size", score=1))]), [Bound("custom/check", 0.5)])

    assert came_to.exit_code == 100
    assert "the run has no such score (it has custom/check/size)" in came_to.messages[0]


@pytest.mark.case("cli-ci/gate-out-of-range")
@pytest.mark.parametrize("value", [80, 1.5, -0.1, math.nan, math.inf])
def test_a_bound_that_is_no_rate_is_refused(evaluators: list[Evaluator], value: float) -> None:
    with pytest.raises(ConfigError, match="expected a number from 0 to 1"):
        check_bounds([Bound("custom/check", value)], evaluators)


def test_a_declared_range_widens_the_bounds_of_a_mean(evaluators: list[Evaluator]) -> None:
    check_bounds([Bound("/evaluator/custom/percent", 80)], evaluators)

    with pytest.raises(ConfigError, match="from 0 to 100"):
        check_bounds([Bound("custom/percent", 101)], evaluators)


def test_with_a_threshold_the_bound_is_one_of_the_pass_rate(evaluators: list[Evaluator]) -> None:
    with pytest.raises(ConfigError, match="from 0 to 1"):
        check_bounds([Bound("custom/grade", 80)], evaluators)


def test_an_unknown_metric_is_refused_with_the_nearest(evaluators: list[Evaluator]) -> None:
    with pytest.raises(UnknownName, match="custom/check"):
        check_bounds([Bound("custom/chekc", 0.5)], evaluators)


def test_score_ids_are_let_through(evaluators: list[Evaluator]) -> None:
    check_bounds([Bound("custom/check/size", 0.5)], evaluators)
