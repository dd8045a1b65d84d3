"""JSON Schemas, checked through the `jsonschema` library.

They come from outside: they must not make this program fetch something, and their patterns are programs, each search
of which has a time limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import JsonValue

from genkit_eval.errors import ConfigError, shortened

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

__all__ = ["SchemaCheck", "SchemaFault", "schema_check"]

TIMEOUT_SECONDS = 1.0
DEEP = 40
"""With so many levels it is a value that is too deep, not a schema that has a circle."""
_Keyword = Callable[..., Iterator[Any]]


class SchemaFault(NamedTuple):
    """Where a value does not fit its schema, like ".items[0].price" or "" for the whole, and how."""

    place: str
    message: str


SchemaCheck = Callable[[JsonValue], Iterator[SchemaFault]]
"""What is wrong with a value."""


def schema_check(schema: Mapping[str, Any], name: str) -> SchemaCheck:
    """What checks values against a schema, which messages call by this name.

    Raises:
        ConfigError: `jsonschema` is not installed, or it is no JSON Schema. The check raises it where the schema refers
            to what is not in it or to itself, and where the search for a pattern takes too long.
    """
    validator = _validator(schema, name)

    def check(value: JsonValue) -> Iterator[SchemaFault]:
        # an optional dependency
        import referencing.exceptions

        try:
            for error in validator.iter_errors(value):
                path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path)
                yield SchemaFault(path, error.message)
        except referencing.exceptions.Unresolvable as fault:
            raise ConfigError(
                f"the {name} schema refers to '{fault.ref}', which is not in it: put it into $defs"
            ) from None
        except RecursionError:
            raise ConfigError(_too_deep(name, _depth(value))) from None

    return check


def _too_deep(name: str, depth: int) -> str:
    if depth >= DEEP:
        return f"a value that nests {depth} levels deep is too deep to be held against the {name} schema"
    return f"the {name} schema refers to itself without end: take the circle out"


def _depth(value: JsonValue) -> int:
    depth, level = 0, [value]
    while level := [item for part in level if isinstance(part, dict | list) for item in _items(part)]:
        depth += 1
    return depth


def _items(part: dict[str, JsonValue] | list[JsonValue]) -> Iterable[JsonValue]:
    return part.values() if isinstance(part, dict) else part


def _validator(schema: Mapping[str, Any], name: str) -> Validator:
    try:
        # an optional dependency, and 60 ms at import
        import jsonschema
        import referencing
    except ImportError:
        raise ConfigError("JSON Schemas need the library jsonschema: pip install 'genkit-eval[schema]'") from None
    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    try:
        kind.check_schema(dict(schema))
    except jsonschema.SchemaError as fault:
        raise ConfigError(f"the {name} schema is no JSON Schema: {fault.message} at {fault.json_path}") from None
    # an empty registry: a schema must not make this program fetch something
    return _bounded_patterns(kind, name)(dict(schema), registry=referencing.Registry())


def _bounded_patterns(kind: type[Validator], name: str) -> type[Validator]:
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
        raise ConfigError(
            f"the {name} schema's pattern '{shortened(pattern)}' took more than {TIMEOUT_SECONDS:g} s on {len(text)} "
            "characters: simplify it"
        ) from None
    except (regex.error, RecursionError) as fault:
        raise ConfigError(f"the {name} schema's pattern '{shortened(pattern)}' is not valid: {fault}") from None
