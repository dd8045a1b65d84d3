"""Argument match, and how calls are compared."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genkit_eval import EvalMetric, Outcome, ToolCall
from genkit_eval_heuristics.tool_arguments import agreement, expected_share, same_json

Measure = Callable[..., EvalMetric]


def _calls(*names: str) -> list[dict]:
    return [{"name": name} for name in names]


def _call(name: str, **arguments: object) -> dict:
    return {"name": name, "arguments": arguments}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=2),
    max_leaves=5,
)


ARGUMENTS = st.dictionaries(st.sampled_from("xyz"), VALUES, max_size=3)


@pytest.mark.parametrize(
    ("called", "score"),
    [
        ([_call("a", x=1, y=2)], 1),
        ([_call("a", x=1, y=3)], 0.5),
        # an argument too many is not asked about
        ([_call("a", x=1, y=2, z=3)], 1),
        ([_call("a", x=True, y="2")], 0),
        ([_call("b", x=1, y=2)], 0),
        # the call that fits best is the matched one
        ([_call("a"), _call("a", x=1, y=2)], 1),
    ],
)
def test_argument_match_is_the_share_of_expected_arguments(measure: Measure, called: list[dict], score: float) -> None:
    found = measure("rule/argument_match", expected_tools=[_call("a", x=1, y=2)], tools=called)

    assert found.score == score


def test_argument_match_is_the_mean_over_the_expected_calls(measure: Measure) -> None:
    found = measure(
        "rule/argument_match",
        expected_tools=[_call("a", x=1, y=2), _call("b", z={"k": [1, 2]}), {"name": "c"}, {"name": "d"}],
        tools=[_call("c", q=1), _call("b", z={"k": [1, 2.0]}), _call("a", x=1)],
    )

    assert found.score == pytest.approx((0.5 + 1 + 1 + 0) / 4)


def test_without_an_expected_call_argument_match_is_inconclusive(measure: Measure) -> None:
    assert measure("rule/argument_match", expected_tools=[], tools=_calls("a")).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        (None, False, False),
        ("1", 1, False),
        ([1, 2], [2, 1], False),
        ({"a": 1, "b": [True]}, {"b": [True], "a": 1}, True),
        ({"a": [True]}, {"a": [1]}, False),
        ({}, [], False),
    ],
)
def test_values_are_compared_as_json(one: object, other: object, same: bool) -> None:
    assert same_json(one, other) is same
    assert same_json(other, one) is same


@pytest.mark.parametrize("levels", [300, 500, 900])
def test_arguments_that_nest_deeply_are_compared_like_any_others(measure: Measure, levels: int) -> None:
    deep = {"a": "[" * levels + "1" + "]" * levels, "b": "[" * levels + "2" + "]" * levels}
    expected = [{"name": "search", "arguments": f'{{"x": {deep["a"]}, "y": 1}}'}]
    called = [{"name": "search", "arguments": f'{{"x": {deep["b"]}, "y": 1.0}}'}]

    for name in ("rule/argument_match", "heuristic/tool_selection"):
        metric = measure(name, tools=called, expectedTools=expected)
        assert metric.error is None

    assert measure("rule/argument_match", tools=called, expectedTools=expected).score == 0.5
    assert measure("rule/argument_match", tools=expected, expectedTools=expected).score == 1
    assert measure("heuristic/tool_loops", tools=expected * 3).score == pytest.approx(1 / 3)


@given(VALUES)
def test_a_value_is_itself(value: object) -> None:
    assert same_json(value, json.loads(json.dumps(value)))


@given(ARGUMENTS, ARGUMENTS)
def test_agreement_is_symmetric_and_never_above_the_expected_share(ours: dict, theirs: dict) -> None:
    one, other = ToolCall(name="a", arguments=ours), ToolCall(name="a", arguments=theirs)

    assert agreement(one, other) == agreement(other, one)
    assert 0 <= agreement(one, other) <= expected_share(one, other) <= 1


@pytest.mark.parametrize(
    ("name", "options", "called", "told"),
    [
        ("rule/argument_match", {}, [_call("find", city="Bonn", days=2)], 'find: city is "Bonn", expected "Köln"'),
        ("rule/argument_match", {}, [_call("find")], 'find: city is not given, expected "Köln", and more'),
        ("rule/argument_match", {}, _calls("seek"), "find: not called"),
        (
            "rule/tool_correctness",
            {"compare_arguments": True},
            [_call("find", city="Köln", days=2, unit="C")],
            "find: unit was not expected",
        ),
        (
            "rule/tool_correctness",
            {"match": "in_order"},
            [_call("seek"), _call("find")],
            "seek: not at its place, or not often enough",
        ),
        (
            "rule/tool_correctness",
            {"compare_output": True},
            [{**_call("find", city="Köln", days=2), "output": 1}],
            "find: another output than expected",
        ),
    ],
)
def test_what_is_wrong_with_a_call_is_told(
    measure: Measure, name: str, options: dict[str, object], called: list[dict], told: str
) -> None:
    expected = [{**_call("find", city="Köln", days=2), "output": 2}]
    if options.get("match"):
        expected += _calls("seek")

    found = measure(name, options, tools=called, expected_tools=expected)

    assert told in str(found.rationale)
    assert told in [f"{finding.text}: {finding.reason}" for finding in found.findings]
