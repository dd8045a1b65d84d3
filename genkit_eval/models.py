"""What a model and an embedder are: two protocols of one method each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from pydantic import BaseModel

from genkit_eval._data import Data
from genkit_eval.types import Usage

__all__ = ["Embedder", "Message", "Model", "Reply"]


class Message(Data):
    """One message to a model; `role` is system, user or assistant."""

    role: str
    content: str


class Reply(Data):
    """What a model answered: the text, why it stopped, and what it cost (None where it did not say)."""

    text: str
    finish_reason: str | None = None
    usage: Usage | None = None
    model: str | None = None


@runtime_checkable
class Model(Protocol):
    """Generates a reply to messages; `output` is the shape the reply's JSON should have, if any."""

    async def generate(self, messages: Sequence[Message], output: type[BaseModel] | None = None) -> Reply:
        """The reply to these messages."""
        ...


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors: one a text, in order, all of one length."""

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One vector a text."""
        ...
