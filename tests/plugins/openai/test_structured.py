"""Structured output and parameters: what a server refuses is found out once, and not asked of it again."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

import anyio
import pytest
from pydantic import BaseModel, Field, create_model

from genkit_eval import run_sync
from genkit_eval.errors import ConfigError
from genkit_eval.testing import Answer, Call, OpenAIServer, chat_answer, error_answer
from genkit_eval_openai import OpenAIError
from genkit_eval_openai.chat import ChatModel
from genkit_eval_openai.dialect import Dialect
from genkit_eval_openai.schema import response_schema
from tests.plugins.openai.conftest import ASK, GOOD, Verdict

MakeModel = Callable[..., ChatModel]


def ask(model: ChatModel, times: int = 1, **config: Any) -> None:
    """So many calls for a verdict, one after another on one loop."""

    async def calls() -> None:
        for _ in range(times):
            await model.generate(ASK, output=Verdict, config=config)

    run_sync(calls())


def forms(server: OpenAIServer) -> list[str]:
    """The form that each call asked for."""
    wanted: list[Any] = [body.get("response_format") or {"type": "text"} for body in server.bodies()]
    return [form["type"] for form in wanted]


def test_the_form_is_asked_for_by_schema(chat_model: MakeModel) -> None:
    with OpenAIServer(GOOD) as server:
        ask(chat_model(server))

    [body] = server.bodies()
    assert body["response_format"] == {
        "type": "json_schema",
        "json_schema": {
            "name": "Verdict",
            "strict": True,
            "schema": {
                "type": "object",
                "description": "What the tests ask a model for.",
                "properties": {"reason": {"type": "string"}, "verdict": {"type": "boolean"}},
                "required": ["reason", "verdict"],
                "additionalProperties": False,
            },
        },
    }
    assert body["messages"] == [{"role": "user", "content": "Is it blue?"}]


@pytest.mark.parametrize(
    ("refused", "asked"),
    [
        ({"json_schema"}, ["json_schema", "json_object", "json_object", "json_object"]),
        ({"json_schema", "json_object"}, ["json_schema", "json_object", "text", "text", "text"]),
        (set(), ["json_schema", "json_schema", "json_schema"]),
    ],
)
def test_each_form_is_tried_once_and_what_works_is_remembered(
    refused: set[str], asked: list[str], chat_model: MakeModel
) -> None:
    with OpenAIServer(GOOD, refuses=refused) as server:
        ask(chat_model(server), times=3)

    assert forms(server) == asked


@pytest.mark.case("api-fault/response-format-refused")
def test_a_server_without_json_object_is_asked_in_another_way(chat_model: MakeModel) -> None:
    """It is never asked for json_object at all, as it takes schemas."""
    with OpenAIServer(GOOD, refuses={"json_object"}) as server:
        ask(chat_model(server), times=5)

    assert len(server.calls) == 5


@pytest.mark.parametrize(
    "refusal",
    [
        {"error": "response_format.type: only json_object and text are known"},
        {"error": {"message": "Invalid schema for response_format 'Verdict'", "param": "response_format"}},
        {"detail": [{"loc": ["body", "response_format", "json_schema"], "msg": "extra fields not permitted"}]},
        {"error": {"message": "failed to parse grammar", "code": 400}},
        {"object": "error", "message": "guided decoding is off"},
    ],
)
@pytest.mark.parametrize("status", [400, 422, 500, 501])
def test_a_refusal_is_known_in_whatever_words(refusal: Any, status: int, chat_model: MakeModel) -> None:
    with OpenAIServer([Answer(status=status, body=refusal), chat_answer(GOOD)]) as server:
        ask(chat_model(server))

    assert forms(server) == ["json_schema", "json_object"]


@pytest.mark.parametrize(
    "answer", [error_answer(400, "bad roles"), error_answer(429, "json_schema"), error_answer(401, "json_schema")]
)
def test_another_error_is_not_taken_for_one(answer: Answer, chat_model: MakeModel) -> None:
    with OpenAIServer(answer) as server, pytest.raises(OpenAIError):
        ask(chat_model(server))

    assert len(server.calls) == 1


@pytest.mark.parametrize("refused", [{"json_schema"}, {"json_schema", "json_object"}])
def test_the_prompt_says_the_schema_where_the_server_does_not_take_it(refused: set[str], chat_model: MakeModel) -> None:
    with OpenAIServer(GOOD, refuses=refused) as server:
        ask(chat_model(server))

    messages: Any = server.bodies()[-1]["messages"]
    assert messages[-1]["content"].startswith("Is it blue?\n\nReply with one JSON object")
    assert '"verdict"' in messages[-1]["content"]


def test_a_server_that_ignores_the_form_is_told_in_the_prompt_from_then_on(chat_model: MakeModel) -> None:
    with OpenAIServer(["It is blue.", GOOD, GOOD]) as server:
        ask(chat_model(server), times=3)

    told = ["JSON Schema" in str(body["messages"]) for body in server.bodies()]
    assert told == [False, True, True]
    assert forms(server) == ["json_schema"] * 3


def test_a_reply_within_think_marks_comes_back_as_it_is(chat_model: MakeModel) -> None:
    said = f"<think>Is it?</think>\n{GOOD}"

    with OpenAIServer(said) as server:
        reply = run_sync(chat_model(server).generate(ASK, output=Verdict))

    assert reply.text == said


def test_those_who_come_together_wait_for_the_first_call(chat_model: MakeModel) -> None:
    with OpenAIServer(GOOD, refuses={"json_schema", "temperature"}) as server:
        model = chat_model(server)

        async def together() -> None:
            async with anyio.create_task_group() as group:
                for _ in range(20):
                    group.start_soon(ask_once, model)

        anyio.run(together)

    assert len(server.calls) == 22


async def ask_once(model: ChatModel) -> None:
    await model.generate(ASK, output=Verdict, config={"temperature": 0})


def test_those_who_wait_go_on_when_the_first_call_fails(chat_model: MakeModel) -> None:
    with OpenAIServer([error_answer(500, "oops"), *[chat_answer(GOOD)] * 4]) as server:
        model = chat_model(server)
        errors: list[OpenAIError] = []

        async def one() -> None:
            try:
                await ask_once(model)
            except OpenAIError as error:
                errors.append(error)

        async def together() -> None:
            async with anyio.create_task_group() as group:
                for _ in range(5):
                    group.start_soon(one)

        anyio.run(together)

    assert len(errors) == 1
    assert len(server.calls) == 5


@pytest.mark.case("api-fault/temperature-unsupported")
def test_a_refused_temperature_is_left_out_and_that_is_remembered(
    chat_model: MakeModel, caplog: pytest.LogCaptureFixture
) -> None:
    def server_rule(call: Call) -> Answer:
        if isinstance(call.body, Mapping) and "temperature" in call.body:
            return Answer(status=400, body={"error": {"param": "temperature", "code": "unsupported_value"}})
        return chat_answer(GOOD)

    with OpenAIServer(server_rule) as server:
        model = chat_model(server)
        with caplog.at_level(logging.WARNING):
            ask(model, times=5, temperature=0)

    assert len(server.calls) == 6
    assert model.not_sent == {"temperature"}
    assert caplog.messages == ["openai/gpt-x refuses temperature: it is asked without from now on"]


@pytest.mark.parametrize("name", ["temperature", "seed", "top_p", "logprobs", "presence_penalty"])
def test_what_a_model_can_do_without_is_left_out(name: str, chat_model: MakeModel) -> None:
    with OpenAIServer(GOOD, refuses={name}) as server:
        ask(chat_model(server), temperature=0, seed=1, top_p=1, logprobs=True, presence_penalty=0)

    assert [name in body for body in server.bodies()] == [True, False]
    assert len(server.bodies()[-1]) == len(server.bodies()[0]) - 1


def test_a_limit_of_tokens_goes_by_its_newer_name_where_the_old_one_is_refused(chat_model: MakeModel) -> None:
    with OpenAIServer(GOOD, refuses={"max_tokens"}) as server:
        ask(chat_model(server), times=2, max_output_tokens=20)

    limits = [{name: body[name] for name in body if name.startswith("max_")} for body in server.bodies()]
    assert limits == [{"max_tokens": 20}, {"max_completion_tokens": 20}, {"max_completion_tokens": 20}]


@pytest.mark.parametrize(
    "message", ["temperature must be between 0 and 2", "max_tokens is too large: 90000", "stop: unknown parameter"]
)
def test_a_wrong_value_is_an_error_and_is_not_left_out(message: str, chat_model: MakeModel) -> None:
    with OpenAIServer(error_answer(400, message)) as server, pytest.raises(OpenAIError, match=message):
        ask(chat_model(server), temperature=3, max_tokens=90000, stop="x")

    assert len(server.calls) == 1


def test_nothing_is_remembered_of_what_did_not_help(chat_model: MakeModel) -> None:
    refusal = error_answer(400, "temperature is not supported", param="temperature")

    with OpenAIServer([refusal, error_answer(500, "oops"), chat_answer(GOOD)]) as server:
        model = chat_model(server)
        with pytest.raises(OpenAIError, match="oops"):
            ask(model, temperature=0)
        ask(model, temperature=0)

    assert model.not_sent == set()


@pytest.mark.parametrize("name", ["model", "messages", "stream", "n", "response_format"])
def test_what_the_call_itself_sets_is_no_parameter(name: str, chat_model: MakeModel) -> None:
    with OpenAIServer() as server, pytest.raises(ConfigError, match=f"'{name}' is no parameter"):
        run_sync(chat_model(server).generate(ASK, config={name: 1}))

    assert server.calls == []


class Step(BaseModel):
    title: str = "none"
    within: list[Step] = Field(default_factory=list)


class Plan(BaseModel):
    """A plan."""

    first: Step = Field(description="where to begin")
    default: int | None = None


class Free(BaseModel):
    by_name: dict[str, int]


def test_a_schema_is_closed_at_every_depth_and_keeps_fields_by_whatever_name() -> None:
    schema: Any = response_schema(Plan)

    step = schema["schema"]["$defs"]["Step"]
    assert schema["strict"] is True
    assert schema["schema"]["required"] == ["first", "default"]
    assert schema["schema"]["properties"]["first"] == {"$ref": "#/$defs/Step"}
    assert (step["required"], step["additionalProperties"]) == (["title", "within"], False)
    assert step["properties"]["title"] == {"type": "string"}


def test_a_schema_with_free_keys_is_not_strict() -> None:
    schema: Any = response_schema(Free)

    assert schema["strict"] is False
    assert schema["schema"]["properties"]["by_name"]["additionalProperties"] == {"type": "integer"}


def test_the_name_of_a_schema_is_one_that_servers_take() -> None:
    generic = create_model("Größe[int]", x=(int, ...))

    assert response_schema(generic)["name"] == "Gr__e_int_"


def test_what_two_calls_learned_is_kept_of_both() -> None:
    one = Dialect(form="json_object", without=frozenset({"seed"}))
    other = Dialect(without=frozenset({"temperature"}), new_limit=True)

    assert one.joined(other) == other.joined(one)
    assert one.joined(other) == Dialect("json_object", frozenset({"seed", "temperature"}), new_limit=True)
