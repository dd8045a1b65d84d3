"""Addresses, keys and the environment: which server gets what."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from genkit_eval import Embedder, GenkitEval, Model, Plugin, Registry, run_sync
from genkit_eval.errors import ConfigError, DuplicateName
from genkit_eval.testing import OpenAIServer, ScriptedModel
from genkit_eval_openai import OpenAIError, openai_models
from genkit_eval_openai.chat import ChatModel
from tests.plugins.openai.conftest import ASK

MakeModel = Callable[..., ChatModel]


@pytest.mark.case("api-fault/base-url-shapes")
@pytest.mark.parametrize(
    ("base", "path"),
    [("/v1", "/v1/chat/completions"), ("/v1/", "/v1/chat/completions"), ("/api/v1/", "/api/v1/chat/completions")],
)
def test_routes_are_joined_to_the_address_with_single_slashes(base: str, path: str, chat_model: MakeModel) -> None:
    with OpenAIServer() as server:
        model = chat_model(server, base_url=server.url.removesuffix("/v1") + base)

        run_sync(model.generate(ASK))

    assert server.calls[0].path == path


@pytest.mark.case("api-fault/empty-api-key-local")
@pytest.mark.parametrize("key", ["", None, "  "])
def test_a_server_without_keys_is_asked_with_none_of_anybodys(key: str | None, chat_model: MakeModel) -> None:
    with OpenAIServer() as server:
        reply = run_sync(chat_model(server, api_key=key).generate(ASK))

    assert reply.text == "OK"
    assert server.calls[0].headers["authorization"] == "Bearer no-key"


def test_key_organization_and_headers_are_sent(chat_model: MakeModel) -> None:
    with OpenAIServer(key="secret-key") as server:
        model = chat_model(server, api_key=" secret-key\n", organization="org-1", headers={"X-Team": "evals"})

        run_sync(model.generate(ASK))

    headers = server.calls[0].headers
    assert headers["authorization"] == "Bearer secret-key"
    assert (headers["openai-organization"], headers["x-team"]) == ("org-1", "evals")


def test_the_environment_names_the_server_and_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenAIServer(key="env-key") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "env-key")
        monkeypatch.setenv("OPENAI_ORG_ID", "org-env")
        monkeypatch.setenv("OPENAI_PROJECT_ID", "project-env")
        registry = Registry()
        registry.install(openai_models())

        run_sync(registry.model("openai/gpt-x").generate(ASK))

    headers = server.calls[0].headers
    assert (headers["openai-organization"], headers["openai-project"]) == ("org-env", "project-env")


def test_what_is_given_goes_before_the_environment(monkeypatch: pytest.MonkeyPatch, chat_model: MakeModel) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "env-key")

    with OpenAIServer(key="given") as server:
        reply = run_sync(chat_model(server, api_key="given").generate(ASK))

    assert reply.text == "OK"


def test_another_provider_gets_nothing_that_the_environment_holds_for_openai(
    monkeypatch: pytest.MonkeyPatch, chat_model: MakeModel
) -> None:
    for name in ("API_KEY", "ADMIN_KEY", "ORG_ID", "PROJECT_ID"):
        monkeypatch.setenv(f"OPENAI_{name}", "meant-for-openai")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Secret: meant-for-openai\nAuthorization: Bearer meant-for-openai")

    with OpenAIServer() as server:
        run_sync(chat_model(server, name="local").generate(ASK))

    assert "meant-for-openai" not in str(server.calls[0].headers)


def test_several_servers_are_told_apart_by_name() -> None:
    with OpenAIServer("here") as here, OpenAIServer("there") as there:
        ge = GenkitEval(
            plugins=[openai_models("here", base_url=here.url), openai_models("there", base_url=there.url)],
        )

        replies = [run_sync(ge.registry.model(f"{name}/m").generate(ASK)).text for name in ("here", "there")]

    assert replies == ["here", "there"]


def test_two_servers_of_one_name_are_refused() -> None:
    with pytest.raises(DuplicateName, match="plugin 'openai'"):
        GenkitEval(plugins=[openai_models(), openai_models(base_url="http://127.0.0.1:1/v1")])


def test_a_provider_of_another_plugin_is_told_apart_from_ours() -> None:
    ours = openai_models("taken", base_url="http://127.0.0.1:1/v1")
    theirs = Plugin("taken", lambda registry: registry.define_models("taken", {"x": ScriptedModel("yes")}))
    also = Plugin("more", lambda registry: registry.define_models("taken", lambda name: ScriptedModel("yes")))

    ge = GenkitEval(plugins=[theirs, ours])

    assert isinstance(ge.registry.model("taken/x"), ScriptedModel)
    with pytest.raises(DuplicateName, match="'taken' is defined twice: by plugin 'openai:taken' and by plugin 'more'"):
        ge.registry.install(also)


def test_without_key_and_address_nothing_is_called() -> None:
    registry = Registry()
    registry.install(openai_models())

    with pytest.raises(OpenAIError, match="set OPENAI_API_KEY or give api_key, or name a server") as caught:
        run_sync(registry.model("openai/gpt-x").generate(ASK))

    assert caught.value.kind == "auth"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"base_url": "localhost:8080/v1"}, "is no http:// or https:// address"),
        ({"base_url": "http:///v1"}, "is no http:// or https:// address"),
        ({"base_url": "http://h/v1/chat/completions"}, "ends in /chat/completions: leave that out"),
        ({"timeout_seconds": 0}, "a timeout is a number of seconds above 0, not 0"),
        ({"connect_seconds": float("nan")}, "above 0, not nan"),
        ({"first_byte_seconds": -1}, "above 0, not -1"),
        ({"headers": {"X-A": "a\r\nX-B: b"}}, "X-A holds characters"),
        ({"name": "no name"}, "name"),
    ],
)
def test_settings_that_cannot_be_are_refused_at_once(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        Registry().install(openai_models(**options))


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("localhost:8080/v1", "OPENAI_BASE_URL 'localhost:8080/v1' is no http:// or https:// address"),
        ("http://h/v1/chat/completions", "OPENAI_BASE_URL ends in /chat/completions: leave that out"),
        ("http://me:secret@h/v1", "OPENAI_BASE_URL holds a user or password, which would show in logs"),
    ],
)
def test_an_address_of_the_environment_that_cannot_be_is_refused_before_a_call(
    url: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    registry = Registry()
    registry.install(openai_models(api_key="k"))

    with pytest.raises(ConfigError, match=re.escape(f"provider 'openai': {said}")) as of_chat:
        run_sync(registry.model("openai/gpt-x").generate(ASK))
    with pytest.raises(ConfigError, match=re.escape(said)):
        run_sync(registry.embedder("openai/embed-x").embed(["a"]))

    assert "secret" not in str(of_chat.value)


def test_models_and_embedders_are_those_of_the_protocols() -> None:
    registry = Registry()
    registry.install(openai_models(api_key="k"))

    assert isinstance(registry.model("openai/gpt-x"), Model)
    assert isinstance(registry.embedder("openai/embed-x"), Embedder)
    assert repr(registry.model("openai/gpt-x")) == "ChatModel('openai/gpt-x')"


def test_defining_a_provider_loads_neither_the_sdk_nor_asyncio() -> None:
    code = (
        "import sys; from genkit_eval import Registry; from genkit_eval_openai import openai_models; "
        "Registry().install(openai_models(api_key='k')); "
        "print(sorted({'openai', 'anyio', 'asyncio'} & set(sys.modules)))"
    )
    # measuring coverage in the child would load modules of its own
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)

    assert done.stdout == "[]\n"


def test_connections_are_closed_with_the_loop_that_opened_them(chat_model: MakeModel) -> None:
    with OpenAIServer() as server:
        model = chat_model(server)

        async def client_of_this_loop() -> Any:
            await model.generate(ASK)
            return await model._server.client()

        first, second = run_sync(client_of_this_loop()), run_sync(client_of_this_loop())

    assert first is not second
    assert first._sdk.is_closed()
    assert second._sdk.is_closed()
