"""`genkit-eval doctor --model`: four small calls, and what they show."""

from __future__ import annotations

import pytest

from genkit_eval.testing import Answer, Call, OpenAIServer, chat_answer, error_answer
from tests.cli.conftest import CommandLine

OBJECT = '{"reason": "it is", "is_blue": true}'


def able(call: Call) -> Answer:
    """What a server answers that can do all of it."""
    if isinstance(call.body, dict) and "response_format" in call.body:
        return chat_answer(OBJECT)
    if "image_url" in call.text():
        return chat_answer("Red.")
    return chat_answer("yes", model="gpt-x-2026", logprobs={"content": [{"token": "yes", "logprob": -0.1}]})


@pytest.fixture
def doctor(genkit_eval: CommandLine, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The command line, where the environment holds a key and no proxy."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "OPENAI_ORG_ID", "OPENAI_CUSTOM_HEADERS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-NOTREAL")
    return genkit_eval


def test_a_model_that_can_do_all_of_it_is_well(doctor: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenAIServer(able) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        done = doctor("doctor", "--model", "openai/gpt-x")

    assert (done.code, done.last_line) == (0, "all is well")
    assert "yes, as gpt-x-2026" in done.out
    assert "reported (7 tokens in, 3 out)" in done.out
    assert "fits the schema asked for\n" in done.out
    assert "with log-probabilities" in done.out
    assert "images" in done.out
    assert "sees them" in done.out
    assert len(server.calls) == 4


def test_what_a_server_refuses_is_told(doctor: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = chat_answer(f"Sure:\n```json\n{OBJECT}\n```", usage=None)

    with OpenAIServer(answer, refuses={"json_schema", "seed", "max_tokens", "image_url"}) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        done = doctor("doctor", "--model", "openai/gpt-x", "--json")

    facts = {fact["name"]: fact["value"] for fact in done.json["facts"]}
    assert done.code == 0
    assert facts == {
        "answers": "yes, as gpt-x",
        "usage": "not reported: what calls cost will be unknown",
        "JSON": "fits the schema asked for, once it is mended",
        "parameters": "the call succeeds without log-probabilities",
        "images": "takes none",
        "form of JSON": "json_object",
        "left out": "seed",
        "limit goes by": "max_completion_tokens",
    }


def test_a_model_that_keeps_to_no_form_is_not_well(doctor: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenAIServer(["yes", "It is blue.", error_answer(400, "temperature must be warm")]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        done = doctor("doctor", "--model", "openai/gpt-x")

    assert (done.code, done.last_line) == (2, "2 problems, marked with !")
    assert "! JSON            does not fit the schema asked for" in done.out
    assert "temperature must be warm" in done.out


def test_a_server_that_lets_nobody_in_is_asked_once(doctor: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenAIServer(key="another") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        done = doctor("doctor", "--model", "openai/gpt-x")

    assert done.code == 2
    assert "HTTP 401" in done.out
    assert "NOTREAL" not in done.out + done.err
    assert len(server.calls) == 1


def test_an_unknown_provider_names_the_nearest(doctor: CommandLine) -> None:
    done = doctor("doctor", "--model", "opnai/gpt-x")

    assert done.code == 2
    assert "did you mean 'openai/gpt-x'" in done.err


def test_a_server_that_leaves_images_out_in_silence_is_found_out(
    doctor: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def blind(call: Call) -> Answer:
        return chat_answer("I see no image.") if "image_url" in call.text() else able(call)

    with OpenAIServer(blind) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        done = doctor("doctor", "--model", "openai/gpt-x")

    assert "lets them pass, and does not tell a red one" in done.out
