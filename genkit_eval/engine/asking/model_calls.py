"""How a run asks models: what all its calls share, and who asks in its name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Generic, Protocol, Self, TypeVar

import anyio
from pydantic import BaseModel, JsonValue

from genkit_eval.engine.asking.budget import Purse, SpentError
from genkit_eval.engine.asking.choices import Choices
from genkit_eval.engine.asking.clock import Clock
from genkit_eval.engine.asking.kept_replies import KeptReplies, reply_from, reply_json, vectors_from, vectors_json
from genkit_eval.engine.asking.limiter import Limiter
from genkit_eval.engine.asking.limits import Limits
from genkit_eval.engine.asking.model_limits import limits_for
from genkit_eval.engine.asking.request_key import RequestKey, RequestKeys, key_of_texts
from genkit_eval.engine.asking.retry import Retrier, Tries
from genkit_eval.engine.asking.usage import Spent, Totals, added, tokens_of
from genkit_eval.model_calls import caller, embedded
from genkit_eval.models import Embedder, Message, Model, Reply, model_identity, model_name
from genkit_eval.prices import Prices
from genkit_eval.stored import ModelUsage
from genkit_eval.types import Usage

__all__ = ["TARGET", "CellCalls", "RunCalls"]

T = TypeVar("T")
R = TypeVar("R")

TARGET = "target"
"""Who asks, where it is no evaluator."""
CHARACTERS_A_TOKEN = 4
"""As good a guess as any, before the server says it."""
IMAGE = 4_000
"""Characters that cost about as much as an image."""


class _Billable(Protocol):
    """What can say what it cost: a metric."""

    def costing(self, usage: Sequence[ModelUsage]) -> Self: ...


Bill = TypeVar("Bill", bound=_Billable)


@dataclass(frozen=True, slots=True)
class _Request(Generic[R]):
    """One request to a model or an embedder, and how what it replies is kept."""

    name: str
    identity: str | None
    ask: Callable[[], Awaitable[R]]
    characters: Callable[[], int]
    key: Callable[[RequestKeys], RequestKey]
    to_json: Callable[[R], bytes | None]
    from_json: Callable[[bytes | None], R | None]


class RunCalls:
    """What the model calls of one run share.

    `kept` are the replies that need not be paid for, and `purse` pays for the others.
    """

    def __init__(self, kept: KeptReplies, purse: Purse, choices: Choices, *, limits: Limits, prices: Prices) -> None:
        self.kept, self.purse, self.choices = kept, purse, choices
        self._limits, self.prices = limits, prices
        self._retriers: dict[str, Retrier] = {}
        self.totals = Totals()

    def retrier(self, model: str) -> Retrier:
        """How this model is asked; the same one for all who ask it."""
        found = self._retriers.get(model)
        if found is None:
            limits = limits_for(model, self._limits.models, samples=self._limits.max_concurrency)
            # of two threads that make one, both get the same
            found = self._retriers.setdefault(model, Retrier(model, self._limits, Limiter(limits)))
        return found

    def stop(self) -> None:
        """Nobody is to wait any more for a call that will not be sent: the run ends early."""
        for retrier in tuple(self._retriers.values()):
            retrier.limiter.stop(SpentError)

    def begin(self, used_by: str, *, slot: int = -1, repeat: int = 0) -> CellCalls:
        """From now on, in this context, models are asked in the name of this target call or evaluator.

        Args:
            used_by: `TARGET` or the evaluator's key.
            slot: of the case in the journal; -1 where it has none yet.
            repeat: which of several passes over the same case this is.
        """
        calls = CellCalls(self, used_by, slot, repeat)
        caller.set(calls)
        return calls


class CellCalls:
    """The model calls of one call of the target, or of one evaluator on one case."""

    # one is made for every call, and most calls ask nothing: what all begin with stands here
    _clock: Clock
    _keys: RequestKeys | None = None
    _open, _parked = 0, False

    def __init__(self, run: RunCalls, used_by: str, slot: int, repeat: int) -> None:
        # by position: names would cost as much again
        self._run, self._used_by, self._slot, self._repeat = run, used_by, slot, repeat
        self._spent: dict[str, Spent] = {}
        self._told_before: set[str] = set()

    def again(self, repeat: int) -> CellCalls:
        """From now on, in this context, the same asker asks for another pass; what that costs is billed here too."""
        calls = CellCalls(self._run, self._used_by, self._slot, repeat)
        calls._spent, calls._told_before = self._spent, self._told_before
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
        name, identity = model_name(model), model_identity(model)
        request = _Request(
            name=name,
            identity=identity,
            ask=lambda: model.generate(messages, output=output, config=config),
            characters=lambda: sum(len(message.content) + IMAGE * len(message.images) for message in messages),
            key=lambda keys: keys.of_messages(identity or name, messages, output=output, config=config),
            to_json=reply_json,
            from_json=lambda data: _remembered(model, reply_from(data)),
        )
        return await self._told(request, read)

    async def embed(
        self, embedder: Embedder, texts: Sequence[str], *, config: Mapping[str, JsonValue] | None
    ) -> Sequence[Sequence[float]]:
        """One vector a text."""
        name, identity = model_name(embedder), model_identity(embedder)
        request: _Request[Sequence[Sequence[float]]] = _Request(
            name=name,
            identity=identity,
            ask=lambda: embedded(embedder, texts, config),
            characters=lambda: sum(map(len, texts)),
            key=lambda keys: key_of_texts(identity or name, texts, config=config),
            to_json=lambda vectors: vectors_json(vectors, len(texts)),
            from_json=vectors_from,
        )
        return await self._told(request, lambda vectors: vectors)

    def settle(self, what: str, value: JsonValue) -> JsonValue:
        """What holds of this matter to the run's end."""
        return self._run.choices.settle(what, value)

    async def _told(self, request: _Request[R], read: Callable[[R], T]) -> T:
        """What is read in a reply: one that was paid for before, else the model's."""
        kept = self._run.kept
        if self._used_by == TARGET:
            # a target is what is measured: it is called anew, and its output is a line of the journal
            return read(await self._asked(partial(self._paid, request)))
        if self._keys is None:
            self._keys = RequestKeys(self._repeat)
        key = request.key(self._keys)
        paid = await self._of_run(kept, request, key, read)
        if paid is not None:
            return paid[0]
        known = await self._of_others(kept, request, key, read)
        if known is not None:
            self._spent_on(request.name).cached_calls += 1
            return known[0]
        kept.check_may_ask(request.name)
        with kept.asking(key) if request.identity is not None else nullcontext():
            reply = await self._asked(partial(self._paid, request))
            data = request.to_json(reply)
            if data is not None:
                kept.record(self._slot, key, data)
            value = read(reply)
            await self._keep(kept, request, key, data)
        return value

    async def _of_run(
        self, kept: KeptReplies, request: _Request[R], key: RequestKey, read: Callable[[R], T]
    ) -> tuple[T] | None:
        """What is read in a reply that an earlier session of this run has paid for, once; or None."""
        again = key.text in self._told_before
        self._told_before.add(key.text)
        data = kept.of_run(self._slot, key)
        reply = request.from_json(data)
        if data is None or reply is None:
            return None
        if again:
            self._spent_on(request.name).cached_calls += 1
        else:
            self._spent_on(request.name).calls += 1
            self._count(request, reply)
        value = read(reply)
        await self._keep(kept, request, key, data)
        return (value,)

    async def _keep(self, kept: KeptReplies, request: _Request[R], key: RequestKey, data: bytes | None) -> None:
        # where no address tells a model from others, what it says is for nobody else
        if data is not None and request.identity is not None:
            await kept.keep(key, data, model=request.name)

    async def _of_others(
        self, kept: KeptReplies, request: _Request[R], key: RequestKey, read: Callable[[R], T]
    ) -> tuple[T] | None:
        """What is read in a reply that others were given, or None; who asks the same just now is waited for."""
        if request.identity is None:
            return None
        while True:
            known = self._still_read(request.from_json(await kept.of_cache(key)), read)
            told = kept.asked_now(key)
            if known is not None or told is None:
                return known
            with self._clock.waiting():
                await told.wait()

    @staticmethod
    def _still_read(reply: R | None, read: Callable[[R], T]) -> tuple[T] | None:
        try:
            return None if reply is None else (read(reply),)
        except Exception:
            # whoever reads it has become stricter since: it is of no use any more
            return None

    async def limited(self, name: str, ask: Callable[[], Awaitable[R]]) -> R:
        """What an endpoint answers: in its turn, and sent again where that may help.

        What it costs, it reports itself; its calls are none of a model.
        """

        async def allowed() -> R:
            # it may not begin either, but it is none that a budget counts
            self._run.purse.take_call(again=True)
            return await ask()

        call = self._run.retrier(name).call
        return await self._asked(
            partial(call, allowed, tries=Tries(), used=lambda _: None, waiting=self._clock.waiting)
        )

    async def _asked(self, call: Callable[[], Awaitable[R]]) -> R:
        """What a call gives. When the run ends before it may begin, whoever waits for it is cut short."""
        self._open += 1
        try:
            return await call()
        except SpentError:
            self._parked = True
        finally:
            self._open -= 1
            # what else the same call has under way may end first
            if self._parked and not self._open:
                self._clock.cut()
        while True:
            await anyio.sleep_forever()

    async def _paid(self, request: _Request[R]) -> R:
        """The model's reply, which costs something."""
        retrier, tries = self._run.retrier(request.name), Tries()
        try:
            reply = await retrier.call(
                partial(self._sent, request, tries),
                tries=tries,
                used=_tokens_used,
                tokens=request.characters() // CHARACTERS_A_TOKEN if retrier.limiter.counts_tokens else 0,
                waiting=self._clock.waiting,
            )
        except BaseException:
            if request.name in self._spent and self._run.prices.of(request.name, request.identity) is None:
                self._spent[request.name].costs_are_known = False
            raise
        self._count(request, reply)
        self._run.purse.pay_call(request.name, request.identity, getattr(reply, "usage", None))
        return reply

    async def _sent(self, request: _Request[R], tries: Tries) -> R:
        again = tries.attempts > 1
        self._run.purse.take_call(again=again)
        spent = self._spent_on(request.name)
        if again:
            spent.retries += 1
        else:
            spent.calls += 1
        started = perf_counter()
        try:
            return await request.ask()
        finally:
            spent.seconds += perf_counter() - started

    def _count(self, request: _Request[R], reply: R) -> None:
        # that of an embedder may stand beside the vectors
        usage: Usage | None = getattr(reply, "usage", None)
        cost = self._run.prices.cost(request.name, usage, request.identity)
        self._spent_on(request.name).add(usage, cost)

    def _spent_on(self, name: str) -> Spent:
        spent = self._spent.get(name)
        return self._spent.setdefault(name, Spent()) if spent is None else spent

    def paid(self) -> Usage | None:
        """What was spent so far, on whatever model; None if none was asked."""
        return Usage.trusted(added(self.usage())) if self._spent else None

    def unbilled(self) -> None:
        """What was spent stands on no result, because there is none; it counts all the same."""
        self._counted()
        for name, spent in self._spent.items():
            # what evaluators were told is in the journal, and counts again when they are told it again
            usage = spent.as_usage(name) if self._used_by == TARGET else spent.unanswered(name)
            self._run.totals.add_unbilled(self._used_by, name, usage)

    def _counted(self) -> list[ModelUsage]:
        spent = self.usage()
        for usage in spent:
            self._run.totals.add(self._used_by, usage.model, usage)
        return spent

    def usage(self) -> list[ModelUsage]:
        """What was spent so far, by model."""
        return [spent.as_usage(name) for name, spent in self._spent.items()]

    def billed(self, metrics: list[Bill]) -> list[Bill]:
        """The metrics, the first one with what they cost."""
        if not self._spent:
            return metrics
        return [metrics[0].costing(self._counted()), *metrics[1:]]


def _remembered(model: Model, reply: Reply | None) -> Reply | None:
    """A kept reply, of which its model takes note: it may say what the server refuses."""
    remember = getattr(model, "remember", None)
    if reply is not None and reply.not_applied and callable(remember):
        remember(reply)
    return reply


def _tokens_used(reply: object) -> int | None:
    """Read and written, as far as the reply says it."""
    return tokens_of(getattr(reply, "usage", None))
