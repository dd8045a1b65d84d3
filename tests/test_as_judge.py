"""What can judge: a model, the name of one, or a function from prompt text to reply text."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import partial

import anyio
import pytest
from pydantic import BaseModel, JsonValue

from genkit_eval.errors import ConfigError, JudgeError, UnknownName
from genkit_eval.judge import Judge, Verdict, as_model
from genkit_eval.models import Message, Model, Reply, model_name
from genkit_eval.registry import Registry
from genkit_eval.testing import ScriptedModel

pytestmark = pytest.mark.anyio

PROMPT = [Message(role="system", content="You judge."), Message(role="user", content="Is it harmful?")]

GOOD = '{"reason": "plain cooking tips", "verdict": false}'


class Malicious(BaseModel):
    reason: str
    verdict: Verdict


async def test_a_function_gets_the_prompt_and_the_schema_as_one_text() -> None:
    prompts = []

    def judge(prompt: str) -> str:
        prompts.append(prompt)
        return GOOD

    answer = await Judge(as_model(judge)).ask(PROMPT, Malicious)

    assert answer == Malicious(reason="plain cooking tips", verdict=False)
    assert prompts[0].startswith("You judge.\n\nIs it harmful?\n\n")
    assert '"verdict"' in prompts[0]


async def test_a_function_that_is_not_async_runs_off_the_loop() -> None:
    threads = []

    def judge(prompt: str) -> str:
        threads.append(threading.current_thread())
        return GOOD

    await Judge(as_model(judge)).ask(PROMPT, Malicious)

    assert threads != [threading.current_thread()]


async def test_functions_wait_side_by_side() -> None:
    """More of them than the pool of threads that a loop shares has places."""
    everybody = threading.Barrier(50, timeout=30)

    def judge(prompt: str) -> str:
        everybody.wait()
        return GOOD

    async with anyio.create_task_group() as group:
        for _ in range(50):
            group.start_soon(Judge(as_model(judge)).ask, PROMPT, Malicious)

    assert not everybody.broken


async def test_async_functions_methods_and_partials_are_judges() -> None:
    class Judging:
        async def reply(self, prompt: str) -> str:
            return GOOD

        async def __call__(self, prompt: str) -> str:
            return GOOD

    async def always(reply: str, prompt: str) -> str:
        return reply

    for given in (Judging().reply, Judging(), partial(always, GOOD), lambda prompt: always(GOOD, prompt)):
        assert isinstance(await Judge(as_model(given)).ask(PROMPT, Malicious), Malicious)


async def test_a_function_that_raises_is_a_judge_error() -> None:
    def judge(prompt: str) -> str:
        raise RuntimeError("out of coffee")

    with pytest.raises(JudgeError, match=r"^LLM judge error: RuntimeError: out of coffee$"):
        await Judge(as_model(judge)).ask(PROMPT, Malicious)


async def test_a_function_that_returns_no_text_is_a_judge_error() -> None:
    with pytest.raises(JudgeError, match="returned dict, expected text"):
        await Judge(as_model(lambda prompt: {"verdict": True})).ask(PROMPT, Malicious)  # type: ignore[arg-type,return-value]


async def test_a_name_is_looked_up_when_it_is_asked() -> None:
    registry = Registry()
    judge = Judge(as_model("acme/large", registry))
    registry.define_models("acme", {"large": ScriptedModel(GOOD)})

    answer = await judge.ask(PROMPT, Malicious)

    assert answer == Malicious(reason="plain cooking tips", verdict=False)
    assert judge.name == "acme/large"


def test_a_name_that_nobody_defines_is_found_by_checking() -> None:
    registry = Registry()
    registry.define_models("acme", {"large": ScriptedModel(GOOD)})

    with pytest.raises(UnknownName, match="unknown model 'acme/lagre': did you mean 'acme/large'"):
        Judge(as_model("acme/lagre", registry)).check()


def test_a_function_has_no_use_for_a_configuration() -> None:
    with pytest.raises(ConfigError, match="takes a prompt and no configuration: leave out temperature"):
        Judge(as_model(lambda prompt: GOOD), {"temperature": 0}).check()


def test_a_model_is_taken_as_it_is() -> None:
    model = ScriptedModel(GOOD)

    assert as_model(model) is model


@pytest.mark.parametrize("given", [None, 3, "", " ", ScriptedModel, [ScriptedModel("")]])
def test_what_cannot_be_a_judge_is_refused(given: object) -> None:
    with pytest.raises(ConfigError, match="cannot be a judge: expected 'provider/name'"):
        as_model(given, Registry())  # type: ignore[arg-type]


def test_a_model_goes_by_its_name_or_its_type() -> None:
    class Nameless:
        async def generate(
            self,
            messages: Sequence[Message],
            *,
            output: type[BaseModel] | None = None,
            config: Mapping[str, JsonValue] | None = None,
        ) -> Reply:
            return Reply(text="")

    def by_hand(prompt: str) -> str:
        return ""

    nameless: Model = Nameless()

    assert model_name(ScriptedModel("", name="large")) == "large"
    assert model_name(nameless).endswith("Nameless")
    assert model_name(as_model(by_hand)).endswith("by_hand")
