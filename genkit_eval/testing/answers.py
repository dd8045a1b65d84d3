"""What the OpenAI-protocol server says: good answers, and every way in which servers fail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

from pydantic import JsonValue

__all__ = ["USAGE", "Answer", "Call", "chat_answer", "embeddings_answer", "error_answer", "html_answer"]

USAGE: Mapping[str, JsonValue] = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
"""What every answer costs, unless it says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request that arrived: `headers` by their lower-case names; `body` is None where there was no JSON.

    `client` is the port it came from: calls over one connection have the same.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    body: JsonValue = None
    client: int = 0

    def text(self) -> str:
        """The contents of a chat call's messages, or the texts of an embeddings call, joined by line breaks."""
        body = self.body if isinstance(self.body, dict) else {}
        messages = body.get("messages")
        if isinstance(messages, list):
            return "\n".join(str(message.get("content")) for message in messages if isinstance(message, dict))
        given = body.get("input")
        return "\n".join(map(str, given)) if isinstance(given, list) else str(given)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer over HTTP, or what comes in its place.

    Args:
        body: JSON, or bytes that are sent as they are.
        delay_seconds: before the first byte.
        dribble_seconds: the body goes out one byte at a time, with this pause after each.
        cut: bytes of the body that are sent before the connection is closed, though the head promised all of it.
        reset: the connection is reset in place of an answer.
        silent: nothing is ever answered; the connection stays open until the server ends.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: JsonValue | bytes = None
    delay_seconds: float = 0.0
    dribble_seconds: float = 0.0
    cut: int | None = None
    reset: bool = False
    silent: bool = False


def chat_answer(
    text: str | None,
    *,
    finish_reason: str | None = "stop",
    refusal: str | None = None,
    usage: JsonValue = USAGE,  # type: ignore[assignment]  # a mapping that nobody changes
    logprobs: JsonValue = None,
    **more: JsonValue,
) -> Answer:
    """A chat completion of one choice.

    Args:
        usage: None leaves it out.
        more: further keys of the completion, or others in place of these ("choices", "model", …).
    """
    message: dict[str, JsonValue] = {"role": "assistant", "content": text}
    if refusal is not None:
        message["refusal"] = refusal
    choice: dict[str, JsonValue] = {"index": 0, "message": message, "finish_reason": finish_reason}
    if logprobs is not None:
        choice["logprobs"] = logprobs
    body: dict[str, JsonValue] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "choices": [choice],
    }
    if usage is not None:
        body["usage"] = dict(usage) if isinstance(usage, Mapping) else usage
    return Answer(body={**body, **more})


def embeddings_answer(vectors: list[list[float]], **more: JsonValue) -> Answer:
    """Embeddings, in the order given; `more` are further keys, or others in place of these."""
    data: list[JsonValue] = [
        {"object": "embedding", "index": index, "embedding": list(vector)} for index, vector in enumerate(vectors)
    ]
    usage: dict[str, JsonValue] = {"prompt_tokens": 7, "total_tokens": 7}
    return Answer(body={"object": "list", "data": data, "usage": usage, **more})


def error_answer(
    status: int,
    message: str,
    *,
    code: str | None = None,
    param: str | None = None,
    kind: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """An error in OpenAI's form; `kind` is its "type"."""
    error: dict[str, JsonValue] = {"message": message, "type": kind, "param": param, "code": code}
    return Answer(status=status, headers=headers or {}, body={"error": error})


def html_answer(status: int) -> Answer:
    """The page that a proxy shows when the server behind it is gone."""
    phrase = HTTPStatus(status).phrase
    page = (
        f"<html>\r\n<head><title>{status} {phrase}</title></head>\r\n<body><h1>{status} {phrase}</h1></body></html>\r\n"
    )
    return Answer(status=status, headers={"Content-Type": "text/html"}, body=page.encode())
