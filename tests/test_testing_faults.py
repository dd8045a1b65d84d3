"""The loopback server answers in form, and fails as often and in the way that it is told to."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import pytest
from pydantic import BaseModel, Field

from genkit_eval import ConfigError, UnknownName
from genkit_eval.testing import Answer, Call, OpenAIServer, ServerProcess, in_form, rate_limited, with_faults
from genkit_eval_openai.schema import response_schema


class Line(BaseModel):
    number: int
    verdict: bool


class Three(BaseModel):
    lines: list[Line] = Field(min_length=3, max_length=3)


class Reply(BaseModel):
    reason: str
    rating: int = Field(ge=1, le=5)
    share: float = Field(ge=0, le=1)
    kind: str = Field(json_schema_extra={"enum": ["a", "b"]})
    lines: list[Line]


def body(text: str, form: type[BaseModel] | None = Reply) -> dict[str, Any]:
    asked: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": text}]}
    if form is not None:
        asked["response_format"] = {"type": "json_schema", "json_schema": response_schema(form)}
    return asked


def call(text: str, form: type[BaseModel] | None = Reply) -> Call:
    return Call(method="POST", path="/v1/chat/completions", headers={}, body=body(text, form))


def content(answer: Answer) -> str:
    given: Any = answer.body
    return str(given["choices"][0]["message"]["content"])


def posted(url: str) -> tuple[int, Mapping[str, str]]:
    connection = HTTPConnection(urlsplit(url).netloc)
    connection.request("POST", "/v1/chat/completions", json.dumps(body("q")), {"Content-Type": "application/json"})
    response = connection.getresponse()
    response.read()
    connection.close()
    return response.status, response.headers


def test_an_answer_is_valid_by_the_schema_asked_for() -> None:
    for number in range(50):
        reply = Reply.model_validate_json(content(in_form(call(f"question {number}"))))

        assert reply.kind in ("a", "b")


def test_the_same_task_gets_the_same_answer_whatever_its_fences_are() -> None:
    first = in_form(call("judge <data-0123456789abcdef>\nx\n</data-0123456789abcdef>"))
    second = in_form(call("judge <data-fedcba9876543210>\nx\n</data-fedcba9876543210>"))

    assert content(first) == content(second)


def test_a_list_of_verdicts_has_one_for_each_numbered_line() -> None:
    reply = Reply.model_validate_json(content(in_form(call("Judge each:\n1. one\n2. two\n3. three"))))

    assert [line.number for line in reply.lines] == [1, 2, 3]


def test_a_task_with_an_image_is_answered_as_one_of_text_alone() -> None:
    text = "Judge each:\n1. one\n2. two\n3. three"
    asked = body(text)
    parts = [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}]
    asked["messages"] = [{"role": "user", "content": parts}]

    answer = in_form(Call(method="POST", path="/v1/chat/completions", headers={}, body=asked))

    assert [line.number for line in Reply.model_validate_json(content(answer)).lines] == [1, 2, 3]


def test_a_list_has_as_many_entries_as_the_schema_asks_for_whatever_the_lines_are() -> None:
    text = "Judge each:\n1. one that holds\n1. a list\n2. of its own\n2. two\n3. three"

    reply = Three.model_validate_json(content(in_form(call(text, Three))))

    assert [line.number for line in reply.lines] == [1, 2, 3]


def test_without_a_schema_the_answer_is_words() -> None:
    assert content(in_form(call("hello", None))).replace(" ", "").isalpha()


def test_as_many_tasks_fail_as_was_said() -> None:
    script = with_faults(in_form, {"rate_limit": 0.1, "error": 0.1})

    statuses = Counter(answered(script, f"question {number}").status for number in range(2_000))

    assert 140 < statuses[429] < 260
    assert 140 < statuses[500] < 260


def answered(script: Any, text: str) -> Answer:
    given: Answer = script(call(text))
    return given


def test_a_fault_passes_and_a_refusal_stays() -> None:
    passing, staying = with_faults(in_form, {"overload": 1.0}, times=2), with_faults(in_form, {"refusal": 1.0})

    assert [answered(passing, "q").status for _ in range(3)] == [503, 503, 200]
    refusals = [json.dumps(answered(staying, "q").body) for _ in range(3)]
    assert all("I cannot help" in refusal for refusal in refusals)


def test_mixed_faults_share_the_rate() -> None:
    script = with_faults(in_form, {"mixed": 0.2})

    failed = sum(answered(script, f"q{n}") != in_form(call(f"q{n}")) for n in range(1_000))

    assert 150 < failed < 250


def test_a_fault_that_there_is_not_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownName, match="did you mean 'rate_limit'"):
        with_faults(in_form, {"ratelimit": 0.1})


def test_shares_above_one_are_refused() -> None:
    with pytest.raises(ConfigError, match="1 at most"):
        with_faults(in_form, {"error": 0.6, "reset": 0.6})


def test_too_many_calls_are_told_how_long_to_wait() -> None:
    with OpenAIServer(rate_limited(in_form, 2, burst=3)) as server:
        replies = [posted(server.url) for _ in range(5)]

    assert [status for status, _ in replies] == [200, 200, 200, 429, 429]
    assert replies[-1][1]["Retry-After"] == "1"


def test_a_server_in_a_process_of_its_own_counts_what_came() -> None:
    with ServerProcess(faults={"error": 1.0}) as server:
        statuses = [posted(server.url)[0] for _ in range(2)]

    assert statuses == [500, 200]
    assert server.counts == {"calls": 2, "peak": 1, "500": 1, "200": 1}
