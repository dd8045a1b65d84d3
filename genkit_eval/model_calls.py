"""The one door through which judges, metrics and model targets ask models and embedders.

Within a run, the engine stands in the door: it limits, retries, keeps replies and counts what they cost. Elsewhere the
model is asked directly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, JsonValue

from genkit_eval.models import Embedder, Message, Model, Reply

__all__ = ["Caller", "caller", "embed", "embedded", "generate", "settle"]

Read = TypeVar("Read")
T = TypeVar("T")


class Caller(Protocol):
    """Who asks in a run's name: for one call of a target, or one evaluator on one case."""

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
        ...

    async def embed(
        self, embedder: Embedder, texts: Sequence[str], *, config: Mapping[str, JsonValue] | None
    ) -> Sequence[Sequence[float]]:
        """One vector a text."""
        ...

    def settle(self, what: str, value: JsonValue) -> JsonValue:
        """What holds of this matter to the run's end."""
        ...


caller: ContextVar[Caller | None] = ContextVar("genkit_eval_caller", default=None)
"""Who stands in the door; None outside a run."""


async def generate(
    model: Model,
    messages: Sequence[Message],
    *,
    read: Callable[[Reply], Read],
    output: type[BaseModel] | None = None,
    config: Mapping[str, JsonValue] | None = None,
) -> Read:
    """What `read` makes of the model's reply to these messages.

    Args:
        read: raises when the reply is of no use; then it is kept for no other run.
        output, config: as `Model.generate` takes them.

    Raises:
        ModelError: no reply. Whatever `read` raises.
    """
    through = caller.get()
    if through is None:
        return read(await model.generate(messages, output=output, config=config))
    return await through.generate(model, messages, output=output, config=config, read=read)


async def embed(
    embedder: Embedder, texts: Sequence[str], *, config: Mapping[str, JsonValue] | None = None
) -> Sequence[Sequence[float]]:
    """One vector a text; `config` only for an embedder that takes one.

    Raises:
        ModelError: none, or not one a text.
    """
    through = caller.get()
    if through is None:
        return await embedded(embedder, texts, config)
    return await through.embed(embedder, texts, config=config)


def settle(what: str, value: JsonValue) -> JsonValue:
    """What holds of a matter that is decided by the first reply, as all scores of a run must have one ruler.

    Args:
        what: the matter, as `"geval/coherence by openai/gpt-4o: form"`; it stands in the run's key.
        value: what this reply would decide.

    Returns:
        What was settled first, in whichever session of the run; outside a run, the value itself.
    """
    through = caller.get()
    return value if through is None else through.settle(what, value)


async def embedded(
    embedder: Embedder, texts: Sequence[str], config: Mapping[str, JsonValue] | None
) -> Sequence[Sequence[float]]:
    """Ask the embedder itself."""
    if not config:
        return await embedder.embed(texts)
    # the protocol asks for texts only: whoever gives a config has looked whether this one takes it
    configurable: Any = embedder
    vectors: Sequence[Sequence[float]] = await configurable.embed(texts, config=config)
    return vectors
