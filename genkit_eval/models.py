"""What a model and an embedder are: two protocols of one method each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, runtime_checkable

from pydantic import BaseModel, Field, JsonValue

from genkit_eval._data import Data
from genkit_eval.types import Usage

__all__ = [
    "CUT_OFF",
    "FILTERED",
    "Embedder",
    "Image",
    "Message",
    "Model",
    "Reply",
    "TokenLogprob",
    "Vectors",
    "model_identity",
    "model_name",
    "model_sees",
]

_IMAGE_URL = r"data:(?P<media_type>image/[a-z0-9.+-]+);base64,(?P<data>[A-Za-z0-9+/]+=*)"


class Image(Data):
    """An image in a message: `media_type` like "image/png", `data` in base64."""

    media_type: str
    data: str

    @property
    def url(self) -> str:
        """The image as an address that holds all of it, which is how servers take it."""
        return f"data:{self.media_type};base64,{self.data}"

    @classmethod
    def of_url(cls, url: object) -> Image | None:
        """The image that an address of data in base64 holds; None where it is no such address."""
        found = re.fullmatch(_IMAGE_URL, url) if isinstance(url, str) else None
        return None if found is None else cls(media_type=found["media_type"], data=found["data"])


class Message(Data):
    """One message to a model; `role` is system, user or assistant. Its images are for a model that sees."""

    role: str
    content: str
    images: Sequence[Image] = ()


class TokenLogprob(Data):
    """One token of a reply with its natural log-probability, and those of the alternatives that were weighed."""

    token: str
    logprob: float
    alternatives: Mapping[str, float] = Field(default_factory=dict)


CUT_OFF = frozenset({"length", "max_tokens", "model_length"})
FILTERED = frozenset({"content_filter", "safety"})
"""The words of several servers for a reply that is not whole, in small letters."""


class Reply(Data):
    """What a model answered: the text, why it stopped, and what it cost (None where it did not say).

    `finish_reason` is the server's own word: "stop" for a whole reply, "length" for one cut off, "content_filter" …
    `refusal` is what the model said instead of an answer. `logprobs` are there only when they were asked for.
    `not_applied` names the parameters of the call that the server refuses, so that it went without. `images` are those
    that the model made.
    """

    text: str
    finish_reason: str | None = None
    refusal: str | None = None
    usage: Usage | None = None
    model: str | None = None
    logprobs: Sequence[TokenLogprob] | None = None
    not_applied: Sequence[str] = ()
    images: Sequence[Image] = ()

    @property
    def cut_off(self) -> bool:
        """Whether it ended at a limit of tokens, in any server's word for it."""
        return (self.finish_reason or "").lower() in CUT_OFF

    @property
    def filtered(self) -> bool:
        """Whether a content filter stopped it, in any server's word for it."""
        return (self.finish_reason or "").lower() in FILTERED


@runtime_checkable
class Model(Protocol):
    """Generates a reply to messages.

    `output` is the shape the reply's JSON should have, if any; `config` holds parameters of the call
    (`temperature` and the like), which go to it as they are. A model that gives no usable reply raises `ModelError`.
    One that is asked with images and takes none raises it with the kind "no_images"; an attribute `sees` that is False
    says so beforehand.
    """

    async def generate(
        self,
        messages: Sequence[Message],
        *,
        output: type[BaseModel] | None = None,
        config: Mapping[str, JsonValue] | None = None,
    ) -> Reply:
        """The reply to these messages."""
        ...


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors: one a text, in order, all of one length."""

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One vector a text."""
        ...


class Vectors(list[Sequence[float]]):
    """Vectors of an embedder that knows what they cost."""

    def __init__(self, vectors: Iterable[Sequence[float]], *, usage: Usage | None = None) -> None:
        super().__init__(vectors)
        self.usage = usage


def model_identity(model: Model | Embedder) -> str | None:
    """What tells this model from every other one, on this machine and later: its own `identity`, if it has one.

    That is its name and where it lies (a server's address, a file's digest). Replies of a model without one are kept
    for the run that asked, and for no other.
    """
    identity = getattr(model, "identity", None)
    return identity if isinstance(identity, str) and identity else None


def model_name(model: Model | Embedder) -> str:
    """The name a model or embedder goes by in versions: its own `name`, else that of its type."""
    name = getattr(model, "name", None)
    return name if isinstance(name, str) and name else type(model).__qualname__


def model_sees(model: Model) -> bool | None:
    """Whether it takes images: its own `sees`; None where that is not known, so that it has to be asked."""
    sees = getattr(model, "sees", None)
    return sees if isinstance(sees, bool) else None
