"""Each way in which a call of a model fails has a kind, and says what to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from genkit_eval import run_sync
from genkit_eval.testing import Answer, OpenAIServer, chat_answer, error_answer, html_answer
from genkit_eval_openai import OpenAIError
from genkit_eval_openai.chat import ChatModel
from tests.plugins.openai.conftest import ASK

MakeModel = Callable[..., ChatModel]


def failure(answer: Answer, chat_model: MakeModel, **options: Any) -> OpenAIError:
    """What a call raises that gets this answer; it is not made twice."""
    with OpenAIServer([answer]) as server:
        model = chat_model(server, **options)
        with pytest.raises(OpenAIError) as caught:
            run_sync(model.generate(ASK))
    # within a tenth of a second a busy machine may not get as far as the server
    assert len(server.calls) <= 1
    return caught.value


@pytest.mark.parametrize(
    ("answer", "kind", "said"),
    [
        (error_answer(401, "no", code="invalid_api_key"), "auth", "check the key"),
        (error_answer(403, "not in your region"), "auth", "not in your region"),
        (error_answer(402, "pay"), "quota", "billing"),
        (error_answer(404, "The model 'gpt-x' does not exist"), "bad_request", "check the model's name"),
        (error_answer(408, "slow"), "timeout", "took too long"),
        (error_answer(409, "locked"), "server", "try again later"),
        (error_answer(422, "unprocessable"), "bad_request", "unprocessable"),
        (error_answer(429, "slow down"), "rate_limit", "fewer calls"),
        (error_answer(500, "oops"), "server", "oops"),
        (error_answer(501, "not here"), "bad_request", "not here"),
        (html_answer(502), "server", r"HTTP 502: 502 Bad Gateway\)"),
        (html_answer(503), "server", "503 Service Unavailable"),
        (Answer(status=400, body={"detail": "plain detail"}), "bad_request", "plain detail"),
        (Answer(status=400, body={"error": "plain text"}), "bad_request", "plain text"),
        (Answer(status=418, body=None), "bad_request", "HTTP 418"),
    ],
)
def test_an_error_of_the_server_has_a_kind_and_says_what_to_do(
    answer: Answer, kind: str, said: str, chat_model: MakeModel
) -> None:
    error = failure(answer, chat_model)

    assert error.kind == kind
    assert error.status == answer.status
    with pytest.raises(OpenAIError, match=said):
        raise error


@pytest.mark.parametrize(
    "answer",
    [
        error_answer(400, "This model's maximum context length is 8192 tokens.", code="context_length_exceeded"),
        error_answer(400, "the request exceeds the available context size", kind="exceed_context_size_error"),
    ],
)
def test_a_prompt_too_long_for_the_model_is_a_kind_of_its_own(answer: Answer, chat_model: MakeModel) -> None:
    error = failure(answer, chat_model)

    assert error.kind == "window"
    assert "longer than what the model can read" in str(error)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "3"}, 3.0),
        ({"Retry-After": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "Retry-After": "9"}, 0.25),
        ({"Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT"}, 0.0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "-1"}, None),
        ({"Retry-After": "inf"}, None),
        ({}, None),
    ],
)
def test_how_long_to_wait_is_read_in_every_form(
    headers: dict[str, str], seconds: float | None, chat_model: MakeModel
) -> None:
    error = failure(error_answer(429, "slow down", headers=headers), chat_model)

    assert error.retry_after_seconds == seconds


@pytest.mark.case("api-fault/retry-after-a-day")
def test_a_wait_of_a_day_is_said_and_not_waited(chat_model: MakeModel) -> None:
    error = failure(error_answer(429, "slow down", headers={"Retry-After": "86400"}), chat_model)

    assert "asks to wait 86400 s" in str(error)


@pytest.mark.case("api-fault/insufficient-quota")
def test_a_spent_quota_is_no_rate_limit(chat_model: MakeModel) -> None:
    answer = error_answer(429, "quota used up", code="insufficient_quota", kind="insufficient_quota")

    error = failure(answer, chat_model)

    assert error.kind == "quota"
    assert "waiting does not help" in str(error)


@pytest.mark.case("api-fault/content-filter-prompt")
@pytest.mark.parametrize(
    "answer",
    [
        error_answer(400, "filtered", code="content_filter"),
        Answer(
            status=400,
            body={"error": {"code": "BadRequest", "innererror": {"code": "ResponsibleAIPolicyViolation"}}},
        ),
        chat_answer(None, finish_reason="content_filter"),
    ],
)
def test_a_content_filter_is_a_kind_of_its_own_and_is_asked_once(answer: Answer, chat_model: MakeModel) -> None:
    error = failure(answer, chat_model)

    assert error.kind == "content_filter"


@pytest.mark.case("api-fault/length-truncated-but-repairable")
def test_a_reply_that_was_cut_off_is_an_error_before_anyone_reads_it(chat_model: MakeModel) -> None:
    cut = '{"statements": ["It is blue", "It is tall"'

    error = failure(chat_answer(cut, finish_reason="length"), chat_model)

    assert error.kind == "length"
    assert "limit of tokens" in str(error)
    assert error.text == cut


@pytest.mark.case("api-fault/null-content-refusal-field")
def test_a_refusal_is_an_error_that_quotes_it(chat_model: MakeModel) -> None:
    error = failure(chat_answer(None, refusal="I cannot help with that."), chat_model)

    assert error.kind == "refused"
    assert "I cannot help with that." in str(error)


@pytest.mark.case("api-fault/choices-empty")
@pytest.mark.parametrize(
    "body",
    [{"id": "x", "choices": []}, {"id": "x"}, {"choices": [None]}, {"choices": [{"message": None}]}, {"choices": "no"}],
)
def test_a_completion_without_a_choice_is_an_error(body: Any, chat_model: MakeModel) -> None:
    assert failure(Answer(body=body), chat_model).kind == "empty"


@pytest.mark.parametrize("more", [{"tool_calls": [{"id": "1"}]}, {"reasoning_content": "hm"}, {}])
def test_a_message_without_content_is_an_error(more: Any, chat_model: MakeModel) -> None:
    message = {"role": "assistant", "content": None, **more}

    error = failure(chat_answer(None, choices=[{"message": message, "finish_reason": "stop"}]), chat_model)

    assert error.kind == "empty"


@pytest.mark.case("api-fault/error-inside-200")
def test_an_error_within_a_good_answer_is_an_error(chat_model: MakeModel) -> None:
    error = failure(Answer(body={"error": {"message": "rate limited upstream", "code": 429}}), chat_model)

    assert error.kind == "rate_limit"
    assert "rate limited upstream" in str(error)


@pytest.mark.case("api-fault/error-inside-200")
@pytest.mark.parametrize(
    ("fields", "kind", "status"),
    [
        ({"code": "429"}, "rate_limit", 429),
        ({"code": "rate_limit_exceeded"}, "rate_limit", 429),
        ({"type": "overloaded_error"}, "server", 529),
        ({"type": "server_error", "code": None}, "server", 500),
        ({"code": "invalid_api_key"}, "auth", 401),
        ({"code": "insufficient_quota", "type": "rate_limit_error"}, "quota", 429),
        ({"code": 7}, "bad_request", 200),
        ({"code": "odd"}, "bad_request", 200),
    ],
)
def test_the_code_of_an_error_within_a_good_answer_tells_its_kind(
    fields: dict[str, Any], kind: str, status: int, chat_model: MakeModel
) -> None:
    error = failure(Answer(body={"error": {"message": "no", **fields}}), chat_model)

    assert (error.kind, error.status) == (kind, status)


@pytest.mark.parametrize(
    "body",
    [b'{"id": "x", "cho', b"", b"<html>hello</html>", b"[1]", b"null", b'{"a": NaN}', b"[" * 100_000],
)
def test_an_answer_that_is_no_json_object_is_the_servers_fault(body: bytes, chat_model: MakeModel) -> None:
    error = failure(Answer(body=body), chat_model)

    assert error.kind == "server"
    assert "no JSON object" in str(error)


@pytest.mark.case("api-fault/transient-mix")
@pytest.mark.parametrize("answer", [Answer(reset=True), replace(chat_answer("Blue, and much more."), cut=40)])
def test_a_connection_that_breaks_is_an_error_of_its_own_and_is_not_tried_again(
    answer: Answer, chat_model: MakeModel
) -> None:
    error = failure(answer, chat_model)

    assert error.kind == "connection"


@pytest.mark.case("api-fault/total-time-bound")
@pytest.mark.parametrize(
    "answer",
    [
        Answer(silent=True),
        replace(chat_answer("late"), delay_seconds=60),
        # every byte comes in time, the whole never does
        replace(chat_answer("x" * 5000), dribble_seconds=0.01),
    ],
)
def test_a_call_takes_no_longer_than_its_timeout_whatever_the_server_does(
    answer: Answer, chat_model: MakeModel
) -> None:
    error = failure(answer, chat_model, timeout_seconds=0.1)

    assert error.kind == "timeout"
    assert "no whole answer within 0.1 s" in str(error)


@pytest.mark.parametrize(
    "answer", [Answer(silent=True), replace(chat_answer("x" * 500), dribble_seconds=0.5)], ids=["silent", "a pause"]
)
def test_a_server_that_falls_silent_is_given_up_before_the_call_is_over(answer: Answer, chat_model: MakeModel) -> None:
    error = failure(answer, chat_model, first_byte_seconds=0.1)

    assert error.kind == "timeout"
    assert "sent nothing for 0.1 s" in str(error)
