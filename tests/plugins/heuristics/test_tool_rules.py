"""Tool permission and tool correctness."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genkit_eval import EvalMetric, Finding, Outcome, Status, ToolCall
from genkit_eval.errors import InvalidOptions
from genkit_eval_heuristics.tool_correctness import (
    ToolCorrectnessOptions,
    credits_anywhere,
    credits_in_order,
    mean_credit,
    tool_findings,
)
from genkit_eval_heuristics.tool_permission import authorised_share, permissions

Measure = Callable[..., EvalMetric]

NAMES = st.lists(st.sampled_from("abcd"), max_size=7)


def _calls(*names: str) -> list[dict]:
    return [{"name": name} for name in names]


def _call(name: str, **arguments: object) -> dict:
    return {"name": name, "arguments": arguments}


def _tools(names: Sequence[str]) -> list[ToolCall]:
    return [ToolCall(name=name) for name in names]


# permission


@pytest.mark.case("heuristic-tools/deny-beats-allow")
@pytest.mark.parametrize(("strict", "score"), [(False, 0.5), (True, 0.0)])
def test_a_tool_on_both_lists_is_denied(measure: Measure, strict: bool, score: float) -> None:
    options = {"allow": ["get", "drop"], "deny": ["drop"], "strict": strict}

    found = measure("rule/tool_permission", options, tools=_calls("get", "drop"))

    assert found.score == score
    assert [(finding.text, finding.passed, finding.reason) for finding in found.findings] == [
        ("get", True, None),
        ("drop", False, "denied"),
    ]
    assert found.rationale == "1 of 2 calls are authorised; not: drop"


@pytest.mark.parametrize(
    ("options", "score"),
    [({"allow": ["a"]}, 1 / 3), ({"deny": ["a"]}, 2 / 3), ({"allow": ["a", "b", "c"]}, 1), ({"deny": ["z"]}, 1)],
)
def test_one_list_is_enough(measure: Measure, options: dict, score: float) -> None:
    assert measure("rule/tool_permission", options, tools=_calls("a", "b", "c")).score == pytest.approx(score)


@pytest.mark.parametrize("options", [{}, {"allow": [], "deny": []}, {"strict": True}])
def test_two_empty_lists_are_refused_before_anything_runs(measure: Measure, options: dict) -> None:
    with pytest.raises(InvalidOptions, match="both lists are empty"):
        measure("rule/tool_permission", options, tools=_calls("a"))


def test_a_sample_may_have_lists_of_its_own(measure: Measure) -> None:
    score = measure("rule/tool_permission", {"allow": ["a"]}, tools=_calls("a", "b"), custom={"allow": ["b"]})

    assert [finding.passed for finding in score.findings] == [False, True]


@pytest.mark.parametrize("point", [{"tools": []}, {}])
@pytest.mark.parametrize(("name", "options"), [("rule/tool_permission", {"allow": ["a"]}), ("rule/argument_match", {})])
def test_without_a_call_there_is_nothing_to_judge(measure: Measure, name: str, options: dict, point: dict) -> None:
    assert measure(name, options, expected_tools=_calls("a"), **point).outcome is Outcome.INCONCLUSIVE


@given(
    st.lists(st.sampled_from("abcd"), min_size=1), st.sets(st.sampled_from("abcd")), st.sets(st.sampled_from("abcd"))
)
def test_permission_does_not_depend_on_the_order_of_calls(called: list[str], allow: set[str], deny: set[str]) -> None:
    findings = permissions(called, allow, deny)

    share = authorised_share(findings, strict=False)

    assert 0 <= share <= 1
    assert share == authorised_share(permissions(sorted(called), allow, deny), strict=False)
    assert authorised_share(findings, strict=True) == (1 if share == 1 else 0)


# correctness


@pytest.mark.parametrize(
    ("match", "expected", "called", "score"),
    [
        ("anywhere", "ab", "ab", 1),
        ("anywhere", "ab", "ba", 1),
        ("anywhere", "ab", "a", 0.5),
        # more calls than expected are another evaluator's question
        ("anywhere", "a", "abc", 1),
        # one call is not two
        ("anywhere", "aa", "a", 0.5),
        ("anywhere", "", "", 1),
        ("anywhere", "", "a", 0),
        ("anywhere", "a", "", 0),
        ("in_order", "abc", "acb", 2 / 3),
        ("in_order", "ab", "ba", 0.5),
        ("in_order", "ab", "axb", 1),
        ("exactly", "ab", "ab", 1),
        ("exactly", "ab", "ba", 0),
        ("exactly", "ab", "a", 0),
        ("exactly", "ab", "abc", 0),
        ("exactly", "abc", "abx", 0),
        ("exactly", "", "", 1),
        ("exactly", "", "a", 0),
    ],
)
def test_expected_tools_are_credited_as_the_match_says(
    measure: Measure, match: str, expected: str, called: str, score: float
) -> None:
    found = measure("rule/tool_correctness", {"match": match}, expected_tools=_calls(*expected), tools=_calls(*called))

    assert found.score == pytest.approx(score)
    assert found.outcome is Outcome.VERDICT


@pytest.mark.case("heuristic-tools/repeated-tool")
def test_a_tool_expected_twice_and_called_twice_is_right_twice(measure: Measure) -> None:
    twice = _calls("search", "search")

    assert measure("rule/tool_correctness", expected_tools=twice, tools=twice).score == 1


def test_none_expected_but_called_is_a_finding_that_names_the_calls(measure: Measure) -> None:
    score = measure("rule/tool_correctness", expected_tools=[], tools=_calls("delete"))

    assert [(finding.passed, finding.reason) for finding in score.findings] == [(False, "called: delete")]
    assert score.status is Status.FAIL


@pytest.mark.parametrize(
    ("called", "score"),
    [
        ({"query": "refund", "limit": 5}, 1),
        ({"query": "refund", "limit": 5.0}, 1),
        ({"query": "refund", "limit": 50}, 0.5),
        ({"query": "cancel", "limit": 50}, 0),
        # names of both sides count
        ({"query": "refund", "limit": 5, "locale": "en", "page": 1}, 0.5),
        ({"query": "refund"}, 0.5),
        ('{"query": "refund", "limit": 5}', 1),
        ("refund", 0),
        (None, 0),
    ],
)
def test_arguments_are_credited_by_the_share_that_agrees(measure: Measure, called: object, score: float) -> None:
    found = measure(
        "rule/tool_correctness",
        {"compare_arguments": True},
        expected_tools=[_call("search", query="refund", limit=5)],
        tools=[{"name": "search", "arguments": called}],
    )

    assert found.score == score


def test_an_exact_match_takes_arguments_whole(measure: Measure) -> None:
    found = measure(
        "rule/tool_correctness",
        {"match": "exactly", "compare_arguments": True},
        expected_tools=[_call("search", query="refund", limit=5)],
        tools=[_call("search", query="refund", limit=50)],
    )

    assert found.score == 0


def test_arguments_that_are_not_told_are_not_compared(measure: Measure) -> None:
    options = {"compare_arguments": True}

    untold = measure("rule/tool_correctness", options, expected_tools=_calls("a"), tools=[_call("a", x=1)])
    none = measure("rule/tool_correctness", options, expected_tools=[_call("a")], tools=[_call("a", x=1)])

    assert (untold.score, none.score) == (1, 0)


@pytest.mark.parametrize(
    ("output", "score"), [({"output": "3 free"}, 1), ({"output": "none free"}, 0), ({}, 0), ({"output": None}, 0)]
)
def test_another_output_is_no_credit_whatever_the_arguments(measure: Measure, output: dict, score: float) -> None:
    options = {"compare_output": True, "compare_arguments": True}
    expected = [{"name": "search", "arguments": {"q": 1}, "output": "3 free"}]

    found = measure(
        "rule/tool_correctness", options, expected_tools=expected, tools=[{**_call("search", q=1), **output}]
    )

    assert found.score == score


def test_the_output_does_not_matter_unless_it_is_compared(measure: Measure) -> None:
    found = measure(
        "rule/tool_correctness",
        expected_tools=[{"name": "a", "output": 1}],
        tools=[{"name": "a", "output": 2}],
    )

    assert found.score == 1


def test_the_better_match_is_taken_first(measure: Measure) -> None:
    found = measure(
        "rule/tool_correctness",
        {"compare_arguments": True},
        expected_tools=[_call("a", x=1), _call("a", x=2)],
        tools=[_call("a", x=2), _call("a", x=1)],
    )

    assert found.score == 1


@pytest.mark.parametrize(("called", "score"), [("a", 0), ("ab", 1)])
def test_strictly_anything_less_than_all_is_nothing(measure: Measure, called: str, score: float) -> None:
    found = measure("rule/tool_correctness", {"strict": True}, expected_tools=_calls("a", "b"), tools=_calls(*called))

    assert found.score == score


def test_a_partly_matching_call_is_not_passed(measure: Measure) -> None:
    found = measure(
        "rule/tool_correctness",
        {"compare_arguments": True},
        expected_tools=[_call("a", x=1, y=2)],
        tools=[_call("a", x=1, y=3)],
    )

    [finding] = found.findings
    assert (finding.passed, finding.reason) == (False, "y is 3, expected 2")


@pytest.mark.parametrize("lacking", ["tools", "expected_tools"])
@pytest.mark.parametrize("name", ["rule/tool_correctness", "rule/argument_match"])
def test_what_was_not_recorded_is_inconclusive(measure: Measure, name: str, lacking: str) -> None:
    point = {"tools": [], "expected_tools": []}
    del point[lacking]

    assert measure(name, **point).outcome is Outcome.INCONCLUSIVE


def test_the_aggregate_reads_credits_alone() -> None:
    findings = [Finding(text="?", details={"credit": credit}) for credit in (1, 0.5, 0)]

    assert mean_credit(findings) == 0.5
    assert mean_credit(findings, strict=True) == 0
    assert mean_credit(findings, match="exactly") == 0
    assert mean_credit([]) == 1


@given(NAMES, NAMES, st.sampled_from(["anywhere", "in_order", "exactly"]))
def test_correctness_is_between_zero_and_one_and_stricter_matches_give_less(
    expected: list[str], called: list[str], match: str
) -> None:
    def score(match: str) -> float:
        options = ToolCorrectnessOptions(match=match)
        return mean_credit(tool_findings(_tools(expected), _tools(called), options), match=match)

    assert 0 <= score(match) <= 1
    assert score("exactly") <= score("in_order") <= score("anywhere")


@given(NAMES.filter(bool), st.randoms())
def test_without_order_correctness_does_not_depend_on_it(expected: list[str], random) -> None:
    called = random.sample(expected, len(expected))

    assert credits_anywhere(_tools(expected), _tools(called), lambda a, b: float(a.name == b.name)) == [1] * len(called)


@given(NAMES, NAMES)
def test_credits_in_order_sum_to_the_longest_common_subsequence(expected: list[str], called: list[str]) -> None:
    def longest(one: list[str], other: list[str]) -> int:
        if not one or not other:
            return 0
        if one[0] == other[0]:
            return 1 + longest(one[1:], other[1:])
        return max(longest(one[1:], other), longest(one, other[1:]))

    credits = credits_in_order(_tools(expected), _tools(called), lambda a, b: float(a.name == b.name))

    assert sum(credits) == longest(expected, called)
