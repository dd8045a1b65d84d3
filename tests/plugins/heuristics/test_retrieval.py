"""Retrieved ids against relevant ids."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genkit_eval import EvalMetric, Outcome, Status
from genkit_eval_heuristics.retrieval import (
    Ranking,
    average_precision,
    hit_rate,
    ndcg,
    precision,
    ranking_of,
    recall,
    reciprocal_rank,
)

Measure = Callable[..., EvalMetric]

DATA = Path(__file__).parents[2] / "data"
MEASURES = {
    "recall": recall,
    "precision": precision,
    "reciprocal_rank": reciprocal_rank,
    "ndcg": ndcg,
    "average_precision": average_precision,
    "hit_rate": hit_rate,
}
ALL = [f"retrieval/{name}" for name in MEASURES]
GRADED = {"m1": 1, "m2": 3, "m3": 0, "m4": 2, "m5": 3}

IDS = st.lists(st.sampled_from("abcdefgh"), max_size=10)
GRADES = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 5), min_size=1)
CUT = st.none() | st.integers(1, 12)


def _relevance(*flags: int) -> Ranking:
    """Documents by rank, 1 for a relevant one; all relevant documents are among them."""
    return Ranking(gains=flags, relevant=[1.0] * sum(flags))


@pytest.mark.parametrize(
    ("k", "relevant", "retrieved", "score"),
    [
        # DCG 1, ideal 1 + 1/log2(3) + 1/2
        pytest.param(3, "abc", "axy", 0.469279, marks=pytest.mark.case("heuristic-retrieval/ndcg-missing-relevant")),
        # DCG 1, ideal of the best two 1 + 1/log2(3)
        pytest.param(
            2, "abcd", "axby", 0.613147, marks=pytest.mark.case("heuristic-retrieval/ndcg-cutoff-below-relevant")
        ),
        pytest.param(None, "a", "aa", 1.0, marks=pytest.mark.case("heuristic-retrieval/ndcg-duplicates")),
    ],
)
def test_ndcg_is_measured_against_the_best_ranking_of_all_relevant_documents(
    measure: Measure, k: int | None, relevant: str, retrieved: str, score: float
) -> None:
    found = measure("retrieval/ndcg", {"k": k}, relevant_ids=list(relevant), retrieved_ids=list(retrieved))

    assert found.score == pytest.approx(score, abs=1e-6)


@pytest.mark.case("heuristic-retrieval/ndcg-graded-gain")
@pytest.mark.parametrize(("gain", "score"), [("linear", 0.777216), ("exponential", 0.705505)])
def test_ndcg_takes_grades_with_linear_gain_and_exponential_on_request(
    measure: Measure, gain: str, score: float
) -> None:
    found = measure("retrieval/ndcg", {"k": 5, "gain": gain}, retrieved_ids=list(GRADED), custom={"grades": GRADED})

    assert found.score == pytest.approx(score, abs=1e-6)


@pytest.mark.case("heuristic-retrieval/ndcg-nothing-found")
@pytest.mark.parametrize("name", ALL)
def test_without_a_hit_every_measure_is_zero(measure: Measure, name: str) -> None:
    score = measure(name, {"k": 3}, relevant_ids=["z"], retrieved_ids=["p", "q"])

    assert (score.score, score.status) == (0, Status.FAIL)


@pytest.mark.case("heuristic-retrieval/empty-retrieval")
@pytest.mark.parametrize("name", ALL)
def test_where_nothing_was_retrieved_every_measure_is_zero(measure: Measure, name: str) -> None:
    score = measure(name, relevant_ids=["a"], retrieved_ids=[])

    assert (score.score, score.outcome) == (0, Outcome.VERDICT)


@pytest.mark.case("heuristic-retrieval/no-relevant-documents")
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("listed", [{"relevant_ids": []}, {"custom": {"grades": {"a": 0}}}, {}])
def test_where_nothing_is_relevant_there_is_nothing_to_measure(measure: Measure, name: str, listed: dict) -> None:
    score = measure(name, retrieved_ids=["a", "b"], **listed)

    assert (score.score, score.outcome) == (None, Outcome.INCONCLUSIVE)


@pytest.mark.case("heuristic-retrieval/mrr-positions")
@pytest.mark.parametrize(("relevant", "retrieved", "score"), [("a", "ab", 1), ("z", "pq", 0), ("z", "pqz", 1 / 3)])
def test_the_reciprocal_rank_counts_from_one(measure: Measure, relevant: str, retrieved: str, score: float) -> None:
    found = measure("retrieval/reciprocal_rank", relevant_ids=[relevant], retrieved_ids=list(retrieved))

    assert found.score == pytest.approx(score)


@pytest.mark.case("heuristic-retrieval/precision-perfect-is-one")
def test_the_average_precision_of_a_perfect_ranking_is_exactly_one() -> None:
    assert average_precision(_relevance(1, 1, 1)) == 1.0


@pytest.mark.case("heuristic-retrieval/precision-order-matters")
@pytest.mark.parametrize(("flags", "score"), [((1, 0, 1), 0.833333), ((0, 1, 1), 0.583333)])
def test_average_precision_weighs_by_rank(flags: tuple[int, ...], score: float) -> None:
    assert average_precision(_relevance(*flags)) == pytest.approx(score, abs=1e-6)


@pytest.mark.case("heuristic-retrieval/precision-order-matters")
def test_average_precision_is_zero_where_none_is_found() -> None:
    assert average_precision(Ranking(gains=(0, 0, 0), relevant=(1,))) == 0


def test_recall_and_precision_at_k(measure: Measure) -> None:
    point = {"relevant_ids": ["a", "b", "c", "d"], "retrieved_ids": ["a", "x", "b", "y", "c"]}

    # 2 of 4 relevant ones are among the first 3
    assert measure("retrieval/recall", {"k": 3}, **point).score == 0.5
    assert measure("retrieval/precision", {"k": 3}, **point).score == pytest.approx(2 / 3)
    # without k: 3 of the 5 retrieved; with k=10 the five that are lacking count as not relevant
    assert measure("retrieval/precision", **point).score == 0.6
    assert measure("retrieval/precision", {"k": 10}, **point).score == 0.3


def test_each_relevant_document_is_a_finding_with_its_rank(measure: Measure) -> None:
    score = measure("retrieval/recall", {"k": 2}, relevant_ids=["a", "b", "c"], retrieved_ids=["x", "a", "a", "b"])

    assert [(finding.text, finding.passed, finding.reason) for finding in score.findings] == [
        ("a", True, "rank 2"),
        ("b", False, "rank 3, beyond the first 2"),
        ("c", False, "not retrieved"),
    ]
    assert score.rationale == "1 of 3 relevant documents among the first 2 retrieved; a repeated document counts once"


def test_without_retrieved_ids_a_case_is_inconclusive(measure: Measure) -> None:
    assert measure("retrieval/recall", relevant_ids=["a"]).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize("grade", [-1, "high", 1e9])
def test_a_grade_that_is_none_is_an_error_by_name(measure: Measure, grade: object) -> None:
    score = measure("retrieval/ndcg", retrieved_ids=["a"], custom={"grades": {"a": grade}})

    assert score.outcome is Outcome.FAILED
    assert "custom.grades" in str(score.error)


def test_all_agree_with_recorded_figures_of_ranx() -> None:
    """The rankings were drawn at random and measured once with ranx 0.3.21, which takes trec_eval's definitions."""
    rows = [json.loads(line) for line in (DATA / "ranx_rankings.jsonl").read_text(encoding="utf-8").splitlines()]

    for row in rows:
        ranking = ranking_of(row["retrieved"], row["grades"], row["k"])
        expected = dict(row["expected"])
        assert ndcg(ranking, gain="exponential") == pytest.approx(expected.pop("ndcg_exponential"), abs=1e-6)
        assert {name: MEASURES[name](ranking) for name in expected} == pytest.approx(expected, abs=1e-6)
    assert len(rows) == 150


@given(IDS, GRADES, CUT)
def test_every_measure_is_between_zero_and_one(retrieved: list[str], grades: dict[str, int], k: int | None) -> None:
    ranking = ranking_of(retrieved, grades, k)

    scores = [formula(ranking) for formula in MEASURES.values()] + [ndcg(ranking, gain="exponential")]

    assert all(math.isfinite(score) and 0 <= score <= 1 + 1e-12 for score in scores)


@given(IDS, GRADES, CUT)
def test_what_else_is_retrieved_does_not_matter_by_its_name(
    retrieved: list[str], grades: dict[str, int], k: int | None
) -> None:
    renamed = [name if name in grades else f"other {name}" for name in retrieved]

    before, after = ranking_of(retrieved, grades, k), ranking_of(renamed, grades, k)

    assert before == after


@given(GRADES, CUT)
def test_the_best_ranking_has_an_ndcg_of_one(grades: dict[str, int], k: int | None) -> None:
    best = sorted(grades, key=lambda name: -grades[name])

    assert ndcg(ranking_of(best, grades, k)) == pytest.approx(1)
    assert average_precision(ranking_of(best, grades)) == pytest.approx(1)


@given(st.permutations("abcdef"), GRADES)
def test_recall_precision_and_hits_do_not_depend_on_the_order(retrieved: list[str], grades: dict[str, int]) -> None:
    ranked, ordered = ranking_of(retrieved, grades), ranking_of(sorted(retrieved), grades)

    for formula in (recall, precision, hit_rate):
        assert formula(ranked) == formula(ordered)
