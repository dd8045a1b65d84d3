"""By what a call of a model is known again: everything that was asked, in forms that do not change by chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

from pydantic import BaseModel, JsonValue

from genkit_eval._json import dump
from genkit_eval.models import Image, Message
from genkit_eval.prompts import fence_marks

__all__ = ["RequestKey", "RequestKeys", "key_of_texts"]

_FORM = 1
"""Goes up when keys are made otherwise: what was kept under the old ones is then asked for again."""


@dataclass(frozen=True, slots=True)
class RequestKey:
    """The key of one request, and the random marks in it, which differ each time that it is asked.

    A reply may quote them, so it is kept without them.
    """

    text: str
    marks: tuple[str, ...] = ()

    def kept(self, reply: bytes) -> bytes:
        """The reply as it is kept: numbers in place of the marks."""
        for number, mark in enumerate(self.marks):
            reply = reply.replace(mark.encode(), _placeholder(number).encode())
        return reply

    def given(self, reply: bytes) -> bytes:
        """A kept reply as this request would have got it, with its own marks."""
        for number, mark in enumerate(self.marks):
            reply = reply.replace(_placeholder(number).encode(), mark.encode())
        return reply


class RequestKeys:
    """Makes the keys of the requests to models of one cell: the same request, asked again there, is another one.

    `identity` is the model's name and where it lies; `repeat` tells the passes over a case apart.
    """

    def __init__(self, repeat: int = 0) -> None:
        self._repeat = repeat
        self._places: Counter[str] = Counter()

    def of_messages(
        self,
        identity: str,
        messages: Sequence[Message],
        *,
        output: type[BaseModel] | None = None,
        config: Mapping[str, JsonValue] | None = None,
    ) -> RequestKey:
        """The key of a request to a model."""
        texts = [message.content for message in messages]
        marks = tuple(dict.fromkeys(mark for text in texts for mark in fence_marks(text)))
        said = [[message.role, _without(marks, message.content), *map(_seen, message.images)] for message in messages]
        asked = _asked(identity, "generate", said, None if output is None else _schema(output), config)
        place = self._places[asked]
        self._places[asked] += 1
        text = asked if not (place or self._repeat) else _digest(dump([asked, self._repeat, place]))
        return RequestKey(text, marks)


def key_of_texts(identity: str, texts: Sequence[str], *, config: Mapping[str, JsonValue] | None = None) -> RequestKey:
    """The key of a request to an embedder, which tells the same of the same texts however often it is asked."""
    return RequestKey(_asked(identity, "embed", list(texts), None, config))


def _asked(
    identity: str, verb: str, said: Sequence[object], schema: str | None, config: Mapping[str, JsonValue] | None
) -> str:
    return _digest(dump([_FORM, identity, verb, said, schema, sorted((config or {}).items())]))


def _without(marks: Sequence[str], text: str) -> str:
    for number, mark in enumerate(marks):
        text = text.replace(mark, _placeholder(number))
    return text


def _seen(image: Image) -> str:
    return _digest(image.url.encode())


@lru_cache(maxsize=256)
def _placeholder(number: int) -> str:
    # of a mark's own form and length
    return f"data-{number:016d}"


# a schema takes a millisecond to make; the order of its fields is kept, as a model answers in that order
@lru_cache(maxsize=256)
def _schema(output: type[BaseModel]) -> str:
    return _digest(dump(output.model_json_schema()))


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=20).hexdigest()
