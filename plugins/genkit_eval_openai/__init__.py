"""Chat models and embedders over any server of OpenAI's protocol: OpenAI's own, llama.cpp, Ollama, vLLM, a gateway.

ge = GenkitEval(plugins=[openai_models(), openai_models("llama", base_url="http://127.0.0.1:8080/v1")])
"""

from __future__ import annotations

from collections.abc import Mapping

from genkit_eval import Embedder, Model, Plugin, Registry
from genkit_eval_openai.connection import Connection
from genkit_eval_openai.endpoint import Endpoint
from genkit_eval_openai.faults import OpenAIError

__all__ = ["OpenAIError", "openai_models"]


def openai_models(
    name: str = "openai",
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    organization: str | None = None,
    headers: Mapping[str, str] | None = None,
    timeout_seconds: float = 120.0,
    connect_seconds: float = 10.0,
    first_byte_seconds: float | None = None,
    sees: bool | None = None,
) -> Plugin:
    """The plugin that defines every model and embedder of one server, as `name/any-model-name`.

    What is not given comes from OPENAI_BASE_URL, OPENAI_API_KEY, OPENAI_ORG_ID and the SDK's other variables.
    A provider of another name with a `base_url` of its own takes nothing from there: that key is for another server.

    Args:
        name: the provider's name; give each server its own.
        base_url: where the protocol begins, up to and with "/v1".
        api_key: may be left out for a server that wants none.
        headers: sent with every call.
        timeout_seconds: of a whole call, from the first byte sent to the last one received.
        connect_seconds: for the connection alone.
        first_byte_seconds: until the first byte of the answer, and from any to the next; not given, only the whole
            call has a deadline. Most servers send nothing before they have the whole answer.
        sees: whether its models take images. If it is not said they are sent some where a case has them, and a server
            that refuses them is believed; say False of one that leaves them out in silence.

    Raises:
        ConfigError: an address, header or timeout that cannot be.
    """
    endpoint = Endpoint(
        name=name,
        base_url=base_url,
        api_key=api_key,
        organization=organization,
        headers=dict(headers or {}),
        timeout_seconds=timeout_seconds,
        connect_seconds=connect_seconds,
        first_byte_seconds=first_byte_seconds,
    )

    def setup(registry: Registry) -> None:
        _define(registry, endpoint, sees=sees)

    # not the bare name: an error between two plugins has to tell them apart
    called = name if name == "openai" else f"openai:{name}"
    return Plugin(called, setup, "Chat models and embedders over any server of OpenAI's protocol")


def _define(registry: Registry, endpoint: Endpoint, *, sees: bool | None) -> None:
    server = Connection(endpoint)

    def chat(model: str) -> Model:
        # anyio, and asyncio with it, are loaded only where a model is used
        from genkit_eval_openai.chat import ChatModel

        return ChatModel(server, model, sees=sees)

    def embedder(model: str) -> Embedder:
        # as above
        from genkit_eval_openai.embeddings import OpenAIEmbedder

        return OpenAIEmbedder(server, model)

    registry.define_models(endpoint.name, chat)
    registry.define_embedders(endpoint.name, embedder)
