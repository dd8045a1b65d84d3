"""Images in messages: how they are sent, and how a server says that its model takes none."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from genkit_eval import Image, Message, run_sync
from genkit_eval.testing import Answer, OpenAIServer, error_answer
from genkit_eval_openai import OpenAIError
from genkit_eval_openai.chat import ChatModel
from tests.plugins.openai.conftest import ASK, GOOD, Verdict

MakeModel = Callable[..., ChatModel]

DOT = Image(media_type="image/png", data="iVBORw0KGgo=")
SHOWN = (Message(role="system", content="Look."), Message(role="user", content="What is it?", images=(DOT, DOT)))

REFUSALS = [
    error_answer(400, "Invalid content type. image_url is only supported by certain models.", code="invalid_request"),
    error_answer(500, "image input is not supported - hint: you may need to provide the mmproj"),
    error_answer(400, "llama-3-8b is not a multimodal model"),
    error_answer(404, "No endpoints found that support image input"),
    error_answer(400, "messages[0].content must be a string"),
    error_answer(422, "messages[1]: unknown variant `image_url`, expected `text`"),
    error_answer(400, "This model does not support image inputs"),
]


def test_images_follow_the_text_of_their_message(chat_model: MakeModel) -> None:
    with OpenAIServer() as server:
        run_sync(chat_model(server).generate(SHOWN))

    (body,) = server.bodies()
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    assert body["messages"] == [
        {"role": "system", "content": "Look."},
        {"role": "user", "content": [{"type": "text", "text": "What is it?"}, image, image]},
    ]


def test_the_form_of_the_reply_is_said_in_the_text_beside_the_images(chat_model: MakeModel) -> None:
    refused = error_answer(400, "response_format is not supported", param="response_format")

    with OpenAIServer([refused, refused, GOOD]) as server:
        run_sync(chat_model(server).generate(SHOWN, output=Verdict))

    text, *images = server.bodies()[-1]["messages"][1]["content"]
    assert "JSON Schema" in text["text"]
    assert len(images) == 2


@pytest.mark.parametrize("answer", REFUSALS)
def test_a_server_whose_model_takes_no_images_is_believed(answer: Answer, chat_model: MakeModel) -> None:
    with OpenAIServer([answer]) as server:
        model = chat_model(server)
        before = model.sees
        with pytest.raises(OpenAIError, match="use one that sees") as caught:
            run_sync(model.generate(SHOWN))

    assert caught.value.kind == "no_images"
    assert (before, model.sees) == (None, False)


@pytest.mark.parametrize(
    "message",
    [
        "You uploaded an unsupported image. Please make sure your image has one of the following formats",
        "Failed to decode image: it is not supported in this size",
        "temperature is not supported",
    ],
)
def test_a_server_that_dislikes_one_image_is_not_blind(message: str, chat_model: MakeModel) -> None:
    with OpenAIServer([error_answer(400, message)]) as server:
        model = chat_model(server)
        with pytest.raises(OpenAIError) as caught:
            run_sync(model.generate(SHOWN))

    assert caught.value.kind == "bad_request"
    assert model.sees is None


def test_the_words_mean_nothing_where_no_image_was_sent(chat_model: MakeModel) -> None:
    with OpenAIServer([REFUSALS[0]]) as server:
        model = chat_model(server)
        with pytest.raises(OpenAIError) as caught:
            run_sync(model.generate(ASK))

    assert caught.value.kind == "bad_request"
    assert model.sees is None


def test_it_may_be_said_beforehand_whether_models_see(chat_model: MakeModel) -> None:
    with OpenAIServer() as server:
        assert chat_model(server, sees=False).sees is False
        assert chat_model(server, sees=True).sees is True
