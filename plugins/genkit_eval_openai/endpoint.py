"""One server: its address, its keys and its timeouts."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from genkit_eval.errors import ConfigError
from genkit_eval_openai.faults import OpenAIError

__all__ = ["Endpoint"]

_ROUTES = ("/chat/completions", "/completions", "/embeddings", "/models", "/responses")


@dataclass(frozen=True, kw_only=True, eq=False)
class Endpoint:
    """A server of OpenAI's protocol; what may be secret is not in its repr."""

    name: str
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    organization: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout_seconds: float = 120.0
    connect_seconds: float = 10.0
    first_byte_seconds: float | None = None

    def __post_init__(self) -> None:
        if self.base_url is not None:
            self._check_url(self.base_url)
        for seconds in (self.timeout_seconds, self.connect_seconds, self.first_byte_seconds):
            if seconds is not None and not 0 < seconds < math.inf:
                raise ConfigError(f"provider '{self.name}': a timeout is a number of seconds above 0, not {seconds!r}")
        for what, value in {"api_key": self.api_key or "", **self.headers}.items():
            if not (value.strip().isascii() and value.strip().isprintable()):
                # without the value: it is a secret
                raise ConfigError(f"provider '{self.name}': {what} holds characters that no HTTP header can hold")

    @property
    def takes_environment(self) -> bool:
        """Whether OPENAI_* are meant for it: the key given for one server is not for another one."""
        return self.name == "openai" or self.base_url is None

    def setting(self, given: str | None, variable: str) -> str | None:
        """What was given, else what the environment says where that is meant for this server; None if it is empty."""
        found = os.environ.get(variable) if given is None and self.takes_environment else given
        return (found or "").strip() or None

    def identity(self, model: str) -> str:
        """What tells a model of this server from one of the same name elsewhere."""
        url = self.setting(self.base_url, "OPENAI_BASE_URL")
        return f"{model} at {url.rstrip('/') if url else 'the default address'}"

    def check(self) -> None:
        """Find out, before anything is paid for, whether there is a key, or a server that may need none.

        Raises:
            ConfigError: the address that the environment gives is none.
            OpenAIError: there is neither.
        """
        url = self.setting(self.base_url, "OPENAI_BASE_URL")
        if url is not None:
            self._check_url(url)
        has_own = any(name.lower() == "authorization" for name in self.headers)
        if has_own or url or self.setting(self.api_key, "OPENAI_API_KEY"):
            return
        raise OpenAIError(
            f"provider '{self.name}' has no key: set OPENAI_API_KEY or give api_key, "
            "or name a server that needs none by base_url",
            kind="auth",
            model=self.name,
        )

    def _check_url(self, url: str) -> None:
        named = "base_url" if self.base_url is not None else "OPENAI_BASE_URL"
        parts = urlsplit(url)
        if parts.username or parts.password:
            raise ConfigError(
                f"provider '{self.name}': {named} holds a user or password, which would show in logs: "
                "give it as headers={'Authorization': 'Basic …'}"
            )
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(f"provider '{self.name}': {named} {url!r} is no http:// or https:// address")
        for route in _ROUTES:
            if parts.path.rstrip("/").endswith(route):
                raise ConfigError(f"provider '{self.name}': {named} ends in {route}: leave that out")
