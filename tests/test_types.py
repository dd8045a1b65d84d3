"""The data model: presence apart from value, camelCase on disk, frozen, tolerant when reading."""

from __future__ import annotations

import copy
import pickle
from datetime import UTC, datetime, timedelta, timezone

import pytest
from pydantic import ValidationError

from genkit_eval import (
    DataPoint,
    EvalMetric,
    EvalResult,
    EvalRunKey,
    Finding,
    MetricSummary,
    Outcome,
    Sample,
    Score,
    Status,
    ToolCall,
    Turn,
)
from genkit_eval.stored import DatasetMetadata
from genkit_eval.types import iso_time

RUN = {"evalRunId": "r", "createdAt": "2026-11-30T08:36:19.827Z"}


@pytest.mark.parametrize("value", [0, False, "", None, [], {}])
def test_a_falsy_value_that_was_given_is_present(value: object) -> None:
    sample = Sample(input=value, reference=value)

    assert sample.has("reference")
    assert sample.to_json() == {"input": value, "reference": value}


def test_what_was_not_given_is_absent() -> None:
    sample = Sample(input=1)

    assert not sample.has("reference")
    assert sample.reference is None
    assert sample.to_json() == {"input": 1}


def test_null_is_absence_where_it_cannot_be_a_value() -> None:
    sample = Sample.model_validate({"input": 1, "testCaseId": None})

    assert not sample.has("test_case_id")
    assert sample.to_json() == {"input": 1}


def test_keys_on_disk_are_camel_case_and_both_spellings_are_read() -> None:
    on_disk = Sample.model_validate({"testCaseId": "a", "traceIds": ["t"]})
    in_code = Sample(test_case_id="a", trace_ids=["t"])

    assert on_disk == in_code
    assert in_code.to_json() == {"testCaseId": "a", "traceIds": ["t"]}


def test_unknown_keys_are_ignored() -> None:
    assert Sample.model_validate({"input": 1, "evalError": "x"}).to_json() == {"input": 1}


def test_data_is_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Sample(input=1).input = 2  # type: ignore[misc]


def test_a_value_is_kept_in_its_json_form() -> None:
    """What is scored equals what is stored."""
    assert Sample(input=(1, 2), custom={"at": {1: "x"}}).to_json() == {"input": [1, 2], "custom": {"at": {"1": "x"}}}


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_number_that_is_not_finite_is_refused(value: float) -> None:
    with pytest.raises((ValidationError, Exception), match=r"finite|NaN|nan|inf"):
        DataPoint(input=value)
    with pytest.raises(ValidationError):
        Score.scored(value)


def test_nested_data_is_written_whole() -> None:
    call = ToolCall(name="search", arguments={"q": "x"}, output=None)
    point = DataPoint(input=1, turns=[Turn(role="tool", content=None, tool_calls=[call])])

    assert point.to_json()["turns"] == [
        {"role": "tool", "content": None, "toolCalls": [{"name": "search", "arguments": {"q": "x"}, "output": None}]}
    ]


def test_data_built_without_validation_is_the_same() -> None:
    trusted = Sample.trusted({"input": 1, "tags": ("a",)})

    assert trusted == Sample(input=1, tags=("a",))
    assert trusted.has("input")
    assert not trusted.has("output")
    assert trusted.to_json() == {"input": 1, "tags": ["a"]}


def test_data_built_without_validation_shares_no_default() -> None:
    first, second = Sample.trusted({"input": 1}), Sample.trusted({"input": 2})

    assert first.custom is not second.custom


def test_many_of_one_shape_are_the_same_as_one_by_one() -> None:
    make = Sample.maker(["test_case_id", "input"])

    assert [make(values) for values in (("a", 1), ("b", None))] == [
        Sample(test_case_id="a", input=1),
        Sample(test_case_id="b", input=None),
    ]


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda data: pickle.loads(pickle.dumps(data))])
def test_a_copy_knows_what_was_given(again: object) -> None:
    point = DataPoint.trusted({"input": 0, "reference": None})

    same = again(point)  # type: ignore[operator]

    assert same == point
    assert same.has("reference")
    assert not same.has("output")


def test_both_of_genkits_time_forms_are_read_and_iso_is_written() -> None:
    old = "Mon Nov 30 2026 08:49:15 GMT+0000 (Coordinated Universal Time)"
    metadata = DatasetMetadata.model_validate(
        {"datasetId": "d", "createTime": old, "updateTime": "2026-11-30T08:49:15Z"}
    )

    assert metadata.create_time == metadata.update_time == datetime(2026, 11, 30, 8, 49, 15, tzinfo=UTC)
    assert metadata.to_json()["createTime"] == "2026-11-30T08:49:15.000Z"


def test_a_time_without_zone_is_utc_and_others_are_turned_to_it() -> None:
    naive = datetime(2026, 1, 1)  # noqa: DTZ001
    east = datetime(2026, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))

    assert EvalRunKey(eval_run_id="r", created_at=naive).created_at == datetime(2026, 1, 1, tzinfo=UTC)
    assert iso_time(east) == "2026-01-01T00:00:00.000Z"


def test_a_schema_is_called_schema_on_disk() -> None:
    given = {
        "datasetId": "d",
        "createTime": RUN["createdAt"],
        "updateTime": RUN["createdAt"],
        "schema": {"inputSchema": {}},
    }

    metadata = DatasetMetadata.model_validate(given)

    assert metadata.json_schema is not None
    assert metadata.to_json() == given


@pytest.mark.parametrize(
    ("metric", "outcome"),
    [
        ({"error": "Reference was not provided"}, Outcome.FAILED),
        ({"score": 0}, Outcome.VERDICT),
        ({"status": "PASS"}, Outcome.VERDICT),
        ({"status": "UNKNOWN"}, Outcome.INCONCLUSIVE),
        ({}, Outcome.INCONCLUSIVE),
        ({"score": 1, "outcome": "UNDECIDED"}, Outcome.UNDECIDED),
    ],
)
def test_a_metric_of_genkits_tools_ended_as_its_keys_imply(metric: dict[str, object], outcome: Outcome) -> None:
    assert EvalMetric.model_validate({"evaluator": "x", **metric}).ended is outcome


def test_a_boolean_score_stays_a_boolean() -> None:
    metrics = EvalResult.model_validate(
        {"metrics": [{"evaluator": "x", "score": s} for s in (True, 1, 1.0, "1")]}
    ).metrics

    assert [type(metric.score) for metric in metrics] == [bool, int, float, str]


def test_scores_are_made_by_verb() -> None:
    finding = Finding(text="Paris", passed=True)

    assert Score.passed(0.9, reason="fine", findings=[finding]).findings == [finding]
    assert Score.failed(id="tone").status is Status.FAIL
    assert Score.scored(0.5, status=Status.PASS).status is Status.PASS
    assert Score.undecided(reason="either").outcome is Outcome.UNDECIDED
    assert Score.inconclusive(reason="empty").score is None
    assert Score.broke("away").error == "away"


def test_a_metric_has_the_name_that_people_use() -> None:
    assert EvalMetric(evaluator="/evaluator/custom/multi", score_id="size").name == "custom/multi/size"
    assert MetricSummary(evaluator="custom/multi").name == "custom/multi"


def test_the_name_of_a_tool_is_a_call_of_which_nothing_else_is_told() -> None:
    point = DataPoint.model_validate({"tools": ["search", {"name": "reply", "arguments": {}}]})

    assert point.tools == [ToolCall(name="search"), ToolCall(name="reply", arguments={})]
    assert not point.tools[0].has("arguments")


@pytest.mark.parametrize("call", [1, None, ["search"]])
def test_what_is_no_tool_call_is_refused(call: object) -> None:
    with pytest.raises(ValidationError, match="tools"):
        DataPoint.model_validate({"tools": [call]})
