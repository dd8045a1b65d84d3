"""How a run may ask one model: how many calls at one time, how many a minute."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from pydantic import JsonValue

from genkit_eval.engine.asking.numbers import is_number
from genkit_eval.errors import ConfigError, UnknownName

__all__ = ["ModelLimits", "limits_for", "model_limits_from", "model_limits_json", "read_model_limits"]

_KEYS = {
    "concurrency": "concurrency",
    "most_concurrency": "mostConcurrency",
    "requests_per_minute": "requestsPerMinute",
    "tokens_per_minute": "tokensPerMinute",
}

_FORM = "MODEL:LIMIT=NUMBER, like openai/gpt-4o:concurrency=4,requests_per_minute=500"
# a model's name may hold colons itself
_NAMED = re.compile(r"(?P<name>[^=]*):(?P<limits>[^:]*=.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """Limits of the calls of one model, or embedder, by all that ask it in a run.

    Args:
        concurrency: calls in flight at the start; as many as samples where it is None. It shrinks when the server
            says that it is too much, and grows again while all goes well.
        most_concurrency: as far as it may grow.
        requests_per_minute: evenly spread; None where no limit is known.
        tokens_per_minute: of requests and replies; None where no limit is known.
    """

    concurrency: int | None = None
    most_concurrency: int = 256
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None

    def __post_init__(self) -> None:
        for name in ("concurrency", "most_concurrency"):
            count = getattr(self, name)
            is_count = isinstance(count, int) and not isinstance(count, bool) and count >= 1
            if not (is_count or (count is None and name == "concurrency")):
                raise ConfigError(f"{name} of a model is {count!r}: expected a whole number from 1 up")
        for name in ("requests_per_minute", "tokens_per_minute"):
            rate = getattr(self, name)
            if not (rate is None or (is_number(rate) and 0 < rate < math.inf)):
                raise ConfigError(f"{name} of a model is {rate!r}: expected a number above 0, or None for no limit")


def limits_for(name: str, models: ModelLimits | Mapping[str, ModelLimits], *, samples: int) -> ModelLimits:
    """The limits of one model: by its name, by that of its provider, or those of all others ("*").

    Args:
        samples: in flight at one time.
    """
    if isinstance(models, ModelLimits):
        found = models
    else:
        provider = name.partition("/")[0]
        found = models.get(name) or models.get(provider) or models.get("*") or ModelLimits()
    return found if found.concurrency is not None else replace(found, concurrency=samples)


def model_limits_json(models: ModelLimits | Mapping[str, ModelLimits]) -> dict[str, JsonValue]:
    """As a run's key holds them: what differs from the defaults."""
    if isinstance(models, ModelLimits):
        standard = ModelLimits()
        values = {key: getattr(models, name) for name, key in _KEYS.items()}
        return {key: values[key] for name, key in _KEYS.items() if values[key] != getattr(standard, name)}
    return {name: model_limits_json(limits) for name, limits in models.items()}


def model_limits_from(form: Mapping[str, JsonValue]) -> ModelLimits | Mapping[str, ModelLimits]:
    """The limits in that form; of models by their names where its values are objects."""
    if any(isinstance(value, Mapping) for value in form.values()):
        named = {name: model_limits_from(value) for name, value in form.items() if isinstance(value, Mapping)}
        return {name: limits for name, limits in named.items() if isinstance(limits, ModelLimits)}
    # whoever wrote it had them checked; they are checked again here
    return ModelLimits(**{name: form[key] for name, key in _KEYS.items() if key in form})  # type: ignore[arg-type]


def read_model_limits(text: str, *, common: ModelLimits | None = None) -> Mapping[str, ModelLimits]:
    """Limits of models as one writes them: "openai/gpt-4o:concurrency=4,requests_per_minute=500; llama:concurrency=1".

    Args:
        common: holds for each of them where its own say nothing.

    Raises:
        ConfigError: naming the part that is wrong.
    """
    found: dict[str, ModelLimits] = {}
    for part in filter(None, map(str.strip, text.split(";"))):
        match = _NAMED.fullmatch(part)
        name = "" if match is None else match["name"].strip()
        if match is None or not name:
            raise ConfigError(f"'{part}': expected {_FORM}")
        if name in found:
            raise ConfigError(f"'{name}' is named twice: name it once, with commas between its limits")
        try:
            # what is no whole number where one must be is refused there
            found[name] = replace(common or ModelLimits(), **_limits_in(match["limits"]))  # type: ignore[arg-type]
        except ConfigError as problem:
            raise ConfigError(f"'{part}': {problem}") from None
    return found


def _limits_in(text: str) -> dict[str, int | float]:
    limits: dict[str, int | float] = {}
    for part in text.split(","):
        name, equals, value = (word.strip() for word in part.partition("="))
        if not equals:
            raise ConfigError(f"expected LIMIT=NUMBER at '{part}'")
        if name not in _KEYS:
            raise UnknownName("limit", name, _KEYS)
        if name in limits:
            raise ConfigError(f"{name} is given twice")
        try:
            limits[name] = int(value) if value.isdecimal() else float(value)
        except ValueError:
            raise ConfigError(f"{name} is '{value}': expected a number") from None
    return limits
