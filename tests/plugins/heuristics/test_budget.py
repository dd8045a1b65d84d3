"""What an answer took against its budgets."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genkit_eval import EvalMetric, GenkitEval, Outcome, Registry, Sample, Status, run_sync
from genkit_eval.errors import InvalidOptions
from genkit_eval_heuristics import heuristics
from genkit_eval_heuristics.budget import efficiency, left_of

Measure = Callable[..., EvalMetric]

BUDGETS = [
    ("budget/latency", "budget_seconds", {"latency": 2.0}),
    ("budget/cost", "budget_usd", {"usage": {"cost_usd": 2.0}}),
    ("budget/model_calls", "budget_model_calls", {"usage": {"model_calls": 2}}),
    ("budget/tokens", "budget_tokens", {"usage": {"input_tokens": 1, "output_tokens": 1}}),
]
POSITIVE = st.floats(min_value=1e-9, max_value=1e9)


@pytest.mark.case("heuristic-budget/exactly-at-budget")
@pytest.mark.parametrize(("name", "option", "point"), BUDGETS)
def test_at_the_budget_the_score_is_half_and_the_case_passes(
    measure: Measure, name: str, option: str, point: dict
) -> None:
    score = measure(name, {option: 2}, **point)

    assert (score.score, score.status) == (0.5, Status.PASS)


def test_just_over_the_budget_the_case_fails_and_says_by_how_much(measure: Measure) -> None:
    score = measure("budget/latency", {"budget_seconds": 2}, latency=2.001)

    assert (score.score, score.status) == (pytest.approx(0.49975, abs=1e-9), Status.FAIL)
    assert score.rationale == "2.001 seconds, over the budget of 2"


@pytest.mark.case("heuristic-budget/beyond-twice")
@pytest.mark.parametrize("latency", [4.0, 5.0, 1000.0])
def test_from_twice_the_budget_on_the_score_is_zero(measure: Measure, latency: float) -> None:
    score = measure("budget/latency", {"budget_seconds": 2}, latency=latency)

    assert (score.score, score.status) == (0, Status.FAIL)


def test_nothing_spent_is_one(measure: Measure) -> None:
    assert measure("budget/latency", {"budget_seconds": 2}, latency=0).score == 1


@pytest.mark.case("heuristic-budget/latency-missing")
@pytest.mark.parametrize(("name", "option", "_"), BUDGETS)
@pytest.mark.parametrize("point", [{}, {"usage": {}}, {"latency": None, "usage": {"output_tokens": 1}}])
def test_what_was_not_recorded_is_inconclusive_never_free(
    measure: Measure, name: str, option: str, _: object, point: dict
) -> None:
    score = measure(name, {option: 2}, **point)

    assert (score.score, score.outcome) == (None, Outcome.INCONCLUSIVE)


@pytest.mark.case("heuristic-budget/bad-budget")
@pytest.mark.parametrize(("name", "option", "_"), BUDGETS)
@pytest.mark.parametrize("budget", [0, -1, "nan", "inf", None, "much"])
def test_a_budget_that_is_none_is_refused_before_anything_runs(
    measure: Measure, name: str, option: str, _: object, budget: object
) -> None:
    with pytest.raises(InvalidOptions, match=option):
        measure(name, {option: budget}, latency=1.0)


@pytest.mark.parametrize(("name", "option", "point"), BUDGETS)
def test_without_a_budget_the_case_is_failed_and_says_what_is_lacking(
    measure: Measure, name: str, option: str, point: dict
) -> None:
    score = measure(name, **point)

    assert score.outcome is Outcome.FAILED
    assert f"expected the option {option}, or custom.{option} of the sample" in str(score.error)


@pytest.mark.parametrize(("name", "option", "point"), BUDGETS)
def test_the_samples_alone_may_have_budgets(measure: Measure, name: str, option: str, point: dict) -> None:
    assert measure(name, custom={option: 4}, **point).score == 0.75


def test_a_sample_without_a_budget_is_told_before_anything_runs() -> None:
    registry = Registry()
    registry.install(heuristics())
    evaluator = registry.evaluator("budget/latency")
    own, none = Sample(custom={"budget_seconds": 2}), Sample()

    def problem(sample: Sample, **options: float) -> str | None:
        return evaluator.check(sample, evaluator.parse_options(options))

    assert problem(own) is None
    assert problem(none, budget_seconds=2) is None
    assert "no budget was given" in str(problem(none))


def test_an_interrupted_run_reads_its_budgets_again(tmp_path) -> None:
    ge = GenkitEval(plugins=[heuristics()], root=tmp_path)
    run = run_sync(ge.evaluate([{"output": 1}], target=None, evaluators=["budget/latency"]))

    [record] = run.key.evaluators
    assert record.options == {}
    assert ge.registry.evaluator("budget/latency").parse_options(record.options) is not None


def test_a_sample_may_have_a_budget_of_its_own(measure: Measure) -> None:
    score = measure("budget/latency", {"budget_seconds": 1}, latency=4, custom={"budget_seconds": 8})

    assert (score.score, score.status) == (0.75, Status.PASS)


@pytest.mark.parametrize(("count", "score"), [("total", 0.5), ("input", 0.65), ("output", 0.85)])
def test_tokens_in_out_or_both_count(measure: Measure, count: str, score: float) -> None:
    usage = {"input_tokens": 70, "output_tokens": 30}

    found = measure("budget/tokens", {"budget_tokens": 100, "count": count}, usage=usage)

    assert found.score == pytest.approx(score)


@pytest.mark.case("heuristic-budget/clock-jump")
def test_a_negative_latency_is_an_error_not_a_score_above_one(measure: Measure) -> None:
    score = measure("budget/latency", {"budget_seconds": 1}, latency=-3600)

    assert score.outcome is Outcome.FAILED
    assert "latency is -3600: expected 0 or more" in str(score.error)


@pytest.mark.case("heuristic-budget/clock-jump")
def test_the_latency_of_a_flow_is_not_that_of_the_wall_clock(tmp_path, monkeypatch) -> None:
    import time

    ge = GenkitEval(plugins=[heuristics()], root=tmp_path)
    now = time.time()

    @ge.flow("jump")
    def jump(text: str) -> str:
        monkeypatch.setattr(time, "time", lambda: now - 3600)
        return text

    budget = ge.ref("budget/latency", budget_seconds=60)
    run = run_sync(ge.evaluate([{"input": "x"}], target="/flow/jump", evaluators=[budget]))

    [metric] = run.results[0].metrics
    assert 0.5 < metric.score <= 1
    assert run.results[0].latency >= 0


def test_cost_efficiency_is_the_mean_of_its_three_parts(measure: Measure) -> None:
    usage = {"cost_usd": 0.20, "input_tokens": 100, "output_tokens": 400}

    score = measure("budget/cost_efficiency", usage=usage, latency=10)

    # cost 0.10 / 0.20, latency within 30 s, ratio 2 / 4
    assert score.score == pytest.approx((0.5 + 1 + 0.5) / 3)
    assert [(part.text, part.passed) for part in score.findings] == [
        ("cost", False),
        ("latency", True),
        ("token ratio", False),
    ]


def test_a_part_that_was_not_recorded_is_left_out_and_named(measure: Measure) -> None:
    score = measure("budget/cost_efficiency", usage={"cost_usd": 0.20})

    assert score.score == 0.5
    assert score.rationale == "cost: 0.2 of 0.1; not recorded: latency, token ratio"


def test_where_no_part_was_recorded_it_is_inconclusive(measure: Measure) -> None:
    assert measure("budget/cost_efficiency").outcome is Outcome.INCONCLUSIVE


def test_a_missing_part_counts_as_one_on_request(measure: Measure) -> None:
    assert measure("budget/cost_efficiency", {"missing": "one"}).score == 1
    assert measure("budget/cost_efficiency", {"missing": "one"}, latency=60).score == pytest.approx(2.5 / 3)


@pytest.mark.parametrize(
    ("tokens", "score"), [((0, 5), 0.0), ((5, 0), 1.0), ((0, 0), None), ((10, 20), 1.0), ((10, 80), 0.25)]
)
def test_the_token_ratio_of_nothing_read_is_beyond_any_budget(
    measure: Measure, tokens: tuple[int, int], score: float | None
) -> None:
    found = measure("budget/cost_efficiency", usage={"input_tokens": tokens[0], "output_tokens": tokens[1]})

    assert found.score == score


@given(POSITIVE, st.floats(min_value=0, max_value=1e12))
def test_scores_stay_between_zero_and_one_whatever_was_spent(budget: float, value: float) -> None:
    for score in (left_of(budget, value), efficiency(budget, value)):
        assert math.isfinite(score)
        assert 0 <= score <= 1


@given(POSITIVE, POSITIVE, POSITIVE)
def test_more_spent_never_scores_better(budget: float, one: float, other: float) -> None:
    less, more = sorted((one, other))

    assert left_of(budget, less) >= left_of(budget, more)
    assert efficiency(budget, less) >= efficiency(budget, more)
