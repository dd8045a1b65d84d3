"""Judges that are shown images."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from genkit_eval import Image, Judge, JudgeError, Message, Reply, run_sync
from genkit_eval.judge import as_model
from genkit_eval.models import model_sees
from genkit_eval.testing import ScriptedModel

DOT = Image(media_type="image/png", data="iVBORw0KGgo=")
ASK = [Message(role="system", content="Judge."), Message(role="user", content="Is it a dot?")]


class Answer(BaseModel):
    """What is asked for."""

    dot: bool


def test_the_last_message_of_the_user_has_the_images_and_so_when_asked_once_more() -> None:
    model = ScriptedModel(["what?", '{"dot": true}'])

    answer = run_sync(Judge(model, images=(DOT,)).ask(ASK, Answer))

    assert answer.dot
    assert [[len(message.images) for message in call.messages][:2] for call in model.calls] == [[0, 1], [0, 1]]


@pytest.mark.parametrize("blind", [ScriptedModel("{}", sees=False), as_model(lambda prompt: "{}")])
def test_who_takes_no_images_is_not_asked(blind: ScriptedModel) -> None:
    with pytest.raises(JudgeError, match="takes no images") as caught:
        run_sync(Judge(blind, images=(DOT,)).ask(ASK, Answer))

    assert caught.value.kind == "no_images"
    assert not getattr(blind, "calls", ())


def test_who_takes_no_images_may_be_asked_without() -> None:
    assert run_sync(Judge(ScriptedModel('{"dot": false}', sees=False)).ask(ASK, Answer)).dot is False


def test_what_a_model_does_not_say_about_its_sight_is_unknown() -> None:
    class Plain:
        sees = "well"

        async def generate(self, messages: object, *, output: object = None, config: object = None) -> Reply:
            return Reply(text="")

    assert model_sees(Plain()) is None
