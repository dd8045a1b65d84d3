"""The keys of a sample: spelling, types, and what people write instead."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from genkit_eval.datasets import as_samples, check_file, read_samples
from genkit_eval.errors import DataFileError
from genkit_eval.types import Sample


def refusal(row: object) -> str:
    with pytest.raises(DataFileError) as caught:
        as_samples([row])  # type: ignore[list-item]
    return str(caught.value)


def notices(path: Path, *rows: dict[str, Any]) -> str:
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return "\n".join(check_file(path).notices)


FULL = {
    "testCaseId": "q",
    "input": {"a": 1},
    "output": None,
    "context": ["x", {"text": "y"}],
    "reference": None,
    "custom": {"k": [1]},
    "traceIds": ["t"],
    "tags": ["a", "b"],
    "expect": {"label": "yes", "phrases": ["p"], "metric": "custom/x"},
    "instructions": ["one", "two"],
    "expectedTools": [{"name": "f", "arguments": {"x": 1}}],
    "relevantIds": ["d1"],
    "plan": "first this",
    "goal": "g",
    "systemPrompt": "s",
    "userId": "u",
    "sessionId": "v",
    "toolCatalog": [{"name": "f"}],
    "attachments": [{"url": "https://files.example/a.pdf", "name": "a"}],
    "tools": [{"name": "f", "arguments": None, "output": 0}],
    "turns": [{"role": "user", "content": "hi"}],
    "retrievedIds": ["d2"],
    "usage": {"inputTokens": 3},
    "latency": 0.5,
}


@pytest.mark.parametrize("key", [*FULL, None])
def test_every_key_of_a_sample_is_read_as_the_model_reads_it(key: str | None) -> None:
    row = FULL if key is None else {"input": 1, key: FULL[key]}

    sample = as_samples([row])[0]

    assert sample == Sample.model_validate(row)
    assert sample.to_json() == row


def test_snake_case_keys_are_accepted() -> None:
    sample = as_samples([{"test_case_id": "q", "input": 1, "system_prompt": "s", "expected_tools": [{"name": "f"}]}])[0]

    assert sample.to_json() == {
        "testCaseId": "q",
        "input": 1,
        "expectedTools": [{"name": "f"}],
        "systemPrompt": "s",
    }


def test_one_key_in_both_spellings_is_refused() -> None:
    assert "traceIds" in refusal({"input": 1, "trace_ids": [], "traceIds": []})


def test_null_means_not_given_but_where_it_is_a_value() -> None:
    sample = as_samples([{"input": None, "reference": None, "context": None, "tags": None, "usage": None}])[0]

    assert sample.to_json() == {"input": None, "reference": None}
    assert sample.context == ()


@pytest.mark.parametrize("value", [0, "", False, [], None])
def test_a_falsy_input_is_an_input(value: object) -> None:
    sample = as_samples([{"input": value}])[0]

    assert sample.has("input")
    assert sample.input == value


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"input": 1, "tags": "x"}, "tags: expected a list of text, found text"),
        ({"input": 1, "tags": ["a", None]}, "tags: expected a list of text, found null at [1]"),
        ({"input": 1, "testCaseId": 7}, "testCaseId: expected text, found a number: put it in quotes"),
        ({"input": 1, "testCaseId": True}, "testCaseId: expected text, found a boolean"),
        ({"input": 1, "context": "one"}, "context: expected a list, found text"),
        ({"input": 1, "custom": []}, "custom: expected an object, found a list"),
        ({"input": 1, "error": {"a": 1}}, "error: expected text, found an object"),
        ({"input": 1, "trace_ids": [1]}, "traceIds: expected a list of text"),
        ({"input": 1, "latency": True}, "latency: expected a finite number of seconds, found a boolean"),
        ({"input": 1, "instructions": {}}, "instructions: expected text or a list of text, found an object"),
        ({"input": 1, "expect": {"phrases": ["a", 2]}}, "expect.phrases[1]: expected text, found 2"),
        ({"input": 1, "expected_tools": [{}]}, "expectedTools[0].name: is missing"),
        ({"input": 1, "turns": [{"role": 3}]}, "turns[0].role: expected text, found 3"),
        ({"question": "a", "k": 1}, "there is no 'input' (found 'question', 'k')"),
        ({}, "there is no 'input' (found no key at all)"),
        ([1], "expected an object, found a list"),
        ("samples", "expected an object, found text"),
    ],
)
def test_a_wrong_field_is_named_with_what_was_found_and_expected(row: object, message: str) -> None:
    found = refusal(row)

    assert message in found
    assert "sample 1" in found
    assert "pydantic" not in found


@pytest.mark.parametrize("row", [{"output": "x", "reference": "x"}, {"error": "broke"}, {"turns": [{"role": "user"}]}])
def test_a_sample_with_a_given_output_needs_no_input(row: dict[str, Any]) -> None:
    assert as_samples([row])[0].to_json() == row


@pytest.mark.parametrize(
    ("key", "known"),
    [
        ("refrence", "reference"),
        ("expected_output", "reference"),
        ("Ground Truth", "reference"),
        ("contexts", "context"),
        ("retrieved_documents", "context"),
        ("conversation_goal", "goal"),
        ("conversation_history", "turns"),
        ("testcaseid", "testCaseId"),
        ("trace_id", "traceIds"),
        ("systemprompt", "systemPrompt"),
    ],
)
def test_a_likely_slip_gets_one_notice_with_what_was_meant(tmp_path: Path, key: str, known: str) -> None:
    text = notices(
        tmp_path / "d.jsonl", {"input": 1}, {"input": 2, key: "x"}, {"input": 3, key: "y"}, {"input": 4, key: 1}
    )

    assert text == f"key '{key}', first in sample 2, is not part of a sample and is ignored: did you mean '{known}'?"


def test_another_unknown_key_is_ignored_with_a_notice(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"

    text = notices(path, {"input": 1, "zebra": 1})

    assert "'zebra'" in text
    assert "custom" in text
    assert [sample.to_json() for sample in read_samples(path)] == [{"input": 1}]


def test_rows_of_very_many_shapes_are_all_read(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text("\n".join(json.dumps({"input": i, f"k{i}": 1}) for i in range(3000)))

    assert [sample.input for sample in read_samples(path)] == list(range(3000))
