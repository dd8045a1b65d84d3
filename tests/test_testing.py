"""The fakes that tests of flows and evaluators are written with."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genkit_eval.errors import ConfigError, ModelError, UnknownName
from genkit_eval.models import Embedder, Message, Model, Reply
from genkit_eval.testing import HashEmbedder, ScriptedModel, data_point

pytestmark = pytest.mark.anyio

HELLO = [Message(role="user", content="Hello")]


async def test_one_reply_is_for_every_call() -> None:
    model = ScriptedModel("yes")

    texts = [(await model.generate(HELLO)).text for _ in range(3)]

    assert texts == ["yes"] * 3


async def test_several_replies_are_one_a_call_and_then_none() -> None:
    model = ScriptedModel(["one", Reply(text="two", finish_reason="length")], name="short")

    first, second = await model.generate(HELLO), await model.generate(HELLO)

    assert (first.text, first.finish_reason) == ("one", "stop")
    assert (second.text, second.finish_reason) == ("two", "length")
    with pytest.raises(ConfigError, match="model 'short' has 2 replies, and this is call 3"):
        await model.generate(HELLO)


async def test_a_function_replies_to_the_messages() -> None:
    model = ScriptedModel(lambda messages: messages[-1].content.upper())

    assert (await model.generate(HELLO)).text == "HELLO"


async def test_an_exception_is_raised() -> None:
    model = ScriptedModel([ModelError("busy", kind="rate_limit"), "now"])

    with pytest.raises(ModelError, match="busy"):
        await model.generate(HELLO)
    assert (await model.generate(HELLO)).text == "now"


async def test_calls_are_remembered() -> None:
    model = ScriptedModel("")

    await model.generate([Message(role="system", content="Be kind."), *HELLO], config={"temperature": 0})

    (call,) = model.calls
    assert call.text == "Be kind.\n\nHello"
    assert call.config == {"temperature": 0}
    assert call.output is None


async def test_texts_that_share_words_have_near_vectors() -> None:
    one, same, near, far = await HashEmbedder().embed(
        ["the kiosk opens at nine", "the kiosk opens at nine", "the kiosk opens at ten", "blue whales sing"]
    )

    def cosine(other: Sequence[float]) -> float:
        return sum(a * b for a, b in zip(one, other, strict=True))

    assert one == same
    assert cosine(same) == pytest.approx(1)
    assert cosine(far) < cosine(near) < 1


async def test_vectors_are_the_same_in_every_process() -> None:
    (vector,) = await HashEmbedder(dimensions=8).embed(["kiosk"])

    assert vector == [0, 1, 0, 0, 0, 0, 0, 0]


@given(st.text(), st.integers(1, 64))
def test_every_text_has_a_vector_of_length_one(text: str, dimensions: int) -> None:
    vector = HashEmbedder(dimensions=dimensions).vector(text)

    assert len(vector) == dimensions
    assert math.hypot(*vector) == pytest.approx(1)


def test_the_fakes_are_what_they_stand_for() -> None:
    assert isinstance(ScriptedModel(""), Model)
    assert isinstance(HashEmbedder(), Embedder)


def test_a_data_point_holds_what_it_was_given() -> None:
    point = data_point(output=0, reference=None)

    assert point.output == 0
    assert point.has("reference")
    assert not point.has("context")
    assert point.test_case_id == "case"


def test_a_field_that_no_data_point_has_is_refused() -> None:
    with pytest.raises(UnknownName, match="unknown field 'refrence': did you mean 'reference'"):
        data_point(refrence="x")
