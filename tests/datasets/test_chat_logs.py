"""Logs of chats in OpenAI's form as samples."""

from __future__ import annotations

import io
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from genkit_eval.datasets import check_file, read_samples, write_samples
from genkit_eval.errors import ConfigError, DataFileError
from genkit_eval.types import Sample
from tests.replacing import with_one_value_replaced

ASKED = {"role": "user", "content": "What is the weather in Oslo?"}
CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}
CALLED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
GIVEN = {"role": "tool", "tool_call_id": "c1", "content": '{"celsius": -3}'}
ANSWERED = {"role": "assistant", "content": "It is -3 degrees."}


def samples(*rows: object) -> list[Sample]:
    data = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    return list(read_samples(io.BytesIO(data), format="chat"))


def sample(row: object) -> dict[str, Any]:
    (found,) = samples(row)
    return found.to_json()


def refused(row: object) -> str:
    with pytest.raises(DataFileError) as caught:
        samples(row)
    return str(caught.value)


def test_the_last_answer_is_the_output_and_what_the_user_said_last_the_input() -> None:
    first = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi!"}]

    found = sample({"messages": [{"role": "system", "content": "Be brief."}, *first, ASKED, ANSWERED]})

    assert found["input"] == "What is the weather in Oslo?"
    assert found["output"] == "It is -3 degrees."
    assert found["systemPrompt"] == "Be brief."
    assert [turn["role"] for turn in found["turns"]] == ["user", "assistant", "user", "assistant"]


def test_a_call_of_a_tool_is_linked_by_id_to_what_the_tool_gave() -> None:
    other = {"id": "c2", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Bergen"}'}}
    calls = {"role": "assistant", "content": "", "tool_calls": [CALL, other]}
    second = {"role": "tool", "tool_call_id": "c2", "content": "rain"}

    found = sample({"messages": [ASKED, calls, second, GIVEN, ANSWERED]})

    assert found["tools"] == [
        {"name": "weather", "arguments": {"city": "Oslo"}, "output": {"celsius": -3}, "id": "c1"},
        {"name": "weather", "arguments": {"city": "Bergen"}, "output": "rain", "id": "c2"},
    ]
    assert [call["id"] for call in found["turns"][1]["toolCalls"]] == ["c1", "c2"]
    assert found["turns"][2] == {"role": "tool", "content": "rain", "toolCallId": "c2"}


def test_a_result_of_no_call_is_refused_with_its_place() -> None:
    said = refused({"messages": [ASKED, GIVEN, ANSWERED]})

    assert "tool_call_id 'c1' answers no call before it" in said
    assert "line 1" in said
    assert "messages[1]" in said


def test_a_chat_that_waits_for_an_answer_has_no_output() -> None:
    assert "output" not in sample([ASKED, CALLED, GIVEN])


def test_the_tools_on_offer_are_the_catalogue() -> None:
    weather = {"name": "weather", "description": "Now.", "parameters": {"type": "object"}}

    found = sample({"messages": [ASKED, ANSWERED], "tools": [{"type": "function", "function": weather}]})

    assert found["toolCatalog"] == [weather]


def test_a_logged_call_has_its_answer_its_cost_and_whose_it_was() -> None:
    request = {"model": "m", "messages": [ASKED], "user": "u7", "metadata": {"session_id": "s1", "shop": "north"}}
    response = {
        "id": "chatcmpl-1",
        "choices": [{"index": 0, "message": ANSWERED, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 6, "total_tokens": 18},
    }

    found = sample({"request": request, "response": response, "tags": ["live"]})

    assert found["output"] == "It is -3 degrees."
    assert found["testCaseId"] == "chatcmpl-1"
    assert (found["userId"], found["sessionId"], found["tags"]) == ("u7", "s1", ["live"])
    assert found["custom"] == {"shop": "north"}
    assert found["usage"] == {"inputTokens": 12, "outputTokens": 6, "modelCalls": 1}


def test_of_several_choices_the_first_is_read_and_it_is_said(tmp_path: Path) -> None:
    other = {"role": "assistant", "content": "Cold."}
    row = {"messages": [ASKED], "choices": [{"message": ANSWERED}, {"message": other}]}
    (tmp_path / "chats.jsonl").write_text(json.dumps(row), encoding="utf-8")

    assert sample(row)["output"] == "It is -3 degrees."
    assert check_file(tmp_path / "chats.jsonl", format="chat").notices == (
        "only the first of several choices is read, as first in sample 1 (line 1)",
    )


def test_the_files_of_a_batch_are_read_too() -> None:
    body = {"model": "m", "messages": [ASKED]}
    answer = {"status_code": 200, "body": {"choices": [{"message": ANSWERED}]}}

    found = sample({"custom_id": "r-1", "body": body, "response": answer, "error": None})

    assert (found["testCaseId"], found["output"]) == ("r-1", "It is -3 degrees.")


def test_functions_of_the_older_form_are_tools() -> None:
    asked = {"role": "assistant", "content": None, "function_call": {"name": "weather", "arguments": "not json"}}
    given = {"role": "function", "name": "weather", "content": "snow"}

    found = sample([ASKED, asked, given, ANSWERED])

    assert found["tools"] == [{"name": "weather", "arguments": "not json", "output": "snow"}]


def test_a_tool_that_takes_a_text_is_one_too() -> None:
    call = {"id": "c1", "type": "custom", "custom": {"name": "run_code", "input": "print(1)"}}
    chat = [
        ASKED,
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "one"},
    ]

    found = sample({"messages": chat, "tools": [{"type": "custom", "custom": {"name": "run_code"}}]})

    assert found["tools"] == [{"name": "run_code", "arguments": "print(1)", "output": "one", "id": "c1"}]
    assert found["toolCatalog"] == [{"name": "run_code"}]


def test_texts_in_parts_are_joined_and_images_are_attachments() -> None:
    url = "data:image/png;base64,iVBORw0KGgo="
    parts = [{"type": "text", "text": "What is"}, {"type": "text", "text": "this?"}]
    image = {"type": "image_url", "image_url": {"url": url}}

    found = sample([{"role": "user", "content": [*parts, image]}, ANSWERED])

    assert found["input"] == "What is\nthis?"
    assert found["attachments"][0]["url"] == url


def test_a_file_in_a_message_is_an_attachment_under_its_name() -> None:
    part = {"type": "file", "file": {"filename": "terms.pdf", "file_data": "data:application/pdf;base64,JVBERi0="}}

    found = sample([{"role": "user", "content": [{"type": "text", "text": "What is this?"}, part]}, ANSWERED])

    assert found["attachments"][0]["name"] == "terms.pdf"
    assert found["attachments"][0]["mediaType"] == "application/pdf"


def test_a_later_system_message_stays_in_its_place() -> None:
    found = sample([ASKED, {"role": "system", "content": "Now in French."}, ANSWERED])

    assert [turn["role"] for turn in found["turns"]] == ["user", "system", "assistant"]
    assert "systemPrompt" not in found


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("text", "expected a chat"),
        ({"input": "x"}, "there are no 'messages' (found 'input')"),
        ([{"role": "narrator", "content": "x"}], "the role is 'narrator'"),
        ([{"role": "user", "content": [{"type": "input_audio"}]}], "a part of type 'input_audio' cannot be read"),
        ([{"role": "user", "content": 3}], "the content is a number"),
        ([{"role": "user", "content": [{"type": "file", "file": {"file_id": "f-1"}}]}], "a file without its data"),
        ({"messages": []}, "'messages' is empty: expected a list of messages"),
        ({"messages": "x"}, "'messages' is text: expected a list of messages"),
        ({"custom_id": "r-1", "response": {"body": {"choices": []}}}, "a response without its request: put what"),
        ({"messages": [ASKED], "response": "It snows."}, "response: 'response' is text: expected a completion"),
        ({"messages": [ASKED], "response": {"output": []}}, "the response has no 'choices' (found 'output')"),
        ({"messages": [ASKED], "choices": ["x"]}, "'choices' is no list of answers"),
        ({"messages": [ASKED], "tools": {"a": 1}}, "tools: expected a list, found an object"),
        ({"messages": [ASKED], "tools": ["a"]}, "tools[0]: expected a tool, found text"),
        ([{"role": "assistant", "tool_calls": 5}], "messages[0].tool_calls: expected a list, found a number"),
        ([{"role": "user", "content": [{"type": "text", "text": 5}]}], "the text of a part is a number: expected text"),
    ],
)
def test_what_is_no_chat_is_refused(row: object, expected: str) -> None:
    assert expected in refused(row)


def test_whatever_stands_in_a_chat_it_is_read_or_refused() -> None:
    parts = [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": "data:,"}}]
    legacy = {"role": "assistant", "function_call": {"name": "weather", "arguments": "{}"}}
    messages = [
        ASKED,
        {"role": "user", "content": parts},
        CALLED,
        GIVEN,
        legacy,
        {"role": "function", "name": "weather"},
    ]
    request = {"messages": messages, "tools": [{"type": "function", "function": {"name": "weather"}}], "user": "u"}
    response = {"id": "r", "choices": [{"message": ANSWERED}], "usage": {"prompt_tokens": 1}}
    chat = {"request": request, "response": response, "metadata": {"session_id": "s", "user_id": "u"}}

    for wrong in with_one_value_replaced(chat):
        with suppress(DataFileError):
            samples(wrong)


def test_how_a_call_was_asked_is_no_part_of_a_sample(tmp_path: Path) -> None:
    row = {"custom_id": "r", "method": "POST", "url": "/v1/chat/completions", "body": {"messages": [ASKED]}}
    (tmp_path / "batch.jsonl").write_text(json.dumps(row), encoding="utf-8")

    assert check_file(tmp_path / "batch.jsonl", format="chat").notices == ()


def test_a_file_of_one_json_value_is_read_as_well(tmp_path: Path) -> None:
    path = tmp_path / "chats.json"
    chats = [{"messages": [ASKED, ANSWERED]}, {"messages": [{"role": "user", "content": "Hm?"}, ANSWERED]}]
    asked = ["What is the weather in Oslo?", "Hm?"]

    for text in (json.dumps(chats, indent=2), json.dumps(chats), json.dumps({"data": chats}, indent=1)):
        path.write_text(text, encoding="utf-8")
        assert [item.input for item in read_samples(path, format="chat")] == asked
        assert check_file(path, format="chat").count == 2


def test_a_broken_line_is_named() -> None:
    data = json.dumps([ASKED, ANSWERED]).encode() + b'\n{"messages": [\n'

    with pytest.raises(DataFileError, match="line 2"):
        list(read_samples(io.BytesIO(data), format="chat"))


def test_a_chat_read_as_json_lines_is_told_its_format() -> None:
    data = json.dumps({"messages": [ASKED]}).encode()

    with pytest.raises(DataFileError, match="read with format chat"):
        list(read_samples(io.BytesIO(data), format="jsonl"))


def test_chats_are_not_written(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="read, not written"):
        write_samples(tmp_path / "x.jsonl", [Sample(input="x")], format="chat")


PNG = "data:image/png;base64,iVBORw0KGgo="
SHOWN = {"type": "image_url", "image_url": {"url": PNG}}


@pytest.mark.parametrize(
    "drawn",
    [
        {"role": "assistant", "content": [{"type": "text", "text": "Here."}, SHOWN]},
        {"role": "assistant", "content": "Here.", "images": [SHOWN]},
    ],
)
def test_what_the_last_answer_shows_is_a_part_of_it_and_no_evidence(drawn: dict[str, Any]) -> None:
    found = sample([{"role": "user", "content": "Draw it."}, drawn])

    assert found["output"] == "Here."
    assert [file["url"] for file in found["outputAttachments"]] == [PNG]
    assert "attachments" not in found


def test_what_an_earlier_answer_shows_is_evidence_for_the_last() -> None:
    drawn = {"role": "assistant", "content": None, "images": [SHOWN]}

    found = sample([{"role": "user", "content": "Draw it."}, drawn, {"role": "user", "content": "Thanks."}, ANSWERED])

    assert [file["url"] for file in found["attachments"]] == [PNG]
    assert "outputAttachments" not in found


def test_an_answer_may_be_an_image_alone() -> None:
    found = sample([{"role": "user", "content": "Draw it."}, {"role": "assistant", "content": [SHOWN]}])

    assert (found["output"], len(found["outputAttachments"])) == ("", 1)


def test_a_file_may_be_given_in_base64_alone() -> None:
    part = {"type": "file", "file": {"filename": "terms.pdf", "file_data": "JVBERi0="}}

    found = sample([{"role": "user", "content": [part]}, ANSWERED])

    assert found["attachments"][0]["mediaType"] == "application/pdf"


def test_what_a_tool_gives_may_be_an_object_itself() -> None:
    call = {"id": "c1", "function": {"name": "weather", "arguments": {"city": "Oslo"}}}
    given = {"role": "tool", "tool_call_id": "c1", "content": {"celsius": -3}}

    found = sample([ASKED, {"role": "assistant", "tool_calls": [call]}, given, ANSWERED])

    assert found["tools"][0]["output"] == {"celsius": -3}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"tool_call_id": "c9"}, "tool_call_id 'c9' answers no call before it; without an answer so far: 'c1'"),
        ({"name": "clock"}, "a message of tool 'clock' answers no call before it; without an answer so far: 'weather'"),
        ({}, "a message of a tool has no 'tool_call_id', which says whose answer it is"),
    ],
)
def test_a_result_that_names_no_call_is_told_which_wait_for_one(given: dict[str, Any], expected: str) -> None:
    call = {"id": "c1", "function": {"name": "weather", "arguments": "{}"}}
    messages = [ASKED, {"role": "assistant", "tool_calls": [call]}, {"role": "tool", "content": "x", **given}]

    said = refused({"id": "chat-7", "messages": messages})

    assert f"sample 1 ('chat-7'), messages[2]: {expected}" in said
