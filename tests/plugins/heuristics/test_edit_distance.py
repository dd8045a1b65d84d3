"""How many edits lie between answer and reference."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genkit_eval import DataPoint, EvalMetric, Outcome, Status
from genkit_eval_heuristics.edit_distance import (
    SimilarityOptions,
    distance,
    distance_by_columns,
    levenshtein_similarity,
    similarity,
)

Measure = Callable[..., EvalMetric]

TEXT = st.text("abİı東é ", max_size=12)


def _by_the_table(one: str, other: str) -> int:
    """The textbook's table of distances of all beginnings."""
    row = list(range(len(other) + 1))
    for i, ours in enumerate(one, start=1):
        above, row[0] = row[0], i
        for j, theirs in enumerate(other, start=1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (ours != theirs))
    return row[-1]


@pytest.mark.parametrize(
    ("output", "reference", "edits", "similar"),
    [
        # k → s, e → i, + g
        ("kitten", "sitting", 3, 1 - 3 / 7),
        ("same", "same", 0, 1.0),
        ("x", "", 1, 0.0),
        ("東京都", "東京", 1, 1 - 1 / 3),
        ("cafe\u0301", "café", 0, 1.0),
        ("ISPARTA", "ısparta", 7, 0.0),
        ("🙂🙃", "🙃🙂", 2, 0.0),
        ("kitten", ["mittens", "smitten"], 2, 1 - 2 / 7),
        (12, 13, 1, 0.5),
    ],
)
def test_edits_by_hand(output: object, reference: object, edits: int, similar: float, measure: Measure) -> None:
    assert measure("heuristic/levenshtein", output=output, reference=reference).score == edits
    found = measure("heuristic/levenshtein_similarity", output=output, reference=reference)
    assert found.score == pytest.approx(similar)


def test_words_may_be_what_is_edited(measure: Measure) -> None:
    point = {"output": "The red kite flies", "reference": "the blue kite"}

    assert measure("heuristic/levenshtein", {"unit": "words"}, **point).score == 2
    assert measure("heuristic/levenshtein_similarity", {"unit": "words"}, **point).score == 0.5


@pytest.mark.parametrize(("most", "status"), [(None, Status.UNKNOWN), (3, Status.PASS), (2, Status.FAIL)])
def test_a_distance_passes_only_where_a_most_is_given(most: int | None, status: Status, measure: Measure) -> None:
    metric = measure("heuristic/levenshtein", {"most": most}, output="kitten", reference="sitting")

    assert metric.status is status


def test_without_a_reference_nothing_is_compared(measure: Measure) -> None:
    assert measure("heuristic/levenshtein", output="x", reference=None).outcome is Outcome.INCONCLUSIVE
    assert measure("heuristic/levenshtein_similarity", output="x").outcome is Outcome.INCONCLUSIVE


def test_a_text_that_would_take_minutes_is_refused(measure: Measure) -> None:
    metric = measure("heuristic/levenshtein", output="x" * 100_001, reference="x")

    assert metric.outcome is Outcome.FAILED
    assert "100001 characters" in str(metric.error)


@given(TEXT, TEXT)
def test_the_table_says_the_same_as_the_library_and_as_columns_do(one: str, other: str) -> None:
    assert distance(one, other) == distance_by_columns(one, other) == _by_the_table(one, other)


@given(TEXT, TEXT, TEXT)
def test_it_is_a_distance(one: str, other: str, third: str) -> None:
    assert distance(one, other) == distance(other, one)
    assert (distance(one, other) == 0) == (one == other)
    assert distance(one, third) <= distance(one, other) + distance(other, third)


@given(st.text(min_size=1, max_size=20), st.text(max_size=20))
def test_similarity_stays_in_range(one: str, other: str) -> None:
    score = levenshtein_similarity(DataPoint(output=one, reference=other), SimilarityOptions()).score

    assert score is not None
    assert 0 <= float(score) <= 1
    assert similarity(0, 0) == 1
