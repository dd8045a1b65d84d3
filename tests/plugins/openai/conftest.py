"""Models of a server on loopback, over the real SDK."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from pydantic import BaseModel

from genkit_eval import Message, Registry
from genkit_eval.testing import OpenAIServer
from genkit_eval_openai import openai_models
from genkit_eval_openai.chat import ChatModel
from genkit_eval_openai.embeddings import OpenAIEmbedder

ASK = (Message(role="user", content="Is it blue?"),)
GOOD = '{"reason": "it is", "verdict": true}'


class Verdict(BaseModel):
    """What the tests ask a model for."""

    reason: str
    verdict: bool


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests may have a key, and a proxy, of their own."""
    for name in [name for name in os.environ if name.startswith("OPENAI_") or name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)


@pytest.fixture
def chat_model() -> Callable[..., ChatModel]:
    """The chat model of a server; further arguments are those of `openai_models`."""

    def made(server: OpenAIServer, model: str = "gpt-x", **options: object) -> ChatModel:
        registry = Registry()
        registry.install(openai_models(**{"base_url": server.url, **options}))
        found = registry.model(f"{options.get('name', 'openai')}/{model}")
        assert isinstance(found, ChatModel)
        return found

    return made


@pytest.fixture
def embedder() -> Callable[..., OpenAIEmbedder]:
    """The embedder of a server."""

    def made(server: OpenAIServer, model: str = "embed-x") -> OpenAIEmbedder:
        registry = Registry()
        registry.install(openai_models(base_url=server.url))
        found = registry.embedder(f"openai/{model}")
        assert isinstance(found, OpenAIEmbedder)
        return found

    return made
