"""What two sequences have in common, and that long ones are refused instead of compared for hours."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from genkit_eval import EvalMetric, Outcome
from genkit_eval_heuristics.sequences import common_subsequence

Measure = Callable[..., EvalMetric]

CALLS = [{"name": "ping"}]


def _common_by_the_table(one: str, other: str) -> int:
    row = [0] * (len(other) + 1)
    for ours in one:
        before = row[:]
        for j, theirs in enumerate(other, start=1):
            row[j] = before[j - 1] + 1 if ours == theirs else max(before[j], row[j - 1])
    return row[-1]


@given(st.text("abc", max_size=12), st.text("abc", max_size=12))
def test_the_table_says_the_same(one: str, other: str) -> None:
    assert common_subsequence(one, other) == common_subsequence(other, one) == _common_by_the_table(one, other)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("heuristic/rouge_l", {}),
        ("heuristic/rouge_l", {"tokens": "unicode"}),
        ("heuristic/levenshtein", {}),
        ("heuristic/levenshtein_similarity", {"unit": "words"}),
    ],
)
def test_texts_that_take_too_long_are_refused(name: str, options: dict[str, JsonValue], measure: Measure) -> None:
    found = measure(name, options, output="a " * 60_000, reference="a")

    assert found.outcome is Outcome.FAILED
    assert "too many to compare" in str(found.error)


@pytest.mark.parametrize("name", ["rule/tool_correctness", "rule/argument_match"])
def test_so_are_calls_that_would_be_compared_each_with_each(name: str, measure: Measure) -> None:
    found = measure(name, tools=CALLS * 2_100, expected_tools=CALLS * 2_100)

    assert found.outcome is Outcome.FAILED
    assert "2100 expected" in str(found.error)


@pytest.mark.parametrize("name", ["rule/tool_correctness", "rule/argument_match", "heuristic/tool_selection"])
def test_thousands_of_calls_are_compared_with_the_few_expected(name: str, measure: Measure) -> None:
    assert measure(name, tools=CALLS * 20_000, expected_tools=CALLS).outcome is Outcome.VERDICT
