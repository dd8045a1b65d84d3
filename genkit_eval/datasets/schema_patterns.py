"""Patterns in JSON Schemas are programs from outside: each search has a time limit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from genkit_eval.errors import ConfigError

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

__all__ = ["bounded_patterns"]

TIMEOUT_SECONDS = 1.0
_SHOWN = 80
_Keyword = Callable[..., Iterator[Any]]


def bounded_patterns(kind: type[Validator], name: str) -> type[Validator]:
    """The validator class, with the keywords that search texts for patterns replaced; `name` is the schema's.

    Raises, when it validates:
        ConfigError: a search took too long.
    """
    # an optional dependency, and 60 ms at import
    from jsonschema import ValidationError, validators

    additional: _Keyword = kind.VALIDATORS["additionalProperties"]

    def pattern(validator: Any, given: str, instance: Any, schema: Mapping[str, Any]) -> Iterator[Any]:
        if isinstance(instance, str) and not _found(given, instance, name):
            yield ValidationError(f"{instance!r} does not match {given!r}")

    def pattern_properties(validator: Any, given: Any, instance: Any, schema: Mapping[str, Any]) -> Iterator[Any]:
        if isinstance(instance, dict):
            for one, inner in given.items():
                for key, value in instance.items():
                    if _found(one, key, name):
                        yield from validator.descend(value, inner, path=key, schema_path=one)

    def others(validator: Any, given: Any, instance: Any, schema: Mapping[str, Any]) -> Iterator[Any]:
        patterns = schema.get("patternProperties")
        if patterns and isinstance(instance, dict):
            instance = {
                key: value for key, value in instance.items() if not any(_found(one, key, name) for one in patterns)
            }
            schema = {key: value for key, value in schema.items() if key != "patternProperties"}
        return additional(validator, given, instance, schema)

    keywords = {"pattern": pattern, "patternProperties": pattern_properties, "additionalProperties": others}
    # jsonschema does not type it
    bounded: type[Validator] = validators.extend(kind, keywords)  # type: ignore[no-untyped-call]
    return bounded


def _found(pattern: str, text: str, name: str) -> bool:
    # 20 ms at import; the standard library's `re` has no time limit, and holds every thread while it runs
    import regex

    try:
        return regex.search(pattern, text, timeout=TIMEOUT_SECONDS) is not None
    except TimeoutError:
        shown = pattern if len(pattern) <= _SHOWN else f"{pattern[:_SHOWN]}…"
        raise ConfigError(
            f"the {name} schema's pattern '{shown}' took more than {TIMEOUT_SECONDS:g} s on {len(text)} characters: "
            "simplify it"
        ) from None
    except (regex.error, RecursionError) as fault:
        raise ConfigError(f"the {name} schema's pattern '{pattern[:_SHOWN]}' is not valid: {fault}") from None
