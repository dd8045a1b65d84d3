"""What tokens cost: a table of list prices that comes along, and the user's own, which goes before it.

A price that nobody knows is unknown, never guessed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from genkit_eval.errors import ConfigError
from genkit_eval.types import Usage

__all__ = ["Price", "Prices", "read_prices"]

_TABLE = Path(__file__).with_name("prices.json")
_MILLION = 1_000_000
_HOST = re.compile(r"https?://([^/:\s]+)")
_DATE = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8})$")
_KEYS = {"input", "output", "cached", "written", "up_to"}


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens.

    Args:
        cached: for those of the input that the server had read before; as `input` where it is None.
        written: for those of the input that the server keeps for the next time; as `input` where it is None.
        up_to: a call that reads more tokens than this has another price, which is not known.
    """

    input: float
    output: float
    cached: float | None = None
    written: float | None = None
    up_to: int | None = None

    def __post_init__(self) -> None:
        for name in ("input", "output", "cached", "written"):
            dollars = getattr(self, name)
            if dollars is None and name in ("cached", "written"):
                continue
            if isinstance(dollars, bool) or not isinstance(dollars, int | float) or not 0 <= dollars < math.inf:
                raise ConfigError(
                    f"a price's {name} is {dollars!r}: expected US dollars for a million tokens, 0 or more"
                )
        most = self.up_to
        if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 1):
            raise ConfigError(f"a price's up_to is {most!r}: expected a whole number of tokens from 1 up")

    @property
    def is_free(self) -> bool:
        """Whether nothing is to be paid, however much it is."""
        return not (self.input or self.output or self.cached or self.written or self.up_to)

    def of(self, usage: Usage | None) -> float | None:
        """What that much costs; None where the tokens are not known, or are more than the price is for.

        What several calls took together is looked at as if all of them had read as much.
        """
        if self.is_free:
            return 0.0
        if usage is None or usage.input_tokens is None:
            return None
        tokens_in, tokens_out = usage.input_tokens, usage.output_tokens
        if tokens_out is None and self.output == 0:
            tokens_out = 0
        if tokens_out is None:
            return None
        if self.up_to is not None and tokens_in > self.up_to * (usage.model_calls or 1):
            return None
        read_before = min(usage.cached_tokens or 0, tokens_in)
        kept = min(usage.written_tokens or 0, tokens_in - read_before)
        cached = self.input if self.cached is None else self.cached
        written = self.input if self.written is None else self.written
        read = (tokens_in - read_before - kept) * self.input + read_before * cached + kept * written
        return (read + tokens_out * self.output) / _MILLION


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices by names of models, like "openai/gpt-4o-mini"; a name may end with "*". `own` goes before the table."""

    own: Mapping[str, Price] = field(default_factory=dict)

    def of(self, name: str, identity: str | None = None) -> Price | None:
        """A model's price, or None. `identity` is what it says of itself: elsewhere a model may cost something else."""
        own = _named(self.own, name)
        if own is not None:
            return own
        table, servers = _table()
        host = _HOST.search(identity or "")
        if host is not None:
            if host[1] not in servers:
                return None
            # whatever the user calls the server
            name = f"{servers[host[1]]}/{name.partition('/')[2]}"
        return _named(table, name) or _named(table, _DATE.sub("", name))

    def cost(self, name: str, usage: Usage | None, identity: str | None = None) -> float | None:
        """What a call cost, in US dollars; None where the price or the tokens are not known."""
        if usage is not None and usage.cost_usd is not None:
            return usage.cost_usd
        price = self.of(name, identity)
        return None if price is None else price.of(usage)

    def over(self, others: Mapping[str, Price]) -> Prices:
        """These, and the others where these say nothing."""
        return Prices({**others, **self.own})


def _named(prices: Mapping[str, Price], name: str) -> Price | None:
    """By the whole name, else by the longest beginning that ends with "*"."""
    if name in prices:
        return prices[name]
    beginnings = [known for known in prices if known.endswith("*") and name.startswith(known[:-1])]
    return prices[max(beginnings, key=len)] if beginnings else None


@lru_cache(maxsize=1)
def _table() -> tuple[Mapping[str, Price], Mapping[str, str]]:
    """The prices, and the provider of each server."""
    raw = _json(_TABLE)
    servers = raw["servers"]
    assert isinstance(servers, Mapping)
    return _prices(_TABLE, raw["models"]), {str(host): str(provider) for host, provider in servers.items()}


def read_prices(path: Path) -> Mapping[str, Price]:
    """Prices in a JSON file: `{"openai/gpt-4o": {"input": 2.5, "cached": 1.25, "output": 10}}`.

    Raises:
        ConfigError: it cannot be read, or is something else.
    """
    return _prices(path, _json(path))


def _json(path: Path) -> Mapping[str, object]:
    # 26 ms at import, and most programs ask for no price
    from genkit_eval._json import load

    try:
        raw = load(path.read_bytes())
    except (OSError, ValueError) as problem:
        raise ConfigError(f"{path}: the prices cannot be read: {problem}") from problem
    return raw if isinstance(raw, Mapping) else {"": raw}


def _prices(path: Path, raw: object) -> Mapping[str, Price]:
    found = {}
    for name, price in raw.items() if isinstance(raw, Mapping) else [("", raw)]:
        if not isinstance(price, Mapping) or not {"input", "output"} <= set(price) <= _KEYS:
            raise ConfigError(
                f"{path}: the price of '{name}' is {price!r}: expected US dollars for a million tokens, like "
                '{"input": 2.5, "cached": 1.25, "output": 10}'
            )
        try:
            found[name] = Price(**price)
        except ConfigError as problem:
            raise ConfigError(f"{path}: '{name}': {problem}") from None
    return found
