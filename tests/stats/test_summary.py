"""The sums behind every report: what counts, what is left out, and that nothing gets lost."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genkit_eval.stats import Tally, summarize
from genkit_eval.stored import EvalMetric, EvalResult, EvaluatorRecord, MetricSummary
from genkit_eval.types import Direction

JUDGE = "/evaluator/test/judge"
PASS = {"score": True, "status": "PASS", "outcome": "VERDICT"}
FAIL = {"score": False, "status": "FAIL", "outcome": "VERDICT"}
UNDECIDED = {"status": "UNKNOWN", "outcome": "UNDECIDED"}
INCONCLUSIVE = {"status": "UNKNOWN", "outcome": "INCONCLUSIVE"}
BROKEN = {"status": "UNKNOWN", "outcome": "FAILED", "error": "the judge is away"}


def scored(value: object, **more: object) -> dict[str, object]:
    return {"score": value, "status": "UNKNOWN", "outcome": "VERDICT", **more}


def tally_of(*metrics: Mapping[str, object], evaluator: str = JUDGE) -> Tally:
    tally = Tally()
    for metric in metrics:
        tally.add(evaluator, metric)
    return tally


def summary_of(*metrics: Mapping[str, object], total: int | None = None) -> MetricSummary:
    [summary] = tally_of(*metrics).summaries(len(metrics) if total is None else total)
    return summary


@pytest.mark.case("comparison/pass-rate-denominator")
def test_inconclusive_and_failed_cells_stay_out_of_the_pass_rate_and_in_view() -> None:
    summary = summary_of(*[PASS] * 6, *[FAIL] * 2, INCONCLUSIVE, BROKEN)

    assert summary.pass_rate == 0.75
    assert (summary.passed, summary.failed_status) == (6, 2)
    assert (summary.inconclusive, summary.failed, summary.total) == (1, 1, 10)


def test_the_running_count_is_of_pass_and_fail_only() -> None:
    tally = tally_of(PASS, PASS, FAIL, UNDECIDED, INCONCLUSIVE, BROKEN, scored(0.5))
    tally.target_failed()

    assert tally.verdicts() == (2, 3)


@pytest.mark.case("comparison/all-inconclusive")
def test_without_a_verdict_there_is_no_pass_rate() -> None:
    summary = summary_of(*[INCONCLUSIVE] * 4)

    assert summary.pass_rate is None
    assert summary.mean is None
    assert (summary.inconclusive, summary.scored) == (4, 0)


@pytest.mark.case("comparison/mean-shows-n")
def test_a_mean_comes_with_the_number_of_scores_it_is_over() -> None:
    summary = summary_of(scored(1.0), BROKEN, BROKEN, BROKEN)

    assert (summary.mean, summary.scored, summary.total, summary.failed) == (1.0, 1, 4, 3)


@pytest.mark.case("comparison/single-row")
def test_one_score_has_a_mean_and_no_spread() -> None:
    summary = summary_of(scored(0.7))

    assert (summary.mean, summary.low, summary.high, summary.spread) == (0.7, 0.7, 0.7, None)


def test_the_spread_is_the_sample_standard_deviation() -> None:
    summary = summary_of(*map(scored, [2, 4, 4, 4, 5, 5, 7, 9]))

    assert summary.mean == 5.0
    assert summary.spread == pytest.approx(math.sqrt(32 / 7))
    assert (summary.low, summary.high) == (2.0, 9.0)


@pytest.mark.case("run/falsy-scores-kept")
def test_zeros_and_false_are_scores() -> None:
    summary = summary_of(*map(scored, [0, 0.0, False, 1]))

    assert (summary.verdict, summary.inconclusive) == (4, 0)
    assert summary.distribution == {"boolean": 1, "number": 3}
    assert summary.mean == pytest.approx(1 / 3)
    assert summary.scored == 3


def test_an_empty_text_is_a_score() -> None:
    summary = summary_of(scored(""), scored("good"))

    assert summary.distribution == {"": 1, "good": 1}


@pytest.mark.case("run/evaluator-returns-nan")
@pytest.mark.parametrize("useless", [math.nan, math.inf, -math.inf, 10**400])
def test_a_score_that_is_not_finite_is_a_failed_cell(useless: float) -> None:
    summary = summary_of(scored(1.0), scored(useless), scored(0.5), total=3)

    assert (summary.mean, summary.scored) == (0.75, 2)
    assert (summary.verdict, summary.failed, summary.total) == (2, 1, 3)


@pytest.mark.case("run/many-distinct-string-scores")
def test_texts_are_counted_and_have_no_mean() -> None:
    tally = tally_of(*map(scored, "abcdef"))

    [summary] = tally.summaries(6)

    assert summary.mean is None
    assert summary.distinct == 6
    assert summary.distribution == dict.fromkeys("abcdef", 1)
    assert "scoreDistribution" not in tally.genkit_summaries(6)[0]


def test_only_the_commonest_texts_are_listed() -> None:
    texts = [f"category {n:02}" for n in range(30)]

    summary = summary_of(*map(scored, [*texts, texts[29]]))

    assert summary.distinct == 30
    assert summary.distribution is not None
    assert list(summary.distribution.items())[:2] == [("category 29", 2), ("category 00", 1)]
    assert len(summary.distribution) == 20


def test_prose_is_not_a_category() -> None:
    """Past 1,000 distinct texts nothing is told apart any more, whatever the order they came in."""
    summary = summary_of(*(scored(f"answer {n}") for n in range(1_500)))

    assert summary.distribution is None
    assert summary.distinct == 1_001
    assert summary.scored == 1_500


def test_a_long_text_is_kept_by_its_beginning() -> None:
    summary = summary_of(scored("x" * 100_000))

    assert summary.distribution == {"x" * 200 + "…": 1}


def test_booleans_are_counted_by_value() -> None:
    summary = summary_of(PASS, PASS, FAIL)

    assert summary.distribution == {"true": 2, "false": 1}
    assert summary.mean is None


def test_numbers_among_texts_have_a_mean_of_their_own_and_the_types_are_listed() -> None:
    summary = summary_of(scored(0.5), scored(1.0), scored("n/a"))

    assert (summary.mean, summary.scored) == (0.75, 2)
    assert summary.distribution == {"number": 2, "text": 1}


def test_an_undecided_score_is_out_of_mean_and_pass_rate() -> None:
    summary = summary_of(scored(1.0), {**UNDECIDED, "score": 0.0})

    assert (summary.mean, summary.scored, summary.undecided) == (1.0, 1, 1)


def test_a_broken_target_is_a_failed_cell_of_every_evaluator() -> None:
    tally = Tally([EvaluatorRecord(evaluator="/evaluator/b"), EvaluatorRecord(evaluator="/evaluator/a")])
    tally.add("/evaluator/a", PASS)
    tally.add("/evaluator/b", FAIL)
    tally.target_failed()

    summaries = tally.summaries(2)

    assert [(s.evaluator, s.verdict, s.failed, s.total) for s in summaries] == [
        ("/evaluator/b", 1, 1, 2),
        ("/evaluator/a", 1, 1, 2),
    ]


def test_an_evaluator_without_a_cell_is_listed_with_every_case_inconclusive() -> None:
    [summary] = Tally([EvaluatorRecord(evaluator=JUDGE)]).summaries(3)

    assert (summary.total, summary.inconclusive) == (3, 3)


def test_a_run_without_cases_has_zero_counts() -> None:
    [summary] = Tally([EvaluatorRecord(evaluator=JUDGE)]).summaries(0)

    assert (summary.total, summary.mean, summary.pass_rate) == (0, None, None)


@pytest.mark.case("comparison/lower-is-better")
def test_the_direction_stands_in_the_summary() -> None:
    tally = Tally(
        [EvaluatorRecord(evaluator=JUDGE, direction=Direction.MINIMIZE), EvaluatorRecord(evaluator="/evaluator/up")]
    )

    directions = [summary.direction for summary in tally.summaries(0)]

    assert directions == [Direction.MINIMIZE, Direction.MAXIMIZE]


def test_score_ids_are_apart_and_in_order_of_name() -> None:
    tally = tally_of(scored(3, scoreId="words"), scored(12, scoreId="chars"))

    summaries = tally.summaries(1)

    assert [(s.score_id, s.mean) for s in summaries] == [("chars", 12.0), ("words", 3.0)]


def test_an_evaluator_that_broke_without_an_id_failed_under_each_of_its_ids() -> None:
    tally = tally_of(scored(3, scoreId="words"), scored(12, scoreId="chars"), BROKEN, INCONCLUSIVE)

    summaries = tally.summaries(3)

    assert [(s.score_id, s.verdict, s.failed, s.inconclusive) for s in summaries] == [
        ("chars", 1, 1, 1),
        ("words", 1, 1, 1),
    ]


def test_a_case_without_an_entry_for_an_id_is_inconclusive_there() -> None:
    tally = tally_of(scored(3, scoreId="words"), scored(4, scoreId="words"), scored(12, scoreId="chars"))

    chars, words = tally.summaries(2)

    assert (chars.verdict, chars.inconclusive) == (1, 1)
    assert (words.verdict, words.inconclusive) == (2, 0)


def test_scores_with_and_without_an_id_are_two_measures() -> None:
    tally = tally_of(scored(1.0), scored(2.0, scoreId="more"), BROKEN)

    summaries = tally.summaries(3)

    assert [(s.score_id, s.mean, s.failed) for s in summaries] == [(None, 1.0, 1), ("more", 2.0, 1)]


def test_more_cells_than_cases_are_all_counted() -> None:
    """Genkit gives samples that share an id each other's metrics."""
    summary = summary_of(PASS, PASS, FAIL, FAIL, total=2)

    assert (summary.total, summary.verdict, summary.inconclusive) == (4, 4, 0)


def test_the_mean_of_huge_scores_is_finite() -> None:
    summary = summary_of(scored(1.7e308), scored(1.7e308))

    assert summary.mean == 1.7e308


def test_a_spread_beyond_every_number_is_left_out() -> None:
    summary = summary_of(scored(1e308), scored(-1e308))

    assert (summary.mean, summary.spread) == (0.0, None)


def test_an_object_as_score_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(TypeError, match="a score of type list"):
        Tally().add(JUDGE, scored([1]))


def test_genkits_form_has_its_keys_and_leaves_broken_targets_out() -> None:
    tally = tally_of(PASS, FAIL, {"error": "Reference was not provided"}, evaluator="custom/regex")
    tally.target_failed()

    rows = tally.genkit_summaries(4)

    assert rows == [
        {
            "evaluator": "/evaluator/custom/regex",
            "testCaseCount": 3,
            "errorCount": 1,
            "scoreUndefinedCount": 1,
            "statusDistribution": {"FAIL": 1, "PASS": 1, "undefined": 1},
            "scoreDistribution": {"true": 1, "false": 1},
        }
    ]


def test_genkits_form_names_score_ids_after_a_slash() -> None:
    tally = tally_of(
        scored(19, scoreId="chars"), scored(26, scoreId="chars"), {**PASS, "score": "long", "scoreId": "size"}
    )

    rows = tally.genkit_summaries(2)

    assert [row["evaluator"] for row in rows] == [f"{JUDGE}/chars", f"{JUDGE}/size"]
    assert rows[0]["averageScore"] == 22.5
    assert rows[1]["scoreDistribution"] == {"long": 1}


def test_genkits_form_says_nothing_about_mixed_scores() -> None:
    [row] = tally_of(scored(1), scored("a"), scored(value=True)).genkit_summaries(3)

    assert "averageScore" not in row
    assert "scoreDistribution" not in row


def test_results_of_another_tool_are_summed_by_what_their_keys_imply() -> None:
    results = [
        EvalResult(input=1, metrics=[EvalMetric(evaluator=JUDGE, score=True, status="PASS")]),
        EvalResult(input=2, metrics=[EvalMetric(evaluator=JUDGE, error="Reference was not provided")]),
        EvalResult(input=3, metrics=[EvalMetric(evaluator=JUDGE)]),
        EvalResult(input=4, error="flow exploded"),
        EvalResult(input=5),
    ]

    [summary] = summarize(results)

    assert (summary.verdict, summary.failed, summary.inconclusive, summary.total) == (1, 2, 2, 5)
    assert summary.pass_rate == 1.0


METRICS = st.builds(
    lambda metric, score_id: metric if score_id is None else {**metric, "scoreId": score_id},
    st.one_of(
        st.sampled_from([PASS, FAIL, UNDECIDED, INCONCLUSIVE, BROKEN]),
        st.one_of(st.floats(), st.integers(), st.text(max_size=3), st.booleans()).map(scored),
    ),
    st.sampled_from([None, "a", "b"]),
)


@given(
    cases=st.lists(st.lists(METRICS, max_size=3, unique_by=lambda metric: metric.get("scoreId"))),
    broken=st.integers(0, 3),
)
def test_every_case_ends_in_exactly_one_count(cases: list[list[dict[str, object]]], broken: int) -> None:
    tally = tally_of(*itertools.chain.from_iterable(cases))
    for _ in range(broken):
        tally.target_failed()

    for summary in tally.summaries(len(cases) + broken):
        counts = summary.verdict + summary.undecided + summary.inconclusive + summary.failed
        assert counts == summary.total
        assert summary.passed + summary.failed_status <= summary.verdict
        assert all(
            value is None or math.isfinite(value) for value in (summary.mean, summary.low, summary.high, summary.spread)
        )


@given(metrics=st.lists(METRICS))
def test_the_order_of_cells_does_not_matter(metrics: list[dict[str, object]]) -> None:
    forwards, backwards = tally_of(*metrics), tally_of(*reversed(metrics))

    assert forwards.summaries(len(metrics)) == backwards.summaries(len(metrics))
    assert forwards.genkit_summaries(len(metrics)) == backwards.genkit_summaries(len(metrics))
