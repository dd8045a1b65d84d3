"""Replies that need not be paid for: those of an earlier session of the run, and those kept between runs."""

from __future__ import annotations

import math
import sys
import threading
from array import array
from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from threading import get_ident
from typing import TYPE_CHECKING, Literal, get_args

import anyio

from genkit_eval._json import dump, load
from genkit_eval.engine.asking.request_key import RequestKey
from genkit_eval.errors import ConfigError, ModelError
from genkit_eval.models import Reply, Vectors
from genkit_eval.off_loop import off_loop
from genkit_eval.stores import Journal, RecordedCalls
from genkit_eval.types import Usage

if TYPE_CHECKING:
    from genkit_eval.engine.asking.cache import CallCache

__all__ = [
    "CacheUse",
    "KeptReplies",
    "checked_use",
    "reply_from",
    "reply_json",
    "vectors_from",
    "vectors_json",
]

CacheUse = Literal["on", "off", "only"]
"""Whether replies are taken from the cache and put into it; "only": whoever asks for another one has a failure."""


def checked_use(use: str) -> CacheUse:
    """The use of the cache by its name.

    Raises:
        ConfigError: there is no such use.
    """
    for known in get_args(CacheUse):
        if use == known:
            found: CacheUse = known
            return found
    raise ConfigError(f"cache is {use!r}: expected {', '.join(map(repr, get_args(CacheUse)))}")


class KeptReplies:
    """What evaluators of one run have been told, and what they were told before.

    A reply goes to the run's journal before anybody reads it, and to the cache once somebody could use it.
    """

    def __init__(self, cache: CacheUse) -> None:
        self.recorded: RecordedCalls | None = None
        """Of the earlier sessions of a run that is resumed."""
        self._journal: Journal | None = None
        self._use = cache
        self._cache: CallCache | None = None
        self._opening = threading.Lock()
        # an event belongs to its loop, and each thread has its own
        self._asked: dict[tuple[int, str], list[anyio.Event]] = {}

    def keep_in(self, journal: Journal) -> None:
        """From now on, what is told is kept in this run's journal."""
        self._journal = journal

    def of_run(self, slot: int, key: RequestKey) -> bytes | None:
        """What an earlier session of this run was told."""
        found = None if self.recorded is None else self.recorded.reply(slot, key.text)
        return None if found is None else key.given(found)

    async def of_cache(self, key: RequestKey) -> bytes | None:
        """What another run was told."""
        if self._use == "off":
            return None
        found = await (await self._opened()).get(key.text)
        return None if found is None else key.given(found)

    def check_may_ask(self, name: str) -> None:
        """Before a model is asked.

        Raises:
            ModelError: only the cache may answer.
        """
        if self._use == "only":
            raise ModelError(
                f"{name} was not asked: the cache has no reply to this request, and only the cache may answer",
                kind="not_cached",
                model=name,
            )

    def record(self, slot: int, key: RequestKey, reply: bytes) -> None:
        """Note what this run was told; a kill loses nothing of it."""
        if self._journal is not None:
            self._journal.add_call(slot, key.text, key.kept(reply))

    async def keep(self, key: RequestKey, reply: bytes, *, model: str) -> None:
        """Keep a reply that was of use, for other runs."""
        if self._use != "off":
            (await self._opened()).put(key.text, key.kept(reply), model=model)

    @contextmanager
    def asking(self, key: RequestKey) -> Iterator[None]:
        """Within, a model is asked this: whoever wants to ask the same waits for what it says."""
        place = get_ident(), key.text
        if self._use == "off":
            yield
            return
        waiting = self._asked[place] = []
        try:
            yield
        finally:
            del self._asked[place]
            for told in waiting:
                told.set()

    def asked_now(self, key: RequestKey) -> anyio.Event | None:
        """When somebody has been told who asks the same at this moment; None if nobody does."""
        waiting = self._asked.get((get_ident(), key.text))
        if waiting is None:
            return None
        told = anyio.Event()
        waiting.append(told)
        return told

    def close(self) -> None:
        """Write what is waiting."""
        if self._cache is not None:
            self._cache.close()

    async def _opened(self) -> CallCache:
        cache = self._cache
        return await off_loop(self._open) if cache is None else cache

    def _open(self) -> CallCache:
        # 30 ms at import, which only runs need that ask a model
        from genkit_eval.engine.asking.cache import CallCache, cache_path

        with self._opening:
            cache = self._cache or CallCache(cache_path())
            self._cache = cache
            return cache


def reply_json(reply: Reply) -> bytes | None:
    """A reply as it is kept; None if it is none, which whoever reads it will say."""
    # a model of the user's may return anything
    return dump(reply.to_json()) if isinstance(reply, Reply) else None


def reply_from(data: bytes | None) -> Reply | None:
    """The reply that was kept; None if there is none that can be read."""
    if data is None:
        return None
    try:
        return Reply.model_validate(load(data))
    except ValueError:
        return None


def vectors_json(vectors: Sequence[Sequence[float]], count: int) -> bytes | None:
    """So many vectors as they are kept, to the last bit, in half the room of their digits; None if of no use."""
    try:
        length = len(vectors[0]) if len(vectors) else 0
        numbers = array("d", chain.from_iterable(vectors))
    except (TypeError, ValueError, KeyError):
        return None
    alike = len(vectors) == count and all(len(vector) == length for vector in vectors)
    # one that is not finite makes the sum so
    if not alike or not math.isfinite(sum(numbers)):
        return None
    kept = {"length": length, "doubles": b64encode(_portable(numbers).tobytes()).decode()}
    usage = getattr(vectors, "usage", None)
    return dump(kept if usage is None else {**kept, "usage": usage.to_json()})


def vectors_from(data: bytes | None) -> Vectors | None:
    """The vectors that were kept; None if there are none that can be read."""
    if data is None:
        return None
    try:
        kept = load(data)
        length, numbers = kept["length"], array("d", b64decode(kept["doubles"], validate=True))
        usage = kept.get("usage")
        rows = _portable(numbers).tolist()
        return Vectors(
            [rows[start : start + length] for start in range(0, len(rows), length)] if length else [],
            usage=None if usage is None else Usage.model_validate(usage),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _portable(numbers: array[float]) -> array[float]:
    """From this machine's order of bytes to little-endian, or back."""
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
