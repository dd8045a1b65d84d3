"""Chat models: what is sent, and what comes back."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from genkit_eval import Message, Usage, run_sync
from genkit_eval.testing import Answer, Call, OpenAIServer, chat_answer, error_answer
from genkit_eval_openai import OpenAIError
from genkit_eval_openai.chat import ChatModel
from tests.plugins.openai.conftest import ASK, Verdict

MakeModel = Callable[..., ChatModel]


def test_a_reply_has_the_text_and_what_the_server_said_of_it(chat_model: MakeModel) -> None:
    with OpenAIServer(chat_answer("Blue.", model="gpt-x-2026")) as server:
        reply = run_sync(chat_model(server).generate(ASK))

    assert (reply.text, reply.finish_reason, reply.model) == ("Blue.", "stop", "gpt-x-2026")
    assert reply.usage == Usage(input_tokens=7, output_tokens=3)
    assert reply.logprobs is None


def test_a_plain_call_sends_the_messages_and_nothing_else(chat_model: MakeModel) -> None:
    messages = (Message(role="system", content="Be brief."), *ASK)

    with OpenAIServer() as server:
        run_sync(chat_model(server, model="meta-llama/Llama-3:8b").generate(messages))

    assert server.bodies() == [
        {
            "model": "meta-llama/Llama-3:8b",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Is it blue?"},
            ],
        }
    ]


def test_parameters_are_sent_as_given_and_genkits_names_are_understood(chat_model: MakeModel) -> None:
    config = {"temperature": 0, "seed": 7, "maxOutputTokens": 50, "stop_sequences": ["\n"], "reasoning_effort": "low"}

    with OpenAIServer() as server:
        run_sync(chat_model(server).generate(ASK, config=config))

    sent = {name: value for name, value in server.bodies()[0].items() if name not in ("model", "messages")}
    assert sent == {"temperature": 0, "seed": 7, "max_tokens": 50, "stop": ["\n"], "reasoning_effort": "low"}


def test_an_empty_text_is_a_reply(chat_model: MakeModel) -> None:
    with OpenAIServer("") as server:
        reply = run_sync(chat_model(server).generate(ASK))

    assert reply.text == ""


def test_content_in_parts_is_joined(chat_model: MakeModel) -> None:
    parts = [{"type": "text", "text": "Bl"}, {"type": "reference"}, {"type": "text", "text": "ue"}]

    with OpenAIServer(chat_answer(None, choices=[{"message": {"content": parts}}])) as server:
        reply = run_sync(chat_model(server).generate(ASK))

    assert (reply.text, reply.finish_reason) == ("Blue", None)


def test_unknown_keys_change_nothing(chat_model: MakeModel) -> None:
    with OpenAIServer(chat_answer("Blue.", timings={"ms": 1}, system_fingerprint=None)) as server:
        reply = run_sync(chat_model(server).generate(ASK))

    assert reply.text == "Blue."


def test_a_server_that_is_not_there_is_said_by_address(chat_model: MakeModel) -> None:
    with OpenAIServer() as server:
        model = chat_model(server)
    address = server.url.removeprefix("http://").removesuffix("/v1")

    with pytest.raises(OpenAIError, match=f"at {address} could not be reached") as caught:
        run_sync(model.generate(ASK))

    assert caught.value.kind == "connection"


@pytest.mark.case("api-fault/usage-missing")
@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, None),
        ({}, None),
        ("many", None),
        ({"prompt_tokens": None, "completion_tokens": "3"}, None),
        ({"prompt_tokens": -1, "completion_tokens": True}, None),
        ({"prompt_tokens": 5}, Usage(input_tokens=5)),
        ({"prompt_tokens": 0, "completion_tokens": 0}, Usage(input_tokens=0, output_tokens=0)),
        (
            {"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}},
            Usage(input_tokens=5, output_tokens=2, cached_tokens=4),
        ),
        (
            {"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": {"cache_write_tokens": 3}},
            Usage(input_tokens=5, output_tokens=2, written_tokens=3),
        ),
        # what it thought is told in the total alone, by some
        ({"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 17}, Usage(input_tokens=5, output_tokens=12)),
        ({"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}, Usage(input_tokens=5, output_tokens=2)),
        ({"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 0}, Usage(input_tokens=5, output_tokens=2)),
        (
            {"prompt_tokens": 5, "total_tokens": 17},
            Usage(input_tokens=5),
        ),
    ],
)
def test_what_the_server_did_not_count_stays_unknown(usage: Any, expected: Usage | None, chat_model: MakeModel) -> None:
    with OpenAIServer(chat_answer("Blue.", usage=usage)) as server:
        reply = run_sync(chat_model(server).generate(ASK))

    assert reply.usage == expected


def test_log_probabilities_come_where_they_were_asked_for(chat_model: MakeModel) -> None:
    tops = [{"token": "yes", "logprob": -0.1}, {"token": "no", "logprob": -2.5}, {"token": "?", "logprob": None}]
    given = {"content": [{"token": "yes", "logprob": -0.1, "top_logprobs": tops}]}

    with OpenAIServer(chat_answer("yes", logprobs=given)) as server:
        reply = run_sync(chat_model(server).generate(ASK, config={"logprobs": True, "top_logprobs": 3}))

    assert reply.logprobs is not None
    [token] = reply.logprobs
    assert (token.token, token.logprob, token.alternatives) == ("yes", -0.1, {"yes": -0.1, "no": -2.5})
    assert server.bodies()[0]["logprobs"] is True


@pytest.mark.parametrize("odd", [{"content": None}, {"tokens": ["yes"]}, {"content": [{"token": "yes"}]}, "none"])
def test_odd_log_probabilities_are_none(odd: Any, chat_model: MakeModel) -> None:
    with OpenAIServer(chat_answer("yes", logprobs=odd)) as server:
        reply = run_sync(chat_model(server).generate(ASK, config={"logprobs": True}))

    assert reply.logprobs is None


def test_half_a_surrogate_pair_is_said_and_not_sent(chat_model: MakeModel) -> None:
    with OpenAIServer() as server, pytest.raises(OpenAIError, match="surrogate") as caught:
        run_sync(chat_model(server).generate([Message(role="user", content="\ud800")]))

    assert caught.value.kind == "bad_request"
    assert server.calls == []


@pytest.mark.case("api-fault/second-run-same-client")
def test_one_model_serves_one_loop_after_another(chat_model: MakeModel) -> None:
    with OpenAIServer() as server:
        model = chat_model(server)

        replies = [run_sync(model.generate(ASK)).text for _ in range(3)]

    assert replies == ["OK", "OK", "OK"]


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_calls_run_side_by_side_on_any_loop(backend: str, chat_model: MakeModel) -> None:
    together = 8
    with OpenAIServer(lambda call: answer_when(server, together)) as server:
        model = chat_model(server)

        async def all_of_them() -> None:
            async with anyio.create_task_group() as group:
                for _ in range(together):
                    group.start_soon(model.generate, ASK)

        anyio.run(all_of_them, backend=backend)

    assert server.peak == together


async def answer_when(server: OpenAIServer, arrived: int) -> str:
    """An answer once so many calls are there."""
    import asyncio

    while len(server.calls) < arrived:
        await asyncio.sleep(0.001)
    return "OK"


def test_a_conversation_runs_over_one_connection(chat_model: MakeModel) -> None:
    with OpenAIServer() as server:
        model = chat_model(server)

        async def twice() -> None:
            await model.generate(ASK)
            await model.generate(ASK)

        anyio.run(twice)

    assert len({call.client for call in server.calls}) == 1


def test_the_reply_of_a_function_may_depend_on_the_call(chat_model: MakeModel) -> None:
    def script(call: Call) -> str:
        return json.dumps({"reason": call.text(), "verdict": True})

    with OpenAIServer(script) as server:
        reply = run_sync(chat_model(server).generate(ASK, output=Verdict))

    assert Verdict.model_validate_json(reply.text).reason == "Is it blue?"


@pytest.mark.parametrize("before", ["", "\ufeff"])
def test_an_emoji_cut_in_half_and_a_mark_before_the_text_are_read(chat_model: MakeModel, before: str) -> None:
    body = (
        before + '{"choices": [{"message": {"role": "assistant", "content": "cut \\ud83d"}, "finish_reason": "stop"}]}'
    )
    with OpenAIServer(Answer(body=body.encode())) as server:
        reply = run_sync(chat_model(server).generate(ASK))

    assert reply.text.startswith("cut ")


@pytest.mark.parametrize("words", ["", "Invalid request", "400 Bad Request"])
def test_a_refusal_without_words_is_tried_in_a_plainer_form(chat_model: MakeModel, words: str) -> None:
    def plain_only(call: Call) -> Any:
        return error_answer(400, words) if "response_format" in call.body else chat_answer('{"verdict": true}')

    with OpenAIServer(plain_only) as server:
        model = chat_model(server)
        replies = [run_sync(model.generate(ASK, output=Verdict)).text for _ in range(2)]

    assert replies == ['{"verdict": true}'] * 2
    assert len(server.calls) == 4
