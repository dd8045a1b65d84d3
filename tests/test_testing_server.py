"""The OpenAI-protocol server that users test with: real HTTP, read here by the standard library's client."""

from __future__ import annotations

import json
import math
import socket
import threading
from dataclasses import replace
from http.client import BadStatusLine, HTTPConnection, HTTPResponse, IncompleteRead
from typing import Any

import pytest

from genkit_eval.testing import (
    Answer,
    Call,
    OpenAIServer,
    chat_answer,
    embeddings_answer,
    error_answer,
    html_answer,
)

CHAT = {"model": "m", "messages": [{"role": "user", "content": "hello"}, {"role": "user", "content": "there"}]}


def connect(server: OpenAIServer) -> HTTPConnection:
    """A client of the server; a test that waits for ever would fail."""
    return HTTPConnection(server.url.removeprefix("http://").removesuffix("/v1"), timeout=10)


def post(client: HTTPConnection, route: str, body: Any, **headers: str) -> HTTPResponse:
    """The response, unread."""
    client.request("POST", f"/v1/{route}", json.dumps(body), headers)
    return client.getresponse()


def posted(server: OpenAIServer, route: str, body: Any, **headers: str) -> tuple[int, Any]:
    """Status and JSON of one call over a connection of its own."""
    client = connect(server)
    try:
        response = post(client, route, body, **headers)
        return response.status, json.loads(response.read())
    finally:
        client.close()


def said(server: OpenAIServer, **body: Any) -> Any:
    """What the server answers a chat call with, by its content, or the whole error."""
    status, found = posted(server, "chat/completions", {**CHAT, **body})
    return found["choices"][0]["message"]["content"] if status == 200 else found["error"]


def test_a_text_answers_every_chat_call() -> None:
    with OpenAIServer("hi") as server:
        answers = [posted(server, "chat/completions", {**CHAT, "model": name}) for name in ("a", "b")]

    assert [body["model"] for _, body in answers] == ["a", "b"]
    status, body = answers[0]
    assert status == 200
    assert body["choices"] == [
        {"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"},
    ]
    assert body["usage"] == {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}


def test_several_answers_are_given_one_a_call_and_then_the_script_is_over() -> None:
    with OpenAIServer(["one", chat_answer("two"), error_answer(429, "slow down")]) as server:
        answers = [said(server) for _ in range(4)]

    assert answers[:2] == ["one", "two"]
    assert answers[2]["message"] == "slow down"
    assert answers[3]["message"] == "the script of 3 answers is over"


def test_a_function_answers_by_what_was_asked() -> None:
    def script(call: Call) -> str:
        return call.text().upper()

    with OpenAIServer(script) as server:
        answer = said(server)

    assert answer == "HELLO\nTHERE"


def test_an_async_function_may_wait_for_other_calls() -> None:
    arrived = threading.Event()

    async def script(call: Call) -> str:
        # the second call lets the first one go
        import asyncio

        if len(waiting.calls) == 2:
            arrived.set()
        while not arrived.is_set():
            await asyncio.sleep(0)
        return str(waiting.peak)

    with OpenAIServer(script) as waiting:
        first, second = connect(waiting), connect(waiting)
        for client in (first, second):
            client.request("POST", "/v1/chat/completions", json.dumps(CHAT))
        answers = [json.loads(client.getresponse().read()) for client in (first, second)]
        first.close()
        second.close()

    assert [answer["choices"][0]["message"]["content"] for answer in answers] == ["2", "2"]


def test_an_error_of_the_function_is_an_answer_that_shows_it() -> None:
    def script(call: Call) -> str:
        raise ValueError("no idea")

    with OpenAIServer(script) as server:
        answer = said(server)

    assert answer["message"] == "the script raised ValueError: no idea"


def test_every_call_is_kept_with_its_headers_and_body() -> None:
    with OpenAIServer() as server:
        posted(server, "chat/completions", CHAT, Authorization="Bearer k")
        posted(server, "embeddings", {"model": "e", "input": ["a", "b"]})

    chat, embeddings = server.calls
    assert (chat.method, chat.path, chat.body) == ("POST", "/v1/chat/completions", CHAT)
    assert chat.headers["authorization"] == "Bearer k"
    assert (chat.text(), embeddings.text()) == ("hello\nthere", "a\nb")
    assert server.bodies() == [CHAT]
    assert server.bodies("embeddings") == [{"model": "e", "input": ["a", "b"]}]


def test_a_connection_is_kept_open() -> None:
    with OpenAIServer() as server:
        client = connect(server)
        statuses = []
        for _ in range(3):
            response = post(client, "chat/completions", CHAT)
            response.read()
            statuses.append(response.status)
        client.close()

    assert statuses == [200, 200, 200]
    assert len({call.client for call in server.calls}) == 1


def test_embeddings_depend_on_the_text_alone_and_are_of_length_one() -> None:
    with OpenAIServer(dimensions=70) as server:
        _, first = posted(server, "embeddings", {"model": "e", "input": ["a", "b"]})
        _, second = posted(server, "embeddings", {"model": "e", "input": "b"})

    vectors = [item["embedding"] for item in first["data"]]
    assert vectors[1] == second["data"][0]["embedding"]
    assert vectors[0] != vectors[1]
    assert [len(vector) for vector in vectors] == [70, 70]
    assert [math.hypot(*vector) for vector in vectors] == pytest.approx([1, 1])


def test_embeddings_may_be_scripted() -> None:
    with OpenAIServer(embeddings=[embeddings_answer([[1.0, 2.0]]), error_answer(400, "no")]) as server:
        answers = [posted(server, "embeddings", {"model": "e", "input": "a"}) for _ in range(2)]

    assert answers[0][1]["data"] == [{"object": "embedding", "index": 0, "embedding": [1.0, 2.0]}]
    assert answers[1][0] == 400


def test_models_are_listed() -> None:
    with OpenAIServer(models=["a", "b"]) as server:
        client = connect(server)
        client.request("GET", "/v1/models")
        listed = json.loads(client.getresponse().read())
        client.close()

    assert [model["id"] for model in listed["data"]] == ["a", "b"]


@pytest.mark.parametrize("path", ["nowhere", "/chat/completions", "chat/completions/", "chat"])
def test_an_unknown_route_is_404(path: str) -> None:
    with OpenAIServer() as server:
        status, _ = posted(server, path, CHAT)

    assert status == 404


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff"])
def test_a_body_that_is_no_object_is_400(body: bytes) -> None:
    with OpenAIServer() as server:
        client = connect(server)
        client.request("POST", "/v1/chat/completions", body)
        status = client.getresponse().status
        client.close()

    assert status == 400


def test_only_the_key_is_let_in_and_another_is_echoed() -> None:
    with OpenAIServer(key="right") as server:
        good, _ = posted(server, "chat/completions", CHAT, Authorization="Bearer right")
        bad, body = posted(server, "chat/completions", CHAT, Authorization="Bearer wrong")
        none, _ = posted(server, "chat/completions", CHAT)

    assert (good, bad, none) == (200, 401, 401)
    assert body["error"] == {
        "message": "Incorrect API key provided: Bearer wrong",
        "type": None,
        "param": None,
        "code": "invalid_api_key",
    }


@pytest.mark.parametrize(
    ("refused", "body", "param"),
    [
        ("temperature", {"temperature": 0}, "temperature"),
        ("max_tokens", {"max_tokens": 5}, "max_tokens"),
        ("json_schema", {"response_format": {"type": "json_schema"}}, "response_format"),
    ],
)
def test_parameters_and_forms_may_be_refused(refused: str, body: dict[str, Any], param: str) -> None:
    with OpenAIServer("hi", refuses={refused}) as server:
        refusal, fine = said(server, **body), said(server)

    assert (refusal["param"], refusal["code"]) == (param, "unsupported_parameter")
    assert fine == "hi"


def test_an_answer_may_lack_usage_or_have_more_keys() -> None:
    with OpenAIServer(chat_answer(None, refusal="no", usage=None, logprobs={"content": []}, extra=1)) as server:
        _, body = posted(server, "chat/completions", CHAT)

    assert "usage" not in body
    assert body["extra"] == 1
    assert body["choices"][0]["message"] == {"role": "assistant", "content": None, "refusal": "no"}
    assert body["choices"][0]["logprobs"] == {"content": []}


def test_status_headers_and_page_are_as_scripted() -> None:
    answer = replace(html_answer(503), headers={"Content-Type": "text/html", "Retry-After": "3"})

    with OpenAIServer(answer) as server:
        client = connect(server)
        response = post(client, "chat/completions", CHAT)
        page = response.read()
        client.close()

    assert (response.status, response.reason) == (503, "Service Unavailable")
    assert (response.headers["Content-Type"], response.headers["Retry-After"]) == ("text/html", "3")
    assert b"<h1>503 Service Unavailable</h1>" in page


def test_an_answer_may_end_half_way() -> None:
    with OpenAIServer(replace(chat_answer("hello"), cut=10)) as server:
        client = connect(server)
        with pytest.raises(IncompleteRead) as caught:
            post(client, "chat/completions", CHAT).read()
        client.close()

    assert len(caught.value.partial) == 10


def test_an_answer_may_dribble() -> None:
    with OpenAIServer(Answer(body=b"[1, 2, 3]", dribble_seconds=0.0001)) as server:
        status, body = posted(server, "chat/completions", CHAT)

    assert (status, body) == (200, [1, 2, 3])


def test_an_answer_may_come_late() -> None:
    with OpenAIServer(replace(chat_answer("late"), delay_seconds=0.001), latency_seconds=0.001) as server:
        assert said(server) == "late"


def test_a_connection_may_be_reset() -> None:
    with OpenAIServer(Answer(reset=True)) as server:
        client = connect(server)
        with pytest.raises((ConnectionError, BadStatusLine)):
            post(client, "chat/completions", CHAT)
        client.close()


def test_a_server_that_never_answers_ends_with_its_block() -> None:
    with OpenAIServer(Answer(silent=True)) as server:
        client = connect(server)
        client.request("POST", "/v1/chat/completions", json.dumps(CHAT))
        client.sock.settimeout(0.02)
        with pytest.raises(TimeoutError):
            client.sock.recv(1)

    client.sock.settimeout(10)
    assert client.sock.recv(1) == b""
    client.close()


def test_what_is_no_http_ends_the_connection_and_not_the_server() -> None:
    with OpenAIServer("hi") as server:
        host, port = server.url.removeprefix("http://").removesuffix("/v1").split(":")
        with socket.create_connection((host, int(port)), timeout=10) as raw:
            raw.sendall(b"nonsense\r\n\r\n")
            answer = raw.recv(100)

        assert answer == b""
        assert said(server) == "hi"


def test_a_client_that_goes_away_is_no_trouble() -> None:
    with OpenAIServer("hi") as server:
        with socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2].removesuffix("/v1"))), 10) as raw:
            raw.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 100\r\n\r\n{")

        assert said(server) == "hi"


def test_it_listens_on_loopback_only() -> None:
    with OpenAIServer() as server:
        assert server.url.startswith("http://127.0.0.1:")


def test_several_servers_run_side_by_side() -> None:
    with OpenAIServer("one") as one, OpenAIServer("two") as two:
        answers = [said(one), said(two)]

    assert answers == ["one", "two"]
    assert one.url != two.url
