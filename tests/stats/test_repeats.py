"""Several passes over the same cases: what a case comes to, and how surely one or all of k passes succeed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genkit_eval.stats import CaseVerdict, RepeatSummary, pass_at_k, pass_hat_k, summarize_repeats
from genkit_eval.stored import EvalMetric, EvalResult, EvaluatorRecord
from genkit_eval.types import Outcome, Status

JUDGE = "/evaluator/test/judge"
PASS = {"score": True, "status": "PASS", "outcome": "VERDICT"}
FAIL = {"score": False, "status": "FAIL", "outcome": "VERDICT"}
UNDECIDED = {"status": "UNKNOWN", "outcome": "UNDECIDED"}
INCONCLUSIVE = {"status": "UNKNOWN", "outcome": "INCONCLUSIVE"}
BROKEN = {"status": "UNKNOWN", "outcome": "FAILED", "error": "the judge is away"}


def number(value: float) -> dict[str, object]:
    return {"score": value, "status": "UNKNOWN", "outcome": "VERDICT"}


def repeats_of(case_id: str, *cells: Mapping[str, object] | None) -> list[EvalResult]:
    """The results of one case; None for a repeat whose target broke."""
    return [
        EvalResult(test_case_id=case_id, error="target down")
        if cell is None
        else EvalResult.model_validate({"testCaseId": case_id, "metrics": [{"evaluator": JUDGE, **cell}]})
        for cell in cells
    ]


def summary_of(*cases: Iterable[EvalResult]) -> RepeatSummary:
    [summary] = summarize_repeats(itertools.chain(*cases), [EvaluatorRecord(evaluator=JUDGE)])
    return summary


def verdict_of(*cells: Mapping[str, object] | None) -> CaseVerdict | None:
    return summary_of(repeats_of("a", *cells)).cases[0].verdict


def counts(n: int) -> st.SearchStrategy[int]:
    return st.integers(0, n)


@given(st.integers(1, 7).flatmap(lambda n: st.tuples(st.just(n), counts(n), st.integers(1, n))))
def test_both_rates_are_what_counting_all_choices_gives(drawn: tuple[int, int, int]) -> None:
    n, passed, k = drawn
    choices = list(itertools.combinations([True] * passed + [False] * (n - passed), k))

    at_least_one = sum(any(choice) for choice in choices) / len(choices)
    every = sum(all(choice) for choice in choices) / len(choices)

    assert pass_at_k(n, passed, k) == pytest.approx(at_least_one, abs=1e-12)
    assert pass_hat_k(n, passed, k) == pytest.approx(every, abs=1e-12)


@pytest.mark.parametrize("estimate", [pass_at_k, pass_hat_k])
@pytest.mark.parametrize("chance", [0.1, 0.5, 0.9])
def test_the_estimates_are_unbiased(estimate: object, chance: float) -> None:
    n, k = 6, 3
    weights = [math.comb(n, c) * chance**c * (1 - chance) ** (n - c) for c in range(n + 1)]

    expected = sum(weight * estimate(n, c, k) for c, weight in enumerate(weights))  # type: ignore[operator]  # a function

    truth = 1 - (1 - chance) ** k if estimate is pass_at_k else chance**k
    assert expected == pytest.approx(truth, abs=1e-12)


def test_the_rates_of_five_repeats_by_hand() -> None:
    # 10 pairs of 5; both of a pair among 3 that passed: 3; both among 2 that failed: 1
    assert pass_hat_k(5, 3, 2) == pytest.approx(3 / 10)
    assert pass_at_k(5, 3, 2) == pytest.approx(9 / 10)


@pytest.mark.parametrize(("n", "passed", "k"), [(3, 1, 4), (3, 1, 0), (3, 4, 1), (3, -1, 1), (0, 0, 1)])
def test_what_no_run_can_have_is_refused(n: int, passed: int, k: int) -> None:
    with pytest.raises(ValueError, match="expected 1 <= k <= repeats"):
        pass_at_k(n, passed, k)
    with pytest.raises(ValueError, match="expected 1 <= k <= repeats"):
        pass_hat_k(n, passed, k)


@pytest.mark.parametrize(
    ("cells", "verdict"),
    [
        ([PASS, PASS, PASS], CaseVerdict.PASS),
        ([FAIL, FAIL, FAIL], CaseVerdict.FAIL),
        ([PASS, PASS, FAIL], CaseVerdict.VARIED),
        ([PASS, PASS, UNDECIDED], CaseVerdict.VARIED),
        ([UNDECIDED, UNDECIDED], CaseVerdict.UNDECIDED),
        ([PASS, BROKEN, INCONCLUSIVE], CaseVerdict.PASS),
        ([FAIL, None, None], CaseVerdict.FAIL),
        ([BROKEN, INCONCLUSIVE], CaseVerdict.NO_RESULT),
        ([None, None], CaseVerdict.NO_RESULT),
        ([number(0.1), number(0.9)], None),
    ],
)
def test_a_case_is_what_its_repeats_agree_on(
    cells: Sequence[Mapping[str, object] | None], verdict: CaseVerdict | None
) -> None:
    assert verdict_of(*cells) is verdict


def test_the_rates_are_means_over_the_cases_with_enough_judged_repeats() -> None:
    summary = summary_of(
        repeats_of("always", PASS, PASS, PASS),
        repeats_of("once", FAIL, FAIL, PASS),
        repeats_of("short", PASS, FAIL, BROKEN),
        repeats_of("never judged", BROKEN, BROKEN, BROKEN),
    )

    rates = {rate.k: rate for rate in summary.rates}

    assert [rates[k].cases for k in (1, 2, 3)] == [3, 3, 2]
    assert rates[1].at_least_one == rates[1].every == pytest.approx((1 + 1 / 3 + 1 / 2) / 3)
    assert rates[2].at_least_one == pytest.approx((1 + 2 / 3 + 1) / 3)
    assert rates[2].every == pytest.approx((1 + 0 + 0) / 3)
    assert (rates[3].at_least_one, rates[3].every) == (1.0, 0.5)


def test_no_case_is_lost_and_every_one_has_one_verdict() -> None:
    summary = summary_of(
        repeats_of("a", PASS, PASS),
        repeats_of("b", PASS, FAIL),
        repeats_of("c", None, BROKEN),
        repeats_of("d", UNDECIDED, UNDECIDED),
    )

    assert summary.verdicts == {
        CaseVerdict.PASS: 1,
        CaseVerdict.FAIL: 0,
        CaseVerdict.VARIED: 1,
        CaseVerdict.UNDECIDED: 1,
        CaseVerdict.NO_RESULT: 1,
    }
    assert [case.total for case in summary.cases] == [2, 2, 2, 2]


def test_repeats_need_not_lie_side_by_side() -> None:
    a, b = repeats_of("a", PASS, FAIL), repeats_of("b", PASS, PASS)

    summary = summary_of([a[0], b[0], b[1], a[1]])

    assert [(case.test_case_id, case.verdict) for case in summary.cases] == [
        ("a", CaseVerdict.VARIED),
        ("b", CaseVerdict.PASS),
    ]


def test_scores_with_ids_are_metrics_of_their_own() -> None:
    def result(**by_score: str) -> EvalResult:
        metrics = [
            EvalMetric(evaluator=JUDGE, score_id=name, status=Status(status), outcome=Outcome.VERDICT)
            for name, status in by_score.items()
        ]
        return EvalResult(test_case_id="a", metrics=metrics)

    broken = EvalResult.model_validate({"testCaseId": "b", "metrics": [{"evaluator": JUDGE, **BROKEN}]})

    summaries = summarize_repeats([result(tone="PASS", facts="FAIL"), result(tone="PASS", facts="PASS"), broken])

    assert [(row.score_id, [case.verdict for case in row.cases]) for row in summaries] == [
        ("facts", [CaseVerdict.VARIED, CaseVerdict.NO_RESULT]),
        ("tone", [CaseVerdict.PASS, CaseVerdict.NO_RESULT]),
    ]


def test_the_spread_within_cases_leaves_the_distance_between_them_out() -> None:
    summary = summary_of(repeats_of("low", number(0.0), number(0.2)), repeats_of("high", number(0.8), number(1.0)))

    # each lies 0.1 from its own mean: 4 x 0.01 over 2 degrees of freedom
    assert summary.spread_within == pytest.approx(math.sqrt(0.02))
    assert summary.rates == []


def test_a_spread_that_no_double_can_hold_is_none() -> None:
    assert summary_of(repeats_of("a", number(1.7e308), number(-1.7e308))).spread_within is None


def test_one_number_a_case_has_no_spread() -> None:
    assert summary_of(repeats_of("a", number(0.5), BROKEN)).spread_within is None


def test_an_evaluator_without_a_cell_has_no_result_anywhere() -> None:
    [summary] = summarize_repeats(repeats_of("a", None, None), [EvaluatorRecord(evaluator="/evaluator/test/other")])

    assert (summary.score_id, summary.verdicts[CaseVerdict.NO_RESULT]) == (None, 1)
