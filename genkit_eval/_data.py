"""The base of our data: frozen, camelCase in JSON, presence kept apart from value, no NaN."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Self, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, JsonValue, PlainSerializer, PlainValidator
from pydantic.alias_generators import to_camel

__all__ = ["Data", "Json", "Timestamp", "collector_paused", "heap_set_aside", "iso_time", "plain"]


def _json_form(value: object) -> Any:
    # orjson costs 26 ms at import and is not needed to define an evaluator
    from genkit_eval._json import json_form

    return json_form(value)


Json = Annotated[Any, PlainValidator(_json_form)]
"""A field that holds any JSON value; what is given is turned into its JSON form, or refused."""


def _parse_time(value: object) -> object:
    """Accept Genkit's older form too: 'Mon Nov 30 2026 08:49:15 GMT+0000 (Coordinated Universal Time)'."""
    if isinstance(value, str) and value[:1].isalpha():
        return datetime.strptime(value.split(" (")[0], "%a %b %d %Y %H:%M:%S GMT%z")
    if isinstance(value, datetime) and value.tzinfo is None:
        return value.replace(tzinfo=UTC)
    return value


def iso_time(value: datetime) -> str:
    """ISO 8601 in UTC with milliseconds and Z, as Genkit writes run times."""
    return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


Timestamp = Annotated[datetime, BeforeValidator(_parse_time), PlainSerializer(iso_time, when_used="json")]
"""An aware time; both of Genkit's spellings are read, ISO 8601 is written."""


class Data(BaseModel):
    """Frozen data with snake_case attributes and camelCase keys; unknown keys are ignored on reading.

    `has(name)` tells presence: a field that was given, even as `None`, `0` or `""`, is present.
    """

    model_config = ConfigDict(
        frozen=True,
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        extra="ignore",
        allow_inf_nan=False,
        defer_build=True,
        # a field of the data model may be called model_calls
        protected_namespaces=(),
    )

    nullable: ClassVar[frozenset[str]] = frozenset()
    """Fields in which None is a value of its own, so that it is written when it was given."""

    def has(self, name: str) -> bool:
        """Whether the field was given, whatever its value."""
        return name in self.model_fields_set and (getattr(self, name) is not None or name in self.nullable)

    def to_json(self) -> dict[str, JsonValue]:
        """The JSON object: camelCase, in field order, absent where nothing was given, never null for it."""
        given, values = self.__pydantic_fields_set__, self.__dict__
        out: dict[str, JsonValue] = {}
        for name, key, nullable in _KEYS.get(type(self)) or _keys(type(self)):
            if name in given:
                value = values[name]
                if type(value) is str or type(value) is bool:
                    out[key] = value
                elif value is not None:
                    out[key] = plain(value)
                elif nullable:
                    out[key] = None
        return out

    @classmethod
    def trusted(cls, values: Mapping[str, object]) -> Self:
        """Build from values by attribute name that are known to fit, without validation (about 1 µs).

        For code that made or checked the values itself: readers and the engine.
        """
        self = cls.__new__(cls)
        template, factories = _defaults(cls)
        fields = template.copy()
        for name, factory in factories:
            fields[name] = factory()
        fields.update(values)
        _set_dict(self, fields)
        _set_given(self, set(values))
        _set_extra(self, None)
        _set_private(self, None)
        return self

    @classmethod
    def maker(cls, names: Sequence[str]) -> Callable[[Iterable[object]], Self]:
        """As `trusted`, for many of one shape: a function of the values of these attributes, in this order (0.7 µs)."""
        new, shape = cls.__new__, tuple(names)
        template, factories = _defaults(cls)
        fresh = [(name, factory) for name, factory in factories if name not in shape]
        # one set for all of them: nothing changes it, as they are frozen and a copy copies it
        given = set(shape)

        # Any: a function inside may not speak of Self
        def make(values: Iterable[object]) -> Any:
            self = new(cls)
            fields = template.copy()
            # half the price of an update, and of zip with a keyword
            for name, value in zip(shape, values):  # noqa: B905
                fields[name] = value
            for name, factory in fresh:
                fields[name] = factory()
            _set_dict(self, fields)
            _set_given(self, given)
            _set_extra(self, None)
            _set_private(self, None)
            return self

        return make


# half the price of object.__setattr__
_set_dict = BaseModel.__dict__["__dict__"].__set__
_set_given = BaseModel.__dict__["__pydantic_fields_set__"].__set__
_set_extra = BaseModel.__dict__["__pydantic_extra__"].__set__
_set_private = BaseModel.__dict__["__pydantic_private__"].__set__


class _Template:
    """Its instances' dictionaries share their keys, and so do copies of them: a third of the memory, and quicker."""


_KEYS: dict[type[Data], Sequence[tuple[str, str, bool]]] = {}


def _keys(cls: type[Data]) -> Sequence[tuple[str, str, bool]]:
    """Each field with its key in JSON, and whether null is a value of it."""
    fields = cls.model_fields.items()
    found = _KEYS[cls] = [(name, field.alias or name, name in cls.nullable) for name, field in fields]
    return found


_Factories = Sequence[tuple[str, Callable[[], object]]]
_DEFAULTS: dict[type[Data], tuple[dict[str, object], _Factories]] = {}


def _defaults(cls: type[Data]) -> tuple[dict[str, object], _Factories]:
    """What a model's fields hold if nothing is given, to be copied; and what makes those that must not be shared."""
    known = _DEFAULTS.get(cls)
    if known is None:
        template, factories = _Template(), []
        for name, field in cls.model_fields.items():
            setattr(template, name, field.get_default())
            if field.default_factory is not None:
                factories.append((name, cast("Callable[[], object]", field.default_factory)))
        known = _DEFAULTS[cls] = vars(template), factories
    return known


@contextmanager
def collector_paused() -> Iterator[None]:
    """No garbage collection meanwhile: where very many objects are made and kept, walking them is most of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            if not gc.get_freeze_count():
                # makes all of them old, without looking at them; else the very next allocation walks them
                gc.freeze()
                gc.unfreeze()
            gc.enable()


@contextmanager
def heap_set_aside() -> Iterator[None]:
    """The garbage collector leaves alone, meanwhile, what is there now: it would walk all of it again and again."""
    if gc.get_freeze_count():
        # somebody else has set it aside, and takes it back
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def plain(value: object) -> Any:
    """A value as JSON holds it: data as objects, times as text, all the way down."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Data):
        return value.to_json()
    if isinstance(value, datetime):
        return iso_time(value)
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [plain(item) for item in value]
    return value
