"""How near texts are to each other, by an embedder."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from genkit_eval.errors import ConfigError, ModelError
from genkit_eval.model_calls import embed
from genkit_eval.models import Embedder, model_name
from genkit_eval.registry import Registry
from genkit_eval.vectors import cosine, unit

__all__ = ["Embedding"]


class Embedding:
    """An embedder, looked up by its name when it is first asked; its options go along with every call.

    Raises:
        ConfigError: what was given is no embedder.
    """

    def __init__(
        self, given: Embedder | str, registry: Registry, options: Mapping[str, JsonValue] | None = None
    ) -> None:
        named = isinstance(given, str) and given.strip()
        if not named and (not isinstance(given, Embedder) or isinstance(given, type)):
            raise ConfigError(
                f"{given!r} cannot be an embedder: expected 'provider/name' of one, or an object with an async method "
                "'embed'"
            )
        self._given, self._registry, self.options = given, registry, dict(options or {})

    @property
    def name(self) -> str:
        """What it goes by in versions."""
        return self._given.removeprefix("/embedder/") if isinstance(self._given, str) else model_name(self._given)

    def found(self) -> Embedder:
        """The embedder itself.

        Raises:
            UnknownName: nobody defines one of that name.
            ConfigError: it takes no options, but some were given.
        """
        found = self._registry.embedder(self._given) if isinstance(self._given, str) else self._given
        if self.options and "config" not in inspect.signature(found.embed).parameters:
            raise ConfigError(
                f"embedder '{self.name}' takes no options, but embedder_options were given: leave them out"
            )
        return found

    def check(self) -> None:
        """Find out, before anything is paid for, what would keep it from working.

        Raises:
            GenkitEvalError: what `found` or the embedder's own `check(config)`, if it has one, finds: no key, say.
        """
        check = getattr(self.found(), "check", None)
        if callable(check):
            check(self.options or None)

    async def similarities(self, text: str, others: Sequence[str]) -> list[float]:
        """The cosine of each of the others with the text, by one call.

        Raises:
            ModelError: not one vector a text, or one without direction.
        """
        first, *rest = await self._embed([text, *others])
        try:
            return [cosine(first, other) for other in rest]
        except ValueError as problem:
            raise ModelError(f"embedder '{self.name}': {problem}", model=self.name) from problem

    async def directions(self, texts: Sequence[str]) -> list[list[float]]:
        """A vector of length 1 for each text, by one call.

        Raises:
            ModelError: not one vector a text, or one without direction.
        """
        try:
            return [unit(vector) for vector in await self._embed(texts)]
        except ValueError as problem:
            raise ModelError(f"embedder '{self.name}': {problem}", model=self.name) from problem

    async def _embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        vectors = await embed(self.found(), texts, config=self.options or None)
        if not isinstance(vectors, Sequence) or len(vectors) != len(texts):
            given = f"{len(vectors)} vectors" if isinstance(vectors, Sequence) else type(vectors).__name__
            raise ModelError(f"embedder '{self.name}' gave {given} for {len(texts)} texts", model=self.name)
        return vectors
