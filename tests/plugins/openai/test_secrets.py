"""Keys are in no error, log, repr or run file, whatever a server echoes."""

from __future__ import annotations

import base64
import json
import logging
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

from genkit_eval import DataPoint, GenkitEval, run_sync
from genkit_eval.errors import ConfigError
from genkit_eval.testing import Answer, Call, OpenAIServer, chat_answer, error_answer
from genkit_eval_openai import OpenAIError, openai_models
from genkit_eval_openai.chat import ChatModel
from tests.plugins.openai.conftest import ASK

MakeModel = Callable[..., ChatModel]

KEY = "sk-test-NOTREAL-0123456789"


def forms_of(secret: str) -> list[str]:
    """The secret as it is, and as others write it."""
    encoded = [base64.b64encode(f"{before}{secret}".encode()).decode() for before in ("", "Bearer ", "a:", "ab:")]
    return [
        secret,
        json.dumps(secret)[1:-1],
        repr(secret)[1:-1],
        secret[4:],
        *[text.rstrip("=")[8:] for text in encoded],
    ]


def leaks(text: str, secret: str = KEY) -> list[str]:
    """The forms of the secret that the text holds."""
    return [form for form in forms_of(secret) if form in text]


def echo(call: Call) -> Answer:
    """401 with the header, as it came and in base64."""
    sent = call.headers["authorization"]
    encoded = base64.b64encode(sent.encode()).decode()
    return error_answer(401, f"Incorrect API key: {sent} ({encoded})", code=sent, kind=encoded, param=sent)


@pytest.mark.case("security/key-in-files-and-logs")
def test_a_key_that_the_server_echoes_is_nowhere(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    with OpenAIServer(echo) as server:
        ge = GenkitEval(plugins=[openai_models(base_url=server.url, api_key=KEY)], root=tmp_path)
        model = ge.registry.model("openai/gpt-x")

        @ge.define_evaluator("t/judged", version="1")
        async def judged(point: DataPoint) -> bool:
            reply = await model.generate(ASK)
            return reply.text == "yes"

        run = run_sync(ge.evaluate([{"input": "a", "output": "b"}], target=None, evaluators=["t/judged"]))

    [result] = run.results
    assert "HTTP 401" in str(result.metrics[0].error)
    assert len(server.calls) == 1
    written = "".join(path.read_text() for path in tmp_path.rglob("*") if path.is_file())
    out, err = capfd.readouterr()
    assert leaks(written + caplog.text + out + err + repr(ge.registry.models) + repr(run)) == []


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500, 503])
def test_a_traceback_of_an_error_shows_no_key(status: int, chat_model: MakeModel) -> None:
    def script(call: Call) -> Answer:
        echoed = echo(call)
        return Answer(status=status, body=echoed.body)

    with OpenAIServer(script) as server, pytest.raises(OpenAIError) as caught:
        run_sync(chat_model(server, api_key=KEY).generate(ASK))

    error: BaseException | None = caught.value
    assert leaks("".join(traceback.format_exception(caught.value))) == []
    while error is not None:
        assert leaks(f"{error!r} {error} {vars(error)}") == []
        error = error.__cause__ or error.__context__


@pytest.mark.parametrize(
    "answer",
    [
        Answer(body=f"<html>{KEY}</html>".encode()),
        Answer(body={"error": {"message": KEY, "code": 500}}),
        chat_answer(None, choices=[]),
        Answer(status=502, headers={"Content-Type": "text/html"}, body=f"<p>{KEY}</p>".encode()),
        Answer(reset=True),
    ],
)
def test_no_other_error_shows_a_key(answer: Answer, chat_model: MakeModel) -> None:
    with OpenAIServer(answer) as server, pytest.raises(OpenAIError) as caught:
        run_sync(chat_model(server, api_key=KEY).generate(ASK))

    assert leaks(f"{caught.value} {vars(caught.value)}") == []


@pytest.mark.case("security/key-in-files-and-logs")
@pytest.mark.parametrize("form", [KEY, base64.b64encode(f"Bearer {KEY}".encode()).decode()])
def test_a_key_in_a_good_answer_is_neither_in_a_reply_nor_in_a_refusal(form: str, chat_model: MakeModel) -> None:
    answers = [chat_answer(f"you sent {form}, and", model=f"m {form}"), chat_answer(None, refusal=f"not with {form}")]
    with OpenAIServer(answers) as server:
        model = chat_model(server, api_key=KEY)
        reply = run_sync(model.generate(ASK))
        with pytest.raises(OpenAIError, match="refused") as caught:
            run_sync(model.generate(ASK))

    assert reply.text.startswith("you sent [hidden]")
    assert leaks(f"{reply!r} {caught.value} {vars(caught.value)}") == []


def test_a_reply_keeps_words_that_are_a_key_and_what_looks_like_one(chat_model: MakeModel) -> None:
    said = "ollama: send Bearer abcdefghijkl, or sk-abcdefghijkl, says the Suite of Evaluations"
    with OpenAIServer(said) as server:
        model = chat_model(server, api_key="ollama", headers={"X-Title": "Suite of Evaluations"})

        assert run_sync(model.generate(ASK)).text == said


def test_a_secret_header_is_kept_as_a_key_is(chat_model: MakeModel) -> None:
    secret = "another-secret-value"

    def script(call: Call) -> Answer:
        return error_answer(400, f"bad {call.headers['x-token']} and {call.headers['proxy-authorization']}")

    headers = {"X-Token": secret, "Proxy-Authorization": f"Custom {KEY}"}
    with OpenAIServer(script) as server, pytest.raises(OpenAIError, match="bad ") as caught:
        run_sync(chat_model(server, headers=headers).generate(ASK))

    assert leaks(str(caught.value), secret) == []
    assert leaks(str(caught.value), KEY) == []


def test_nothing_that_is_made_shows_a_key_in_its_repr(chat_model: MakeModel) -> None:
    with OpenAIServer() as server:
        model = chat_model(server, api_key=KEY, headers={"X-Token": KEY})

        async def repr_of_client() -> str:
            return repr(await model._server.client())

        shown = [
            repr(model),
            repr(model._server.endpoint),
            run_sync(repr_of_client()),
            repr(openai_models(api_key=KEY)),
        ]

    assert leaks(" ".join(shown)) == []


@pytest.mark.parametrize("value", ["schlüssel-0123456", "key\nwith a line", "key\x00"])
def test_a_key_that_no_header_can_hold_is_refused_without_showing_it(value: str) -> None:
    with pytest.raises(ConfigError, match="api_key holds characters") as caught:
        openai_models(api_key=value)

    assert value not in str(caught.value)


def test_a_password_in_the_address_is_refused_without_showing_it() -> None:
    with pytest.raises(ConfigError, match="holds a user or password") as caught:
        openai_models(base_url=f"https://me:{KEY}@example.org/v1")

    assert leaks(str(caught.value)) == []
