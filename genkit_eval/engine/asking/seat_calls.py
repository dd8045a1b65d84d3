"""How synchronous calls, on threads of their own, ask models in a run's name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from pydantic import BaseModel, JsonValue

from genkit_eval.engine.asking.model_calls import CellCalls
from genkit_eval.models import Embedder, Message, Model, Reply

__all__ = ["SeatCalls"]

T = TypeVar("T")


class SeatCalls:
    """The door of one thread: who asks a model there, through a loop of its own, asks for the call it is in.

    Most calls ask none. So what a call needs for it is made when it first asks.
    """

    __slots__ = ("_asked", "_begin")

    def __init__(self, begin: Callable[[], CellCalls]) -> None:
        self._begin = begin
        self._asked: CellCalls | None = None

    async def generate(
        self,
        model: Model,
        messages: Sequence[Message],
        *,
        output: type[BaseModel] | None,
        config: Mapping[str, JsonValue] | None,
        read: Callable[[Reply], T],
    ) -> T:
        """What `read` makes of the model's reply."""
        return await self._calls().generate(model, messages, output=output, config=config, read=read)

    async def embed(
        self, embedder: Embedder, texts: Sequence[str], *, config: Mapping[str, JsonValue] | None
    ) -> Sequence[Sequence[float]]:
        """One vector a text."""
        return await self._calls().embed(embedder, texts, config=config)

    def settle(self, what: str, value: JsonValue) -> JsonValue:
        """What holds of this matter to the run's end."""
        return self._calls().settle(what, value)

    def _calls(self) -> CellCalls:
        if self._asked is None:
            self._asked = self._begin()
        return self._asked

    def ended(self) -> CellCalls | None:
        """What the call that has just ended has asked, if it has; the next one begins anew."""
        asked, self._asked = self._asked, None
        return asked
