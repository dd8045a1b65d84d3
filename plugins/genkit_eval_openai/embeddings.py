"""Embedders over a server of OpenAI's protocol."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from genkit_eval import Usage
from genkit_eval.models import Vectors
from genkit_eval_openai.connection import Connection
from genkit_eval_openai.faults import Fault, OpenAIError

__all__ = ["OpenAIEmbedder"]


class OpenAIEmbedder:
    """An embedding model by its name on the server; texts go in batches."""

    def __init__(self, server: Connection, model: str, *, batch_size: int = 128) -> None:
        self.name = f"{server.endpoint.name}/{model}"
        self._server, self._model, self._batch_size = server, model, batch_size

    def __repr__(self) -> str:
        return f"OpenAIEmbedder({self.name!r})"

    @property
    def identity(self) -> str:
        """Its name and where its server is."""
        return self._server.endpoint.identity(self.name)

    def check(self, config: Mapping[str, JsonValue] | None = None) -> None:
        """Find out, before anything is paid for, what would keep calls from working.

        Raises:
            OpenAIError: there is no key. ConfigError: the address is none.
        """
        self._server.endpoint.check()

    async def embed(self, texts: Sequence[str], *, config: Mapping[str, JsonValue] | None = None) -> Vectors:
        """One vector a text, in their order, all of one length, finite and not all zeros.

        Args:
            config: parameters of the protocol, sent as they are ("dimensions").

        Raises:
            OpenAIError: no answer, or vectors that cannot be used.
        """
        client = await self._server.client()
        vectors: list[Sequence[float]] = []
        tokens: list[int | None] = []
        for start in range(0, len(texts), self._batch_size):
            batch = list(texts[start : start + self._batch_size])
            body: dict[str, JsonValue] = {**(config or {}), "model": self._model, "input": [*batch]}
            answer = await client.post("/embeddings", body, model=self.name)
            if isinstance(answer, Fault):
                raise answer.error(self.name, client.where)
            vectors += self._vectors(answer.get("data"), len(batch))
            tokens.append(_tokens(answer.get("usage")))
        lengths = {len(vector) for vector in vectors}
        if len(lengths) > 1:
            raise self._error(f"gave vectors of different lengths: {', '.join(map(str, sorted(lengths)))}")
        known = [count for count in tokens if count is not None]
        # a sum of some of them would look like the whole
        usage = Usage(input_tokens=sum(known)) if known and len(known) == len(tokens) else None
        return Vectors(vectors, usage=usage)

    def _vectors(self, data: JsonValue, wanted: int) -> list[Sequence[float]]:
        items = data if isinstance(data, list) else []
        if len(items) != wanted:
            raise self._error(f"gave {len(items)} vectors for {wanted} texts")
        # some servers number none of them; then they are in order
        numbered = any(isinstance(item, dict) and "index" in item for item in items)
        found: dict[int, Sequence[float]] = {}
        for position, item in enumerate(items):
            fields = item if isinstance(item, dict) else {}
            index = fields.get("index") if numbered else position
            if not isinstance(index, int) or not 0 <= index < wanted or index in found:
                raise self._error(f"numbered its vectors wrongly: {index!r} of {wanted}")
            found[index] = self._vector(fields.get("embedding"))
        return [found[index] for index in range(wanted)]

    def _vector(self, given: JsonValue) -> Sequence[float]:
        items = given if isinstance(given, list) else []
        vector = [float(item) for item in items if isinstance(item, float | int) and not isinstance(item, bool)]
        if not vector or len(vector) != len(items):
            raise self._error("gave what is no list of numbers for a vector")
        if not all(map(math.isfinite, vector)):
            raise self._error("gave a vector with a number that is not finite")
        if not any(vector):
            raise self._error("gave a vector of zeros, which has no direction")
        return vector

    def _error(self, problem: str) -> OpenAIError:
        return OpenAIError(f"{self.name} {problem}: is it an embedding model?", kind="unparsable", model=self.name)


def _tokens(usage: JsonValue) -> int | None:
    found = usage.get("prompt_tokens") if isinstance(usage, dict) else None
    return found if isinstance(found, int) and not isinstance(found, bool) and found >= 0 else None
