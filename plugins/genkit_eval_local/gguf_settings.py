"""How a model file is served."""

from __future__ import annotations

from dataclasses import dataclass

from genkit_eval.errors import ConfigError

__all__ = ["GgufSettings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GgufSettings:
    """How a model file is served.

    Args:
        threads: that compute; without it llama.cpp's own choice, which is the cores there are.
        slots: how many calls are answered at a time; further ones wait.
        context_tokens: what a slot holds, prompt and reply together. Memory grows with slots times this.
        timeout_seconds: how long one call may take, from when it has a slot.
        start_seconds: how long loading the file may take.
    """

    threads: int | None = None
    slots: int = 2
    context_tokens: int = 4096
    timeout_seconds: float = 600.0
    start_seconds: float = 300.0

    def __post_init__(self) -> None:
        for name in ("threads", "slots", "context_tokens", "timeout_seconds", "start_seconds"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ConfigError(f"{name} of a GGUF model is {value}, expected a number above 0")
