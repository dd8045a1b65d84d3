"""A model and an embedder that need no server and answer the same every time, and data points for tests."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from pydantic import BaseModel, JsonValue

from genkit_eval.errors import ConfigError, UnknownName
from genkit_eval.models import Message, Reply
from genkit_eval.types import DataPoint

__all__ = ["HashEmbedder", "ModelCall", "Replies", "ScriptedModel", "data_point"]

Given = str | Reply | Exception
Replies = Given | Sequence[Given] | Callable[[Sequence[Message]], Given]
"""One reply for every call, one a call, or a function of the messages; an exception is raised."""


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call that a `ScriptedModel` got."""

    messages: Sequence[Message]
    output: type[BaseModel] | None
    config: Mapping[str, JsonValue] | None

    @property
    def text(self) -> str:
        """The contents of its messages, joined by blank lines."""
        return "\n\n".join(message.content for message in self.messages)


class ScriptedModel:
    """A model that says what it is told to, and remembers what it was asked.

    Args:
        replies: one for every call, one a call, or a function from messages to one.
        name: what it goes by in versions.
        sees: whether it takes images; None: it does, without saying so beforehand.

    Attributes:
        calls: what it was asked, in order.
    """

    def __init__(self, replies: Replies, *, name: str = "scripted", sees: bool | None = None) -> None:
        self.replies, self.name, self.sees = replies, name, sees
        self.calls: list[ModelCall] = []

    async def generate(
        self,
        messages: Sequence[Message],
        *,
        output: type[BaseModel] | None = None,
        config: Mapping[str, JsonValue] | None = None,
    ) -> Reply:
        """The next reply.

        Raises:
            ConfigError: there are no more.
        """
        self.calls.append(ModelCall(tuple(messages), output, config))
        given = self._next(messages)
        if isinstance(given, Exception):
            raise given
        return given if isinstance(given, Reply) else Reply(text=given, finish_reason="stop", model=self.name)

    def _next(self, messages: Sequence[Message]) -> Given:
        if isinstance(self.replies, str | Reply | Exception):
            return self.replies
        if callable(self.replies):
            return self.replies(messages)
        if len(self.calls) > len(self.replies):
            raise ConfigError(
                f"model '{self.name}' has {len(self.replies)} replies, and this is call {len(self.calls)}"
            )
        return self.replies[len(self.calls) - 1]


class HashEmbedder:
    """An embedder of words: texts that share words are near each other, the same text gives the same vector.

    Vectors have length 1. Words that differ may, rarely, fall on the same direction.

    Attributes:
        calls: the texts of each call, in order.
    """

    def __init__(self, *, dimensions: int = 256, name: str = "hash") -> None:
        self.dimensions, self.name = dimensions, name
        self.calls: list[Sequence[str]] = []

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One vector a text."""
        self.calls.append(tuple(texts))
        return [self.vector(text) for text in texts]

    def vector(self, text: str) -> Sequence[float]:
        """The vector of one text."""
        vector = [0.0] * self.dimensions
        for word in text.casefold().split() or [""]:
            digest = blake2b(word.encode(errors="replace"), digest_size=8).digest()
            vector[int.from_bytes(digest) % self.dimensions] += 1.0
        length = math.hypot(*vector)
        return [value / length for value in vector]


def data_point(**values: object) -> DataPoint:
    """A data point with these fields; it has an id and an input without saying so.

    Raises:
        UnknownName: there is no such field.
    """
    for name in values:
        if name not in DataPoint.model_fields:
            raise UnknownName("field", name, DataPoint.model_fields)
    return DataPoint.model_validate({"test_case_id": "case", "input": "the question", **values})
