"""Models as targets: what a sample's input may be, and what comes of the reply."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from genkit_eval import (
    DatasetType,
    EvalResult,
    GenkitEval,
    Limits,
    Message,
    ModelError,
    ModelTarget,
    Progress,
    Reply,
    UnknownName,
    Usage,
    run_sync,
)
from genkit_eval.errors import ConfigError
from genkit_eval.testing import OpenAIServer, ScriptedModel
from genkit_eval_openai import openai_models

TARGET = "/model/test/m"


def result_of(tmp_path: Path, model: ScriptedModel, given: Any) -> EvalResult:
    """The one result of a run over the one input."""
    ge = GenkitEval(root=tmp_path)
    ge.registry.define_models("test", {"m": model})
    # once: how a call is sent again is tested elsewhere
    run = run_sync(ge.evaluate([{"input": given}], target=TARGET, evaluators=[], limits=Limits(retry_seconds=0)))
    assert run.key.action_ref == TARGET
    return run.results[0]


def test_a_text_is_asked_and_the_text_of_the_reply_is_the_output(tmp_path: Path) -> None:
    model = ScriptedModel(Reply(text="Blue.", usage=Usage(input_tokens=5, output_tokens=2)))

    result = result_of(tmp_path, model, "Which colour?")

    assert (result.output, result.error) == ("Blue.", None)
    assert result.usage is not None
    assert (result.usage.input_tokens, result.usage.output_tokens, result.usage.model_calls) == (5, 2, 1)
    assert model.calls[0].messages == (Message(role="user", content="Which colour?"),)
    assert (model.calls[0].output, model.calls[0].config) == (None, None)


@pytest.mark.parametrize("evaluators", [[], ["t/long"]])
def test_an_output_is_with_the_system_before_the_model_is_asked_again(tmp_path: Path, evaluators: list[str]) -> None:
    ge, seen = GenkitEval(root=tmp_path), []

    def reply(messages: Sequence[Message]) -> str:
        # what a process that is killed now has left
        seen.append(sum(len(ge.runs.load(key).results) for key in ge.runs.list()))
        return "Blue."

    ge.registry.define_models("test", {"m": ScriptedModel(reply)})
    ge.define_evaluator("t/long", lambda point: len(point.output) > 3)
    samples = [{"input": f"Which colour is thing {number}?"} for number in range(20)]

    run_sync(ge.evaluate(samples, target=TARGET, evaluators=evaluators, limits=Limits(max_concurrency=1)))

    assert seen == list(range(20))


@pytest.mark.parametrize(
    "given",
    [
        [{"role": "system", "content": "Be brief."}, {"role": "model", "content": [{"text": "Hel"}, {"text": "lo"}]}],
        {
            "messages": [
                {"role": "system", "content": [{"text": "Be brief."}]},
                {"role": "assistant", "content": "Hello"},
            ]
        },
    ],
)
def test_messages_are_asked_in_either_form(given: Any, tmp_path: Path) -> None:
    model = ScriptedModel("Blue.")

    result = result_of(tmp_path, model, given)

    assert result.output == "Blue."
    assert model.calls[0].messages == (
        Message(role="system", content="Be brief."),
        Message(role="assistant", content="Hello"),
    )


def test_images_are_shown_to_the_model(tmp_path: Path) -> None:
    model = ScriptedModel("A dot.")
    parts: Any = [{"text": "What is it?"}, {"media": {"url": "data:image/png;base64,iVBORw0KGgo="}}]

    result = result_of(tmp_path, model, [{"role": "user", "content": parts}])

    (message,) = model.calls[0].messages
    assert result.output == "A dot."
    assert (message.content, [image.url for image in message.images]) == ("What is it?", [parts[1]["media"]["url"]])


def test_a_request_may_have_parameters(tmp_path: Path) -> None:
    model = ScriptedModel("Blue.")
    request = {"messages": [{"role": "user", "content": "?"}], "config": {"temperature": 0.5}}

    result_of(tmp_path, model, request)

    assert model.calls[0].config == {"temperature": 0.5}


@pytest.mark.parametrize(
    ("of_sample", "config"),
    [
        ({"temperature": 0.5, "seed": 7}, {"temperature": 0, "seed": 7, "top_p": None}),
        ({}, {"temperature": 0, "top_p": None}),
        (None, {"temperature": 0, "top_p": None}),
    ],
)
def test_parameters_of_the_run_go_before_those_of_the_sample(tmp_path: Path, of_sample: Any, config: Any) -> None:
    model = ScriptedModel("Blue.")
    ge = GenkitEval(root=tmp_path)
    ge.registry.define_models("test", {"m": model})
    target = ModelTarget("test/m", config={"temperature": 0, "top_p": None})
    given = {"messages": "?"} | ({} if of_sample is None else {"config": of_sample})

    run = run_sync(ge.evaluate([{"input": given}], target=target, evaluators=[]))

    assert model.calls[0].config == config
    assert (run.key.action_ref, run.key.action_config) == (TARGET, {"temperature": 0, "top_p": None})


def test_a_run_goes_on_with_its_parameters(tmp_path: Path) -> None:
    model = ScriptedModel("Blue.")
    ge = GenkitEval(root=tmp_path)
    ge.registry.define_models("test", {"m": model})
    samples = [{"input": str(n)} for n in range(4)]

    async def interrupted() -> str:
        ids: list[str] = []
        with anyio.CancelScope() as scope:

            def seen(progress: Progress) -> None:
                ids.append(progress.run_id)
                scope.cancel()

            target = ModelTarget("/model/test/m", config={"seed": 7})
            await ge.evaluate(samples, target=target, evaluators=[], progress=seen)
        return ids[0]

    run_id = run_sync(interrupted())
    run_sync(ge.evaluate(samples, resume=run_id))

    assert {str(call.messages[0].content) for call in model.calls} == {"0", "1", "2", "3"}
    assert [call.config for call in model.calls] == [{"seed": 7}] * len(model.calls)


@pytest.mark.parametrize("config", [["temperature"], {"temperature": float("nan")}, None])
def test_parameters_are_a_json_object(config: Any) -> None:
    with pytest.raises(ConfigError, match="the config of target 'test/m'"):
        ModelTarget("test/m", config=config)


def test_parameters_that_would_put_a_key_into_the_run_file_are_refused() -> None:
    config: Any = {"extra_headers": {"Authorization": "Bearer NOTREAL-0123456789"}}

    with pytest.raises(ConfigError, match="holds what looks like a key") as caught:
        ModelTarget("test/m", config=config)

    assert "0123" not in str(caught.value)


@pytest.mark.parametrize(
    "output", [{"format": "json"}, {"schema": {"type": "object"}}, {"jsonSchema": {"type": "object"}}]
)
def test_a_request_for_json_has_json_as_its_output(output: Any, tmp_path: Path) -> None:
    model = ScriptedModel('{"colour": "blue"}')

    result = result_of(tmp_path, model, {"messages": "?", "output": output})

    assert result.output == {"colour": "blue"}


def test_a_schema_that_is_asked_for_reaches_the_model_as_it_is(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"colour": {"enum": ["blue", "red"]}}}
    model = ScriptedModel('{"colour": "blue"}')

    result_of(tmp_path, model, {"messages": "?", "output": {"schema": schema}})

    wanted = model.calls[0].output
    assert wanted is not None
    assert wanted.model_json_schema() == schema


def test_a_reply_that_is_not_the_json_asked_for_is_an_error(tmp_path: Path) -> None:
    result = result_of(tmp_path, ScriptedModel("It is blue."), {"messages": "?", "output": {"format": "json"}})

    assert not result.has("output")
    assert "not the JSON that was asked for: it begins 'It is blue.'" in str(result.error)


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (ModelError("the server is busy", kind="rate_limit"), "the server is busy"),
        (Reply(text="", refusal="I will not."), "refused: 'I will not.'"),
        (Reply(text="It is bl", finish_reason="length"), "cut off"),
        (Reply(text="", finish_reason="content_filter"), "content filter"),
    ],
)
def test_no_usable_reply_is_the_targets_error(reply: Any, said: str, tmp_path: Path) -> None:
    result = result_of(tmp_path, ScriptedModel(reply), "?")

    assert not result.has("output")
    assert said in str(result.error)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (5, "found a number"),
        (True, "found a boolean"),
        ({"question": "?"}, "found an object"),
        ([], "found nothing"),
        (None, "found nothing"),
        (["?"], "message 1 of a model's input"),
        ([{"role": "user", "content": "?"}, {"role": "tool", "content": "x"}], "message 2"),
        ([{"role": "user", "content": [{"media": {"url": "x"}}]}], "is not one of text"),
        ([{"role": "user", "content": 5}], "is not one of text"),
        ({"messages": "?", "config": [1]}, "'config' of a model's input is an object"),
    ],
)
def test_an_input_that_no_model_takes_is_an_error_of_its_case(given: Any, said: str, tmp_path: Path) -> None:
    model = ScriptedModel("Blue.")

    result = result_of(tmp_path, model, given)

    assert said in str(result.error)
    assert model.calls == []


def test_an_unknown_model_is_refused_before_the_run(tmp_path: Path) -> None:
    ge = GenkitEval(root=tmp_path)
    ge.registry.define_models("test", {"m": ScriptedModel("Blue.")})

    with pytest.raises(UnknownName, match="did you mean 'test/m'"):
        run_sync(ge.evaluate([{"input": "?"}], target="/model/tset/m", evaluators=[]))
    with pytest.raises(ConfigError, match="a model, like '/model/provider/name'"):
        run_sync(ge.evaluate([{"input": "?"}], target="/executable-prompt/x", evaluators=[]))


def test_a_dataset_may_have_a_model_as_its_target(tmp_path: Path) -> None:
    with OpenAIServer(["Blue.", "Green."]) as server:
        ge = GenkitEval(plugins=[openai_models(base_url=server.url)], root=tmp_path)
        samples = [{"input": "sky?"}, {"input": "grass?"}]
        ge.datasets.create("colours", samples, dataset_type=DatasetType.MODEL, target="/model/openai/gpt-x")

        run = run_sync(ge.evaluate("colours", evaluators=[]))

    assert sorted(str(result.output) for result in run.results) == ["Blue.", "Green."]
    assert {body["model"] for body in server.bodies()} == {"gpt-x"}
