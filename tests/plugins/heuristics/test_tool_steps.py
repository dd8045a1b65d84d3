"""Tool selection, step efficiency, loops."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genkit_eval import EvalMetric, Outcome, Status
from genkit_eval_heuristics.tool_loops import Loop, loops_in, unlooped_share
from genkit_eval_heuristics.tool_steps import efficiency, selection_parts

Measure = Callable[..., EvalMetric]

NAMES = st.lists(st.sampled_from("abcd"), max_size=12)


def _calls(names: str | list[str]) -> list[dict]:
    return [{"name": name} for name in names]


@pytest.mark.parametrize(
    ("expected", "called", "score"),
    [
        pytest.param([], [], 1.0, marks=pytest.mark.case("heuristic-tools/none-expected-none-used")),
        pytest.param([], ["search"], 0.5, marks=pytest.mark.case("heuristic-tools/none-expected-some-used")),
        pytest.param(["search"], [], 0.0, marks=pytest.mark.case("heuristic-tools/expected-but-none-used")),
        pytest.param(["search"] * 2, ["search"] * 2, 1.0, marks=pytest.mark.case("heuristic-tools/repeated-tool")),
        # precision 2/3, recall 1, order 1
        (["a", "b"], ["a", "x", "b"], (2 / 3 + 1 + 1) / 3),
        # precision 1, recall 1, order 1/2
        (["a", "b"], ["b", "a"], (1 + 1 + 0.5) / 3),
        # precision 1/3, recall 1/2, order 1/2: one of the three counts
        (["a", "b"], ["a", "a", "a"], (1 / 3 + 1 / 2 + 1 / 2) / 3),
    ],
)
def test_tool_selection_is_the_mean_of_precision_recall_and_order(
    measure: Measure, expected: list[str], called: list[str], score: float
) -> None:
    found = measure("heuristic/tool_selection", expected_tools=_calls(expected), tools=_calls(called))

    assert found.score == pytest.approx(score)
    assert found.outcome is Outcome.VERDICT


def test_tool_selection_finds_each_tool_as_often_as_it_is_expected_or_called(measure: Measure) -> None:
    found = measure("heuristic/tool_selection", expected_tools=_calls("aab"), tools=_calls("acc"))

    assert [(finding.text, finding.passed, finding.reason) for finding in found.findings] == [
        ("a", True, None),
        ("a", False, "expected, not called"),
        ("b", False, "expected, not called"),
        ("c", False, "called, not expected"),
        ("c", False, "called, not expected"),
    ]


@pytest.mark.parametrize("lacking", ["tools", "expected_tools"])
def test_tool_selection_needs_to_know_both(measure: Measure, lacking: str) -> None:
    point = {"tools": [], "expected_tools": []}
    del point[lacking]

    assert measure("heuristic/tool_selection", **point).outcome is Outcome.INCONCLUSIVE


@given(NAMES, NAMES.filter(bool))
def test_selection_parts_are_shares(called: list[str], expected: list[str]) -> None:
    parts = selection_parts(expected, called)

    assert all(0 <= part <= 1 for part in parts.values())
    assert parts["order"] <= parts["recall"]
    assert selection_parts(expected, expected) == {"precision": 1, "recall": 1, "order": 1}


@pytest.mark.case("heuristic-tools/step-efficiency")
@pytest.mark.parametrize(("expected", "actual", "score"), [(3, 2, 1.0), (3, 6, 0.5), (3, 3, 1.0), (None, 4, 1.0)])
def test_step_efficiency_is_never_above_one(measure: Measure, expected: int | None, actual: int, score: float) -> None:
    found = measure("heuristic/step_efficiency", {"expected_steps": expected}, tools=_calls("a" * actual))

    assert found.score == score


@pytest.mark.parametrize(("expected", "actual", "score"), [(0, 0, 1.0), (0, 3, 0.0), (2, 0, 1.0)])
def test_step_efficiency_takes_zero_for_a_count(measure: Measure, expected: int, actual: int, score: float) -> None:
    found = measure("heuristic/step_efficiency", {"expected_steps": expected}, tools=_calls("a" * actual))

    assert found.score == score


def test_expected_steps_come_from_the_sample_the_run_or_the_expected_tools(measure: Measure) -> None:
    four = _calls("abcd")

    def score(**point: object) -> object:
        return measure("heuristic/step_efficiency", {"expected_steps": 2}, tools=four, **point).score

    assert score(custom={"expected_steps": 1}) == 0.25
    assert score(expected_tools=_calls("abc")) == 0.5
    assert measure("heuristic/step_efficiency", tools=four, expected_tools=_calls("abc")).score == 0.75


def test_without_a_record_of_tools_steps_cannot_be_counted(measure: Measure) -> None:
    assert measure("heuristic/step_efficiency", {"expected_steps": 2}).outcome is Outcome.INCONCLUSIVE


@given(st.integers(0, 50), st.integers(0, 50))
def test_efficiency_is_a_share_that_more_steps_never_raise(expected: int, actual: int) -> None:
    assert 0 <= efficiency(expected, actual + 1) <= efficiency(expected, actual) <= 1


@pytest.mark.parametrize(
    ("calls", "loops"),
    [
        ("", []),
        ("abc", []),
        ("aab", []),
        ("aaa", [Loop(0, 1, 3)]),
        ("xaaaay", [Loop(1, 1, 4)]),
        ("ababab", [Loop(0, 2, 3)]),
        ("xabcabcabcab", [Loop(1, 3, 3)]),
        ("aaabbb", [Loop(0, 1, 3), Loop(3, 1, 3)]),
        # a round of five is longer than is looked for
        ("abcdeabcdeabcde", []),
    ],
)
def test_a_loop_is_a_round_of_calls_three_times_in_a_row(calls: str, loops: list[Loop]) -> None:
    assert loops_in(calls) == loops


def test_a_loop_fails_the_case_and_is_named(measure: Measure) -> None:
    search = {"name": "search", "arguments": {"q": "late order", "page": 1}}
    same = {"name": "search", "arguments": {"page": 1, "q": "late order"}}

    found = measure("heuristic/tool_loops", tools=[search, same, search, {"name": "reply"}])

    assert (found.score, found.status) == (0.5, Status.FAIL)
    assert found.rationale == "search 3 times in a row, from call 1 on"


def test_other_arguments_are_another_call(measure: Measure) -> None:
    pages = [{"name": "search", "arguments": {"page": page}} for page in range(9)]

    found = measure("heuristic/tool_loops", tools=pages)

    assert (found.score, found.status) == (1, Status.PASS)


def test_how_many_rounds_make_a_loop_is_an_option(measure: Measure) -> None:
    assert measure("heuristic/tool_loops", {"rounds": 2}, tools=_calls("aab")).score == pytest.approx(2 / 3)
    assert measure("heuristic/tool_loops", {"longest": 5}, tools=_calls("abcde" * 3)).score == pytest.approx(1 / 3)


@pytest.mark.parametrize("point", [{"tools": []}, {}])
def test_without_a_call_there_is_no_loop_to_look_for(measure: Measure, point: dict) -> None:
    assert measure("heuristic/tool_loops", **point).outcome is Outcome.INCONCLUSIVE


@given(NAMES.filter(bool))
def test_loops_do_not_overlap_and_leave_a_share_above_zero(calls: list[str]) -> None:
    loops = loops_in(calls, rounds=2)

    ends = [(loop.start, loop.start + loop.size * loop.rounds) for loop in loops]
    assert all(end <= start for (_, end), (start, _) in pairwise(ends))
    assert 0 < unlooped_share(loops, len(calls)) <= 1


def test_a_loop_is_one_however_its_arguments_are_written(measure: Measure) -> None:
    written = [{"order": 7, "all": True}, '{"order":7,"all":true}', '{ "all": true, "order": 7 }']

    found = measure("heuristic/tool_loops", tools=[{"name": "find", "arguments": given} for given in written])

    assert found.score == pytest.approx(1 / 3)
