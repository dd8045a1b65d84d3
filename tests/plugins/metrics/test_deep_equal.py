"""genkitEval/deep_equal."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genkit_eval import DataPoint, Score, Status
from genkit_eval.errors import NotJson
from genkit_eval_metrics.deep_equal import DeepEqualOptions, deep_equal

DEEP = json.loads("[" * 190 + "1" + "]" * 190)


@pytest.mark.case("deep-equal/true-vs-one")
@pytest.mark.parametrize(("output", "reference"), [(1, True), (0, False), ({"a": 1}, {"a": True}), ([[0]], [[False]])])
def test_a_boolean_is_not_a_number(judge, output: object, reference: object) -> None:
    assert judge("deep_equal", output, reference).status is Status.FAIL


@pytest.mark.case("deep-equal/int-vs-float")
@pytest.mark.parametrize(("output", "reference"), [(1, 1.0), ([2], [2.0]), ({"n": 100}, {"n": 100.0}), (-0.0, 0)])
def test_json_has_one_type_of_number(judge, output: object, reference: object) -> None:
    assert judge("deep_equal", output, reference).status is Status.PASS


@pytest.mark.parametrize("reference", [9007199254740992, 9007199254740992.0])
def test_large_whole_numbers_are_compared_digit_by_digit(judge, reference: float) -> None:
    assert judge("deep_equal", 9007199254740993, reference).status is Status.FAIL


def test_whole_numbers_beyond_64_bits_are_compared_digit_by_digit(judge) -> None:
    assert judge("deep_equal", {"n": 10**30}, {"n": 10**30}).status is Status.PASS
    assert judge("deep_equal", {"n": 10**30}, {"n": 10**30 + 1}).status is Status.FAIL


@pytest.mark.case("deep-equal/key-order")
def test_the_order_of_keys_does_not_matter(judge) -> None:
    output, reference = {"b": 2, "a": [1, {"y": 0, "x": 0}]}, {"a": [1, {"x": 0, "y": 0}], "b": 2}

    assert judge("deep_equal", output, reference).status is Status.PASS


@pytest.mark.case("deep-equal/list-order")
def test_the_order_of_a_list_matters(judge) -> None:
    score = judge("deep_equal", [1, 2, 2], [2, 1, 2])

    assert score.status is Status.FAIL
    assert score.reason == "at [0]: output is 1, reference is 2; at [1]: output is 2, reference is 1"


@pytest.mark.case("deep-equal/float-noise")
def test_numbers_are_compared_exactly_unless_a_tolerance_is_given(judge) -> None:
    assert judge("deep_equal", 0.30000000000000004, 0.3).status is Status.FAIL
    assert judge("deep_equal", {"x": [0.30000000000000004]}, {"x": [0.3]}, tolerance=1e-9).status is Status.PASS
    assert judge("deep_equal", 0.31, 0.3, tolerance=1e-9).status is Status.FAIL
    assert judge("deep_equal", 1, True, tolerance=1).status is Status.FAIL


def test_a_tolerance_does_not_trip_over_numbers_no_float_can_hold(judge) -> None:
    assert judge("deep_equal", 10**400, 1.5, tolerance=1).status is Status.FAIL
    assert judge("deep_equal", 10**400 + 1, 10**400, tolerance=1).status is Status.PASS


@pytest.mark.parametrize("tolerance", [-1, float("nan"), float("inf")])
def test_a_tolerance_that_makes_no_sense_is_refused(tolerance: float) -> None:
    with pytest.raises(ValueError, match="tolerance"):
        DeepEqualOptions(tolerance=tolerance)


@pytest.mark.case("deep-equal/null-vs-missing")
def test_a_null_is_not_a_missing_key(judge) -> None:
    score = judge("deep_equal", {"a": None}, {})

    assert (score.status, score.reason) == (Status.FAIL, "at a: not in the reference")


@pytest.mark.case("deep-equal/string-vs-number")
def test_a_string_is_not_a_number(judge) -> None:
    score = judge("deep_equal", "1", 1)

    assert (score.status, score.reason) == (Status.FAIL, "output is a string, reference is the number 1")


@pytest.mark.case("deep-equal/falsy-values-compared")
@pytest.mark.parametrize("value", [False, 0, "", [], {}, None])
def test_a_falsy_value_is_a_value(judge, value: object) -> None:
    assert judge("deep_equal", value, value).status is Status.PASS


@pytest.mark.case("deep-equal/falsy-values-compared")
def test_two_falsy_and_other_values_differ(judge) -> None:
    assert judge("deep_equal", 0, 5).status is Status.FAIL
    assert judge("deep_equal", None, 0).status is Status.FAIL


@pytest.mark.case("deep-equal/json-text-vs-object")
def test_json_as_text_is_not_parsed(judge) -> None:
    score = judge("deep_equal", '{"a": 1}', {"a": 1})

    assert (score.status, score.reason) == (Status.FAIL, "output is a string, reference is an object")


@pytest.mark.case("deep-equal/tuple-vs-list")
def test_a_tuple_is_compared_as_the_list_it_is_stored_as(judge) -> None:
    assert judge("deep_equal", (1, 2), [1, 2]).status is Status.PASS
    assert judge("deep_equal", {1: "one"}, {"1": "one"}).status is Status.PASS


@pytest.mark.case("deep-equal/cyclic-output")
def test_an_output_that_holds_itself_is_refused(judge) -> None:
    cycle: list[object] = []
    cycle.append(cycle)

    with pytest.raises(NotJson, match="cycle"):
        judge("deep_equal", cycle, [])


def test_the_reason_names_each_place_that_differs(judge) -> None:
    output = {"items": [{"price": 5}, {"price": "6"}], "extra": None, "kept": 1}
    reference = {"items": [{"price": 5}, {"price": 6}], "total": 11, "kept": 1}

    assert judge("deep_equal", output, reference).reason == (
        "at items[1].price: output is a string, reference is the number 6; "
        "at total: missing in the output; at extra: not in the reference"
    )


def test_the_reason_names_lists_of_unequal_length(judge) -> None:
    reason = judge("deep_equal", [1], [1, 2, 3]).reason

    assert (
        reason
        == "output has 1 items, reference 3; at [1]: 2 is missing in the output; at [2]: 3 is missing in the output"
    )


def test_the_reason_stays_short(judge) -> None:
    score = judge("deep_equal", ["x" * 5000] * 1000, [{"k" * 5000: 1}] * 1000)

    assert len(score.reason) <= 501
    assert judge("deep_equal", [1] * 9, [2] * 9).reason.endswith("; and more")


def test_deep_values_are_compared(judge) -> None:
    assert judge("deep_equal", DEEP, DEEP).status is Status.PASS
    assert judge("deep_equal", DEEP, [DEEP]).status is Status.FAIL


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-3, 3).map(round) | st.sampled_from(["", "1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=6,
)


def typed(value: object) -> object:
    """A value that Python's == compares by JSON type."""
    if isinstance(value, dict):
        return {key: typed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [typed(item) for item in value]
    return isinstance(value, bool), value


@given(JSON, JSON)
def test_it_agrees_with_a_plain_typed_comparison(output: object, reference: object) -> None:
    point = DataPoint(output=output, reference=reference)

    passed = deep_equal(point, DeepEqualOptions()) is True

    assert passed is (typed(output) == typed(reference))


@given(JSON, JSON)
def test_it_is_symmetric_and_a_difference_always_has_a_reason(output: object, reference: object) -> None:
    there = deep_equal(DataPoint(output=output, reference=reference), DeepEqualOptions(tolerance=0.5))
    back = deep_equal(DataPoint(output=reference, reference=output), DeepEqualOptions(tolerance=0.5))

    assert (there is True) is (back is True)
    assert there is True or there.reason


def test_lists_of_different_length_are_aligned_to_tell_what_is_missing() -> None:
    point = DataPoint(output=["b", "c", {"d": 1}], reference=["a", "b", "c", {"d": 1}])

    score = deep_equal(point, DeepEqualOptions())

    assert isinstance(score, Score)
    assert score.reason == 'output has 3 items, reference 4; at [0]: "a" is missing in the output'


def test_long_lists_are_told_apart_by_their_length_only() -> None:
    point = DataPoint(output=list(range(5_000)), reference=list(range(5_001)))

    score = deep_equal(point, DeepEqualOptions())

    assert isinstance(score, Score)
    assert score.reason == "output has 5000 items, reference 5001"
