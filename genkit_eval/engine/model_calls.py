"""How a run asks models: what all its calls share, and who asks in its name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from time import perf_counter
from typing import TypeVar

from pydantic import BaseModel, JsonValue

from genkit_eval.engine.clock import Clock
from genkit_eval.engine.metric import Metric
from genkit_eval.model_calls import caller, embedded
from genkit_eval.models import Embedder, Message, Model, Reply, model_name
from genkit_eval.stored import ModelUsage
from genkit_eval.types import Usage

__all__ = ["TARGET", "CellCalls", "RunCalls"]

T = TypeVar("T")

TARGET = "target"
"""Who asks, where it is no evaluator."""


class RunCalls:
    """What the model calls of one run share."""

    def begin(self, used_by: str, *, slot: int = -1, repeat: int = 0) -> CellCalls:
        """From now on, in this context, models are asked in the name of this target call or evaluator.

        Args:
            used_by: `TARGET` or the evaluator's key.
            slot: of the case in the journal; -1 where it has none yet.
            repeat: which of several passes over the same case this is.
        """
        calls = CellCalls(self, used_by, slot=slot, repeat=repeat)
        caller.set(calls)
        return calls


class CellCalls:
    """The model calls of one call of the target, or of one evaluator on one case."""

    __slots__ = ("_clock", "_repeat", "_run", "_slot", "_spent", "_used_by")

    def __init__(self, run: RunCalls, used_by: str, *, slot: int, repeat: int) -> None:
        self._run, self._used_by, self._slot, self._repeat = run, used_by, slot, repeat
        self._clock = Clock()
        self._spent: dict[str, _Spent] = {}

    def again(self, repeat: int) -> CellCalls:
        """From now on, in this context, the same asker asks for another pass; what that costs is billed here too."""
        calls = CellCalls(self._run, self._used_by, slot=self._slot, repeat=repeat)
        calls._spent = self._spent
        caller.set(calls)
        return calls

    def timed_by(self, clock: Clock) -> None:
        """The clock of the call that asks, which stands still while a model call waits for its turn."""
        self._clock = clock

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
        reply = await self._asked(
            model_name(model), lambda: model.generate(messages, output=output, config=config), lambda reply: reply.usage
        )
        return read(reply)

    async def embed(
        self, embedder: Embedder, texts: Sequence[str], *, config: Mapping[str, JsonValue] | None
    ) -> Sequence[Sequence[float]]:
        """One vector a text."""
        return await self._asked(
            model_name(embedder),
            lambda: embedded(embedder, texts, config),
            # an embedder may say what it cost, beside the vectors
            lambda vectors: getattr(vectors, "usage", None),
        )

    async def _asked(self, name: str, ask: Callable[[], Awaitable[T]], cost: Callable[[T], Usage | None]) -> T:
        spent = self._spent.setdefault(name, _Spent())
        started = perf_counter()
        try:
            given = await ask()
        finally:
            spent.calls += 1
            spent.seconds += perf_counter() - started
        spent.add(cost(given))
        return given

    def usage(self) -> list[ModelUsage]:
        """What was spent so far, by model."""
        return [spent.as_usage(name) for name, spent in self._spent.items()]

    def billed(self, metrics: list[Metric]) -> list[Metric]:
        """The metrics, the first one with what they cost."""
        if not self._spent:
            return metrics
        return [metrics[0].costing(self.usage()), *metrics[1:]]


class _Spent:
    """What calls of one model have cost."""

    __slots__ = ("cached_tokens", "calls", "input_tokens", "output_tokens", "seconds")

    def __init__(self) -> None:
        self.calls = 0
        self.seconds = 0.0
        # None as long as no reply said it: unknown is not zero
        self.input_tokens: int | None = None
        self.output_tokens: int | None = None
        self.cached_tokens: int | None = None

    def add(self, usage: Usage | None) -> None:
        """Count what one call says it cost."""
        for name in ("input_tokens", "output_tokens", "cached_tokens"):
            tokens = None if usage is None else getattr(usage, name)
            if tokens is not None:
                setattr(self, name, (getattr(self, name) or 0) + tokens)

    def as_usage(self, model: str) -> ModelUsage:
        """In the form of a run file."""
        values = {
            "model": model,
            "model_calls": self.calls,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cached_tokens": self.cached_tokens,
            "seconds": round(self.seconds, 6),
        }
        return ModelUsage.trusted({name: value for name, value in values.items() if value is not None})
