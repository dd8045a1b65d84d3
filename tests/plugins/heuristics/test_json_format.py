"""The answer as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from genkit_eval import DataPoint, EvalMetric, Finding, GenkitEval, InvalidOptions, Outcome, Status, run_sync
from genkit_eval.errors import GenkitEvalError
from genkit_eval_heuristics import heuristics
from genkit_eval_heuristics.json_diff import DiffOptions, json_diff
from genkit_eval_heuristics.json_diff import aggregate as share_of_places
from genkit_eval_heuristics.json_format import CorrectnessOptions, aggregate, json_correctness

Measure = Callable[..., EvalMetric]

SCHEMA = {"properties": {"id": {"type": "integer"}, "status": {"type": "string"}}}
SCALAR = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.5, 1.0]) | st.text("ab東", max_size=2)
JSON = st.recursive(
    SCALAR, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab.", max_size=2), inner, max_size=3)
)


def test_a_number_of_any_length_is_json(measure: Measure) -> None:
    assert measure("heuristic/json_validity", output=f"[{'9' * 5_000}]").score == 1
    assert measure("heuristic/json_validity", output=f"[{'9' * 5_000}, NaN]").score == 0


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        # 0.4 + 0.3 · 1/2 + 0.3 · 1/1: what is not there has no type
        pytest.param('{"id": 1.0}', 0.85, marks=pytest.mark.case("heuristic-json/integer-as-float")),
        # 0.4 + 0.3 + 0.3 · 1/2
        pytest.param(
            '{"id": true, "status": "ok"}', 0.85, marks=pytest.mark.case("heuristic-json/bool-is-not-integer")
        ),
        ('{"id": 12345678901234567890, "status": "ok"}', 1.0),
        pytest.param(f'{{"id": 1{"0" * 400}, "status": "ok"}}', 1.0, id="400 digits"),
        ('{"id": 1.5, "status": null}', 0.7),
        # an array has no fields: 0.4 + 0 + 0.3
        ("[1, 2]", 0.7),
        ({"id": 1, "status": "ok"}, 1.0),
    ],
)
def test_json_correctness_by_hand(answer: object, score: float, measure: Measure) -> None:
    options = {"required_fields": ["id", "status"], "json_schema": SCHEMA}

    assert measure("heuristic/json_correctness", options, output=answer).score == pytest.approx(score)


def test_a_part_with_nothing_to_check_counts_fully(measure: Measure) -> None:
    assert measure("heuristic/json_correctness", output='{"a":1}').score == 1


def test_fields_and_types_that_are_wrong_are_findings(measure: Measure) -> None:
    options = {"required_fields": ["id", "status"], "json_schema": SCHEMA}
    metric = measure("heuristic/json_correctness", options, output='{"id": "1"}')

    assert [(finding.text, finding.category, finding.passed) for finding in metric.findings] == [
        ("id", "field", True),
        ("status", "field", False),
        ("id", "type", False),
    ]
    assert metric.rationale == "status is missing; id is of type string, not of the type integer"


def test_findings_come_to_a_score_by_themselves() -> None:
    field, wrong = Finding(text="a", passed=True, category="field"), Finding(text="a", passed=False, category="type")

    assert aggregate([]) == 1
    assert aggregate([field, wrong]) == pytest.approx(0.7)


@pytest.mark.case("heuristic-json/nan-token-invalid")
@pytest.mark.case("heuristic-json/trailing-text-invalid")
@pytest.mark.parametrize(
    "answer",
    ['{"x": NaN}', '{"x": -Infinity}', '{"a":1} thanks', '{"a":1}{"a":2}', "{'a': 1}", "[1,]", "\ufeff{}", '"\t"'],
)
def test_what_a_strict_parser_refuses_is_not_json(answer: str, measure: Measure) -> None:
    metric = measure("heuristic/json_correctness", output=answer)

    assert (metric.score, metric.status) == (0, Status.FAIL)
    assert measure("heuristic/json_validity", output=answer).score == 0


@pytest.mark.parametrize("answer", ["", " \n", None])
def test_an_empty_answer_is_incorrect_but_says_nothing_of_validity(answer: str | None, measure: Measure) -> None:
    assert measure("heuristic/json_correctness", output=answer).score == 0
    assert measure("heuristic/json_validity", output=answer).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize("answer", [' {"a": "東京 🙂"}\n', "null", "-1e5", '"x"', {"a": 1}, [], False, 0])
def test_one_json_value_is_valid(answer: object, measure: Measure) -> None:
    metric = measure("heuristic/json_validity", output=answer)

    assert metric.score == (1 if answer != [] else None)


def test_nesting_without_end_is_not_json_and_breaks_nothing(measure: Measure) -> None:
    assert measure("heuristic/json_validity", output="[" * (sys.getrecursionlimit() * 50)).score == 0


@pytest.mark.case("heuristic-json/fenced-answer")
@pytest.mark.parametrize("fenced", ['```json\n{"id": 1}\n```', '~~~\n{"id": 1}\n~~~\n', '````\n{"id": 1}\n````'])
def test_a_code_fence_counts_as_wrong_unless_it_is_looked_through(fenced: str, measure: Measure) -> None:
    strict = measure("heuristic/json_correctness", output=fenced)
    lenient = measure("heuristic/json_correctness", {"strip_fences": True}, output=fenced)

    assert (strict.score, lenient.score) == (0, 1)
    assert strict.details == lenient.details == {"fenced": True}


@pytest.mark.case("heuristic-json/broken-schema-option")
@pytest.mark.parametrize("name", ["heuristic/json_correctness", "rule/schema_conformance"])
def test_a_broken_schema_is_a_mistake_of_the_set_up(name: str, measure: Measure) -> None:
    with pytest.raises(InvalidOptions, match="the schema is no JSON"):
        measure(name, {"json_schema": '{"properties": '}, output='{"id": 1}')

    metric = measure(name, output='{"id": 1}', custom={"json_schema": '{"properties": '})
    assert metric.outcome is Outcome.FAILED
    assert "custom.json_schema" in str(metric.error)


def test_a_type_that_does_not_exist_is_refused(measure: Measure) -> None:
    with pytest.raises(InvalidOptions, match="'text': expected one of array"):
        measure("heuristic/json_correctness", {"json_schema": {"properties": {"id": {"type": "text"}}}}, output="{}")


def test_a_schema_may_be_given_as_text_or_by_the_sample(measure: Measure) -> None:
    custom = {"json_schema": json.dumps(SCHEMA), "required_fields": ["id"]}

    assert measure("heuristic/json_correctness", output='{"id": "1"}', custom=custom).score == pytest.approx(0.7)


@given(JSON, st.lists(st.text("ab.", max_size=2), max_size=3))
def test_json_correctness_stays_in_range(value: JsonValue, required: list[str]) -> None:
    options = CorrectnessOptions(required_fields=required, json_schema={"properties": {"a": {"type": "integer"}}})
    score = json_correctness(DataPoint(output=json.dumps(value)), options).score

    assert score is not None
    assert 0.4 <= float(score) <= 1


CONFORMING = {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer", "minimum": 1}}}


@pytest.mark.parametrize(
    ("answer", "score"),
    [('{"id": 1}', 1), ('{"id": 0}', 0), ("{}", 0), ("[]", 0), ("no", 0), ("", 0), ({"id": 2}, 1), ('{"id": 1.0}', 1)],
)
def test_schema_conformance_by_hand(answer: object, score: float, measure: Measure) -> None:
    assert measure("rule/schema_conformance", {"json_schema": CONFORMING}, output=answer).score == score


def test_each_fault_is_a_finding_with_its_place(measure: Measure) -> None:
    schema = {"properties": {"items": {"items": {"required": ["id"]}}, "n": {"type": "integer"}}}
    metric = measure("rule/schema_conformance", {"json_schema": schema}, output='{"items": [{}], "n": "東"}')

    assert [(finding.text, finding.reason) for finding in metric.findings] == [
        ("items[0]", "'id' is a required property"),
        ("n", "'東' is not of type 'integer'"),
    ]


def test_without_a_schema_there_is_nothing_to_check(measure: Measure) -> None:
    assert measure("rule/schema_conformance", output="{}").outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize("schema", [{"type": "text"}, {"properties": 3}])
def test_what_is_no_schema_is_refused_before_anything_runs(schema: dict[str, JsonValue], tmp_path: Path) -> None:
    ge = GenkitEval(plugins=[heuristics()], root=tmp_path)
    called: list[object] = []
    ge.define_flow("echo", called.append)
    ref = ge.ref("rule/schema_conformance", json_schema=schema)

    with pytest.raises(GenkitEvalError, match="is no JSON Schema"):
        run_sync(ge.evaluate([{"input": 1}], target="/flow/echo", evaluators=[ref]))
    assert not called


def test_a_schema_that_refers_elsewhere_is_not_fetched(measure: Measure) -> None:
    metric = measure("rule/schema_conformance", {"json_schema": {"$ref": "http://127.0.0.1:9/x"}}, output="{}")

    assert metric.outcome is Outcome.FAILED
    assert "put it into $defs" in str(metric.error)


@pytest.mark.parametrize(
    ("output", "reference", "options", "score"),
    [
        # of the places id, tags[0], tags[1] two are the same
        ('{"id": 1, "tags": ["a", "b"]}', {"id": 1.0, "tags": ["a", "c"]}, {}, 2 / 3),
        # one of id, extra
        ({"id": 1, "extra": True}, {"id": 1}, {}, 1 / 2),
        ({"id": True}, {"id": 1}, {}, 0),
        ({"id": "1"}, {"id": 1}, {}, 0),
        ({"n": 1.04}, {"n": 1}, {"tolerance": 0.05}, 1),
        ([1, 2, 3], [3, 1, 2], {}, 0),
        ([1, 2, 3], [3, 1, 2], {"list_order": False}, 1),
        # two shared of: a, a, b
        (["a", "a"], ["a", "b"], {"list_order": False}, 1 / 3),
        ({"id": 7, "meta": {"id": 1, "at": 2}}, {"id": 7, "meta": {"id": 9}}, {"ignore": ["meta"]}, 1),
        ({"a": [{"id": 1, "x": 2}]}, {"a": [{"id": 3, "x": 2}]}, {"ignore": ["a.0.id"]}, 1),
        ({}, {}, {}, 1),
        ({"a": []}, {"a": {}}, {}, 0),
        ("plain", {"a": 1}, {}, 0),
        ('"plain"', "plain", {}, 1),
        (12345678901234567890, 12345678901234567891, {}, 0),
        ({"İ": "東"}, {"İ": "東"}, {}, 1),
    ],
)
def test_json_diff_by_hand(
    output: object, reference: object, options: dict[str, object], score: float, measure: Measure
) -> None:
    metric = measure("heuristic/json_diff", options, output=output, reference=reference)

    assert metric.score == (pytest.approx(score) if output != {} else None)


def test_each_difference_is_a_finding_with_its_place(measure: Measure) -> None:
    output, reference = {"a": [1, {"b": "x"}], "c": 1}, {"a": [1, {"b": "y"}], "d": None}
    metric = measure("heuristic/json_diff", output=output, reference=reference)

    assert [(finding.text, finding.reason) for finding in metric.findings] == [
        ("a[1].b", '"x", expected "y"'),
        ("d", "missing: null"),
        ("c", "not in the reference: 1"),
    ]


def nested(levels: int, inside: str) -> str:
    """A list in an object in a list …, so many in all."""
    return '[{"a":' * (levels // 2) + inside + "}]" * (levels // 2)


@pytest.mark.parametrize("levels", [300, 400, 500, 700])
@pytest.mark.parametrize("order", [True, False])
def test_json_that_nests_deeply_is_compared_like_any_other(measure: Measure, levels: int, order: bool) -> None:
    """Two lists of two items: one is the same, the other differs at its innermost place."""
    one, other = f"[1, {nested(levels, '1')}]", f"[1, {nested(levels, '2')}]"
    options = {"list_order": order}

    same = measure("heuristic/json_diff", options, output=one, reference=json.dumps(json.loads(one)))
    differs = measure("heuristic/json_diff", options, output=one, reference=other)

    assert (same.score, differs.score) == (1, pytest.approx(1 / 2 if order else 1 / 3))


def test_json_that_nests_too_deeply_to_be_read_says_so(measure: Measure) -> None:
    """How deep that is depends on the interpreter."""
    for name in ("heuristic/json_validity", "heuristic/json_diff", "heuristic/json_correctness"):
        options = {"required_fields": ["a"]} if name.endswith("correctness") else {}
        metric = measure(name, options, output=nested(200_000, "1"), reference="[]")

        assert (metric.score, "it nests too deeply" in str(metric.rationale)) == (0, True)


def test_an_answer_that_is_too_deep_for_its_schema_is_no_fault_of_the_schema(measure: Measure) -> None:
    inner = {"anyOf": [{"type": "integer"}, {"items": {"$ref": "#/$defs/tree"}}]}
    tree = {"$defs": {"tree": inner}, "$ref": "#/$defs/tree"}
    circle = {"$defs": {"tree": {"$ref": "#/$defs/tree"}}, "$ref": "#/$defs/tree"}

    deep = measure("rule/schema_conformance", {"json_schema": tree}, output="[" * 400 + "]" * 400)
    endless = measure("rule/schema_conformance", {"json_schema": circle}, output="[[]]")

    assert (deep.outcome, endless.outcome) == (Outcome.FAILED, Outcome.FAILED)
    assert "a value that nests 399 levels deep is too deep to be held against the answer's schema" in str(deep.error)
    assert "the answer's schema refers to itself without end: take the circle out" in str(endless.error)


def test_places_come_to_a_score_by_themselves() -> None:
    assert share_of_places(1, 3) == 0.25
    assert share_of_places(0, 0) == 1


@given(JSON, JSON, st.booleans())
def test_json_diff_is_symmetric_and_one_only_for_equal_values(one: JsonValue, other: JsonValue, order: bool) -> None:
    options = DiffOptions(list_order=order)

    def score(ours: JsonValue, theirs: JsonValue) -> float:
        given = DataPoint(output=json.dumps(ours), reference=json.dumps(theirs))
        return float(json_diff(given, options).score or 0)

    assert 0 <= score(one, other) <= 1
    assert score(one, other) == pytest.approx(score(other, one))
    assert score(one, one) == 1
    if order and score(one, other) == 1:
        assert one == other
