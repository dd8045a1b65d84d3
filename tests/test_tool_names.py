"""A tool call of which only the name is told may be given as that name."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from genkit_eval import DataPoint, ToolCall
from genkit_eval.datasets import read_samples


def test_a_name_is_a_call_of_which_nothing_else_is_told() -> None:
    point = DataPoint(tools=["search", {"name": "reply", "arguments": {}}])

    assert point.tools == [ToolCall(name="search"), ToolCall(name="reply", arguments={})]
    assert not point.tools[0].has("arguments")


def test_names_in_a_file_are_read_and_written_as_calls(tmp_path: Path) -> None:
    data = tmp_path / "data.jsonl"
    data.write_text('{"input": 1, "expectedTools": ["search", "reply"]}', encoding="utf-8")

    [sample] = read_samples(data)

    assert sample.to_json()["expectedTools"] == [{"name": "search"}, {"name": "reply"}]


@pytest.mark.parametrize("call", [1, None, ["search"]])
def test_what_is_no_call_is_refused(call: object) -> None:
    with pytest.raises(ValidationError, match="tools"):
        DataPoint(tools=[call])
