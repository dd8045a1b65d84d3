"""genkitEval/jsonata."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from genkit_eval import Sample, Status
from genkit_eval.errors import DataError, GenkitEvalError
from genkit_eval_metrics.jsonata import JsonataOptions, check_jsonata


@pytest.mark.case("jsonata/undefined-result")
def test_a_path_that_matches_nothing_is_a_fail_without_a_result(judge) -> None:
    score = judge("jsonata", {"order": {}}, "order.total")

    assert (score.score, score.status, score.details) == (False, Status.FAIL, None)
    assert score.reason == "the result is undefined: nothing in the output matches"


@pytest.mark.case("jsonata/singleton-sequence")
@pytest.mark.parametrize(("items", "passed"), [([{"price": 5}], True), ([{"price": 5}, {"price": 6}], False)])
def test_a_sequence_of_one_is_its_item(judge, items: list[object], passed: bool) -> None:
    assert judge("jsonata", {"items": items}, "items.price = 5").score is passed


@pytest.mark.case("jsonata/missing-not-equal")
def test_comparing_with_what_is_missing_is_false(judge) -> None:
    assert judge("jsonata", {}, 'state != "failed"').status is Status.FAIL


@pytest.mark.case("jsonata/type-error")
def test_comparing_a_string_with_a_number_is_an_error_that_names_both_types(judge) -> None:
    with pytest.raises(DataError, match=r"same data type: a string and a number \(T2009\), in 'n > 1'"):
        judge("jsonata", {"n": "2"}, "n > 1")


@pytest.mark.case("jsonata/syntax-error")
def test_a_syntax_error_names_code_and_position(judge) -> None:
    with pytest.raises(DataError, match=r"Expected \) before end of expression \(S0203 at position 4\), in 'foo\('"):
        judge("jsonata", {}, "foo(")


@pytest.mark.case("jsonata/syntax-error")
@pytest.mark.parametrize(
    ("sample", "problem"),
    [
        (Sample(reference="order.total = 5"), None),
        (
            Sample(reference="foo("),
            "JSONata: Expected ) before end of expression (S0203 at position 4), in 'foo('",
        ),
        (Sample(reference=""), "JSONata: Unexpected end of expression (S0207 at position 0), in ''"),
        (Sample(reference=5), "reference must be text (a JSONata expression), found number 5"),
        (Sample(), "reference must be text (a JSONata expression), found none"),
        (Sample(reference="a" * 100_001), "reference has 100001 characters: a JSONata expression may have 100000"),
    ],
)
def test_the_check_finds_what_is_wrong_with_a_reference_before_a_run(sample: Sample, problem: str | None) -> None:
    assert check_jsonata(sample, JsonataOptions()) == problem


@pytest.mark.case("jsonata/division-by-zero")
def test_division_by_zero_is_an_error(judge) -> None:
    with pytest.raises(DataError, match="division by zero"):
        judge("jsonata", {"total": 4, "count": 0}, "total / count > 1")


@pytest.mark.case("jsonata/tuple-output")
def test_a_tuple_is_the_list_it_is_stored_as(judge) -> None:
    assert judge("jsonata", (1, 2), "$count($) = 2").status is Status.PASS


@pytest.mark.case("jsonata/falsy-output")
@pytest.mark.parametrize(
    ("expression", "output"), [("$ = 0", 0), ('$ = ""', ""), ("$not($)", False), ("$ = null", None)]
)
def test_a_falsy_output_is_a_value(judge, expression: str, output: object) -> None:
    assert judge("jsonata", output, expression).status is Status.PASS


@pytest.mark.case("jsonata/null-vs-missing")
@pytest.mark.parametrize(("output", "passed"), [({"a": None}, True), ({}, False)])
def test_null_is_not_missing(judge, output: object, passed: bool) -> None:
    assert judge("jsonata", output, "a = null").score is passed


@pytest.mark.case("jsonata/float-equality")
def test_numbers_are_floats(judge) -> None:
    assert judge("jsonata", {"a": 0.1, "b": 0.2}, "a + b = 0.3").status is Status.FAIL


@pytest.mark.parametrize(
    ("result", "passed"),
    [
        (None, False), (False, False), (True, True), (0, False), (-1, True), ("", False), ("false", True),
        ([], False), ([0], False), ([0, 0], False), ([0, 1], True), ([[1]], True), ({}, False), ({"a": 0}, True),
    ],
)  # fmt: skip
def test_the_verdict_is_jsonatas_own_boolean_of_the_result(judge, result: object, passed: bool) -> None:
    assert judge("jsonata", result, "$").score is passed


def test_a_function_is_false(judge) -> None:
    assert judge("jsonata", {}, "$sum").reason == "the result is a function"
    assert judge("jsonata", {}, "function($x){$x}").status is Status.FAIL


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("items.price", [5, 6]),
        ("items[0]", {"price": 5}),
        ("none", None),
        ("$count(items)", 2),
        ("big", 10**30),
        ('"\\ud83d\\ude00"', "😀"),
        ("[1..3]", [1, 2, 3]),
        ('{"f": $sum, "n": null}', {"f": "", "n": None}),
    ],
)
def test_the_result_is_kept_in_the_details(judge, expression: str, result: object) -> None:
    output = {"items": [{"price": 5}, {"price": 6}], "none": None, "big": 10**30}

    assert judge("jsonata", output, expression).details == {"result": result}


@pytest.mark.parametrize(
    ("expression", "omitted"),
    [
        ("[1..100000]", "an array with 100000 items, too long or too deep to keep"),
        ('$pad("x", 30000)', "text of 30000 characters"),
        ("deep", "an array with 1 items, too long or too deep to keep"),
    ],
)
def test_a_result_too_large_to_keep_is_described(judge, expression: str, omitted: str) -> None:
    deep: list[object] = []
    for _ in range(150):
        deep = [deep]

    score = judge("jsonata", {"deep": deep}, expression)

    assert score.details == {"resultOmitted": omitted}


def test_a_result_that_is_no_json_is_an_error(judge) -> None:
    with pytest.raises(DataError, match="the number nan, which is not finite"):
        judge("jsonata", {}, '$number("nan")')


def test_a_text_output_is_parsed_only_on_request(judge) -> None:
    assert judge("jsonata", '{"a": 1}', "a = 1").status is Status.FAIL
    assert judge("jsonata", '{"a": 1}', "a = 1", parse_json=True).status is Status.PASS
    assert judge("jsonata", {"a": 1}, "a = 1", parse_json=True).status is Status.PASS


@pytest.mark.parametrize("output", ["not json", "", "NaN", "[" * 100_000, "[" * 100_000 + "1234567890123456789"])
def test_text_that_is_not_json_is_an_error_when_it_is_to_be_parsed(judge, output: str) -> None:
    with pytest.raises(GenkitEvalError, match="JSON"):
        judge("jsonata", output, "$", parse_json=True)


@pytest.mark.parametrize("reference", [42, None, ["x"]])
def test_a_reference_that_is_not_text_is_an_error(judge, reference: object) -> None:
    with pytest.raises(DataError, match="reference must be text"):
        judge("jsonata", {}, reference)


RUNAWAYS = {
    "a tail call": ("($loop := function($n){ $loop($n + 2) }; $loop(0))", "timeout"),
    "a recursion": ("($f := function($n){ 1 + $f($n + 1) }; $f(0))", "recurses too deeply"),
    "a range": ("[1..10000000]", "range 1..10000000 has more than 1000000 numbers"),
    "ranges of ranges": ("$count([1..1000000].([1..1000000]))", "timeout|out of memory"),
    "a regex": ("$contains(text, /^(a|aa)+$/)", "timeout"),
    "a text that doubles": ("($f := function($s){ $f($s & $s) }; $f('abcdefgh'))", "out of memory|timeout"),
    "a long text": ("$pad('x', 2000000000)", "out of memory"),
    "a rebound guard": (
        "($__evaluate_entry := function(){0}; $loop := function($n){ $loop($n + 2) }; $loop(0))",
        r"\$__evaluate_entry is reserved",
    ),
    "rebound functions": (
        "($sum := function($x){ $count($x) }; $count := function($x){ $sum($x) }; $sum([1, 2]))",
        "timeout|recurses",
    ),
    "an eval": ('$eval("($loop := function($n){ $loop($n + 2) }; $loop(0))")', "timeout"),
    "much to parse": ("(" * 50_000, "timeout|deeply|died"),
}


@pytest.mark.case("jsonata/endless-tail-call")
@pytest.mark.parametrize(("expression", "end"), RUNAWAYS.values(), ids=RUNAWAYS)
def test_a_runaway_expression_ends_and_the_next_one_works(judge, expression: str, end: str) -> None:
    with pytest.raises(GenkitEvalError, match=end):
        judge("jsonata", {"text": "a" * 60 + "!"}, expression, timeout_seconds=1)

    assert judge("jsonata", [1, 2], "$sum($) = 3 and $count($) = 2").status is Status.PASS


@pytest.mark.case("jsonata/endless-tail-call")
def test_others_are_judged_while_an_expression_runs_away(judge) -> None:
    with ThreadPoolExecutor() as threads:
        runaway = threads.submit(judge, "jsonata", {}, RUNAWAYS["a tail call"][0], timeout_seconds=2)

        others = [judge("jsonata", {"n": number}, f"n = {number}").status for number in range(20)]

        assert others == [Status.PASS] * 20
        assert not runaway.done()
        with pytest.raises(DataError, match="timeout"):
            runaway.result()


STATEFUL = [
    ("($x := 5; $x)", {}), ("$x", {}), ("($sum := function($n){ 42 }; $sum([1]))", [1]), ("$sum($)", [1, 2]),
    ("($f := $sum; $f(['a']))", {}), ("$sum(['a'])", {}), ("($ := 1; $)", {}), ("$", 7), ("$eval('$x := 3')", {}),
    ("($count := 5; $count)", [1]), ("$count($)", [1]), ("foo(", {}), ("a.b", {"a": {"b": 0}}),
    ("$map($, function($v){ $v * 2 })", [1, 2]), ("($g := $map(?, function($v){ $v }); $g([1]))", {}), ("$g", {}),
    ("$ ~> |$|{'b': 2}|", {"a": 1}), ("$.b", {"a": 1}), ("$[]", 1), ("$merge([$, {'x': 1}])", {"y": 2}),
    ("$sort($, function($l, $r){ $l < $r })", [1, 3, 2]), ("1 / 0", {}), ("n > 1", {"n": "2"}), ("**", {"a": [1]}),
    ("$string($lookup)", {}), ("($string := 1; $string)", {}), ("$match('ab', /a/)", {}),
    ("$replace($, /b/, 'c')", "b"),
]  # fmt: skip


def test_the_scores_are_the_same_in_any_order_and_from_any_thread(judge) -> None:
    def outcome(case: tuple[str, object]) -> str:
        try:
            return repr(judge("jsonata", case[1], case[0]).to_json())
        except GenkitEvalError as problem:
            return str(problem)

    expected = {repr(case): outcome(case) for case in STATEFUL}
    shuffled = STATEFUL * 20
    random.Random(7).shuffle(shuffled)
    with ThreadPoolExecutor(8) as threads:
        found = list(zip(map(repr, shuffled), threads.map(outcome, shuffled), strict=True))

    assert [(case, text) for case, text in found if text != expected[case]] == []


def test_the_clock_of_an_expression_moves_on(judge) -> None:
    first = judge("jsonata", {}, "$millis()").details["result"]
    judge("jsonata", {}, "1")
    while (second := judge("jsonata", {}, "$millis()").details["result"]) == first:
        pass

    assert second > first


def test_a_large_output_is_evaluated(judge) -> None:
    output = {"rows": [{"n": number, "text": "x" * 50} for number in range(20_000)]}

    assert judge("jsonata", output, "$count(rows) = 20000", timeout_seconds=30).status is Status.PASS
