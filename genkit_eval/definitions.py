"""Flows and evaluators as defined: what is decided once, at definition, so that no call pays for it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, get_type_hints

from pydantic import BaseModel, JsonValue, ValidationError

from genkit_eval.errors import ConfigError, DataError, InvalidOptions, UnknownName
from genkit_eval.scores import ScoreRule
from genkit_eval.types import DataPoint, Direction, EvaluatorKind, Sample

if TYPE_CHECKING:
    from pydantic import TypeAdapter

__all__ = ["Evaluator", "EvaluatorSettings", "Flow", "checked_name", "evaluator_from", "flow_from", "origin_of"]

UNVERSIONED = "unversioned"

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:-]*(/[A-Za-z0-9_][A-Za-z0-9_.:-]*)*")
_PLAIN = ((dict, dict[str, Any]), (list, list[Any]), (str, str), (int, int), (float, float), (bool, bool))

E = TypeVar("E", bound=StrEnum)


@dataclass(frozen=True)
class Evaluator:
    """A function from a data point (and options) to scores, with what it declared about itself."""

    name: str
    fn: Callable[..., Any]
    options: type[BaseModel] | None = None
    is_async: bool = False
    batch: bool = False
    requires: tuple[str, ...] = ()
    non_empty: tuple[str, ...] = ()
    rule: ScoreRule = field(default_factory=ScoreRule)
    kind: EvaluatorKind = EvaluatorKind.HEURISTIC
    declared_version: str | None = None
    is_billed: bool = False
    display_name: str = ""
    definition: str = ""
    metadata: Mapping[str, JsonValue] = field(default_factory=dict)
    check: Callable[[Sample, Any], str | None] | None = None
    check_options: Callable[[Any], str | None] | None = None
    needs: str | None = None
    alias_of: str | None = None
    presets: Mapping[str, JsonValue] = field(default_factory=dict)
    made_for: Callable[[Any], Evaluator] | None = None

    @property
    def key(self) -> str:
        """Its name in run files: "/evaluator/…"."""
        return f"/evaluator/{self.name}"

    @property
    def own_name(self) -> str:
        """The name that it was defined by, also where it goes by an alias."""
        return self.alias_of or self.name

    @property
    def direction(self) -> Direction:
        """Which way its scores get better."""
        return self.rule.direction

    @cached_property
    def version(self) -> str:
        """What was declared, else a digest of the function's source, else "unversioned"."""
        return _source_version(self.fn) if self.declared_version is None else self.declared_version

    @property
    def prompts(self) -> Mapping[str, str]:
        """The text of each prompt that it asks its judge with, by step; empty where its metadata has no "prompts"."""
        return self._named_texts("prompts")

    @property
    def models(self) -> Mapping[str, str]:
        """The names of the models that it asks, by what they do ("judge"); empty where its metadata has no "models"."""
        return self._named_texts("models")

    def _named_texts(self, name: str) -> Mapping[str, str]:
        found = self.metadata.get(name)
        return {key: str(text) for key, text in found.items()} if isinstance(found, Mapping) else {}

    def parse_options(self, given: Mapping[str, JsonValue]) -> BaseModel | None:
        """The options for a run, validated, over the presets of an alias; None for an evaluator without options.

        Raises:
            InvalidOptions: unknown option (with the nearest name), wrong value, or a required one missing.
        """
        if self.options is None:
            if given:
                raise InvalidOptions(self.name, f"it takes none, but was given {', '.join(sorted(given))}")
            return None
        names = {name for key, info in self.options.model_fields.items() for name in (key, info.alias or key)}
        for name in given:
            if name not in names and self.options.model_config.get("extra") != "allow":
                raise InvalidOptions(self.name, str(UnknownName("option", name, names)))
        values = {**self._presets_beside(given), **given}
        try:
            return self.options.model_validate(values)
        except ValidationError as problem:
            raise InvalidOptions(self.name, _explained(problem, values)) from problem

    def with_options(self, given: Mapping[str, JsonValue]) -> Evaluator:
        """Itself, unless it is another one for each choice of options."""
        return self if self.made_for is None else self.made_for(self.parse_options(given))

    def _presets_beside(self, given: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        """The presets of an alias that are not given anew, by the option's name or its key in JSON."""
        fields = self.options.model_fields if self.options is not None and self.presets else {}
        keys = {name: info.alias or name for name, info in fields.items() if name not in given}
        return {key: self.presets[name] for name, key in keys.items() if name in self.presets}

    @property
    def reads(self) -> tuple[str, ...]:
        """The data point fields it looks at, as far as it says: `metadata["reads"]`, or what it requires."""
        told = self.metadata.get("reads")
        names = told if isinstance(told, list) else dict.fromkeys((*self.requires, *self.non_empty))
        return tuple(str(name) for name in names)

    def missing(self, point: DataPoint) -> str | None:
        """Why there is nothing to judge in this data point, or None."""
        for name in self.requires:
            if not point.has(name):
                return f"no {name} {'were' if name.endswith('s') else 'was'} given"
        for name in self.non_empty:
            value = getattr(point, name)
            if value is None or (isinstance(value, str) and not value.strip()) or value in ([], (), {}):
                return f"{name} is empty"
        return None


@dataclass(frozen=True)
class Flow:
    """A function from an input to an output, under a name; `kind` says what it is where it is no flow of the user's."""

    name: str
    fn: Callable[[Any], Any]
    annotation: Any = Any
    is_async: bool = False
    metadata: Mapping[str, JsonValue] = field(default_factory=dict)
    kind: Literal["flow", "model", "http", "command"] = "flow"
    config: Mapping[str, JsonValue] | None = None
    """How it is called in a run, as the run's key holds it."""
    session: Callable[[], AbstractAsyncContextManager[Callable[[Any], Any]]] | None = None
    """Gives the function to call for the time of a run, where something must be open meanwhile."""

    @property
    def key(self) -> str:
        """Its name in run files: "/flow/…", "/model/…", an address, or "command:…"."""
        return f"/{self.kind}/{self.name}" if self.kind in ("flow", "model") else self.name

    @cached_property
    def version(self) -> str:
        """A digest of the source of the user's function, or "unversioned"."""
        return _source_version(self.fn) if self.kind == "flow" else UNVERSIONED

    @property
    def validates(self) -> bool:
        """Whether the parameter's annotation says anything about the input."""
        return self.annotation is not Any

    @cached_property
    def _as_it_is(self) -> type | None:
        """The type whose values need no look inside: JSON values have nothing else in them."""
        return next((kind for kind, whole in _PLAIN if self.annotation in (kind, whole)), None)

    @cached_property
    def _adapter(self) -> TypeAdapter[Any]:
        # 10 ms, which only a flow that checks its input need cost
        from pydantic import TypeAdapter

        return TypeAdapter(self.annotation)

    def parse_input(self, value: JsonValue) -> Any:
        """The input as the flow's annotation wants it.

        Raises:
            DataError: the value does not fit; says where and why.
        """
        if type(value) is self._as_it_is:
            return value
        try:
            return self._adapter.validate_python(value)
        except ValidationError as problem:
            raise DataError(f"input does not fit flow '{self.name}': {_explained(problem, value)}") from problem


class EvaluatorSettings(TypedDict, total=False):
    """What an evaluator declares about itself; everything is optional."""

    options: type[BaseModel] | None
    """A pydantic model; taken from the annotation of the second parameter when absent."""
    requires: Collection[str]
    """Data point fields that must be present (`0`, `""`, `False` and null are values); else inconclusive."""
    non_empty: Collection[str]
    """Data point fields that must hold something to read; else inconclusive."""
    direction: Direction | Literal["maximize", "minimize"]
    low: float | None
    """With `high`: the range of its numbers; one outside it is FAILED, never clipped."""
    high: float | None
    threshold: float | None
    """Gives numbers PASS (at the threshold or better) or FAIL."""
    kind: EvaluatorKind | Literal["deterministic", "heuristic", "agentic"]
    version: str | None
    """What comparisons go by; default: a digest of the function's source."""
    is_billed: bool
    display_name: str | None
    definition: str
    metadata: Mapping[str, JsonValue] | None
    """Whatever else is to be known; two mappings from name to text in it are known by us: "prompts" and "models"."""
    check: Callable[[Sample, Any], str | None] | None
    """Looked at for every sample before anything runs: what is wrong with the sample, or None."""
    check_options: Callable[[Any], str | None] | None
    """Looked at once before anything runs: why it cannot run with these options (None if it has none), or None."""
    needs: str | None
    """Why it cannot run as it is set up, in words that go on after its name: "needs a judge: …"; runs refuse it."""
    batch: bool
    """The function sees all data points of a run at once and returns one value a point, in their order."""


def evaluator_from(fn: Callable[..., Any], name: str, settings: EvaluatorSettings) -> Evaluator:
    """An evaluator from a function and what was declared about it; refuses what cannot work."""
    what = f"evaluator '{name}'"
    for setting in settings:
        if setting not in EvaluatorSettings.__annotations__:
            raise ConfigError(f"{what}: {UnknownName('setting', setting, EvaluatorSettings.__annotations__)}")
    parameters = _parameters(fn, what, most=2)
    second = parameters[1] if len(parameters) > 1 else None
    options = settings.get("options") or (_options_model(fn, second, what) if second else None)
    if options is not None and second is None:
        raise ConfigError(f"{what} has options, but its function takes only a data point: give it a second parameter")
    return Evaluator(
        name=name,
        fn=fn,
        options=options,
        is_async=_is_async(fn),
        batch=settings.get("batch", False),
        requires=_fields(settings.get("requires", ()), what),
        non_empty=_fields(settings.get("non_empty", ()), what),
        rule=_rule(settings, what),
        kind=_member(EvaluatorKind, settings.get("kind", EvaluatorKind.HEURISTIC), what),
        declared_version=settings.get("version"),
        is_billed=settings.get("is_billed", False),
        display_name=settings.get("display_name") or name,
        definition=settings.get("definition", ""),
        metadata=settings.get("metadata") or {},
        check=settings.get("check"),
        check_options=settings.get("check_options"),
        needs=settings.get("needs"),
    )


def checked_name(kind: str, name: str) -> str:
    """The bare name, without "/evaluator/" or "/flow/" before it.

    Raises:
        ConfigError: it holds something else than letters, digits, `_ . : -`, and `/` between parts.
    """
    bare = name.removeprefix(f"/{kind}/") if isinstance(name, str) else ""
    if not _NAME.fullmatch(bare):
        raise ConfigError(
            f"{kind} name {name!r}: expected letters, digits, '_', '.', ':' or '-', in parts separated by '/', "
            "like 'custom/length'"
        )
    return bare


def flow_from(fn: Callable[..., Any], *, name: str, metadata: Mapping[str, JsonValue] | None) -> Flow:
    """A flow from a function of one parameter."""
    (parameter,) = _parameters(fn, f"flow '{name}'", most=1)
    annotation = _annotation(fn, parameter)
    return Flow(name=name, fn=fn, annotation=annotation, is_async=_is_async(fn), metadata=metadata or {})


def _source_version(fn: Callable[..., Any]) -> str:
    try:
        source = inspect.getsource(_unwrapped(fn))
    except (OSError, TypeError):
        return UNVERSIONED
    # it loads OpenSSL, which only a run needs
    from hashlib import blake2b

    return "src-" + blake2b(source.encode(), digest_size=6).hexdigest()


def origin_of(source: object) -> str:
    """Where something was defined, in words a person can find it by."""
    function = _unwrapped(source)
    code = getattr(function, "__code__", None)
    name = f"{getattr(function, '__module__', '?')}.{getattr(function, '__qualname__', type(function).__qualname__)}"
    return f"{name} ({code.co_filename}:{code.co_firstlineno})" if code else name


def _unwrapped(fn: Any) -> Any:
    while isinstance(fn, partial):
        fn = fn.func
    return inspect.unwrap(fn) if callable(fn) else fn


def _is_async(fn: Callable[..., Any]) -> bool:
    target = fn.func if isinstance(fn, partial) else fn
    return inspect.iscoroutinefunction(target) or inspect.iscoroutinefunction(getattr(target, "__call__", None))  # noqa: B004


def _parameters(fn: Callable[..., Any], what: str, *, most: int) -> list[inspect.Parameter]:
    if not callable(fn):
        raise ConfigError(f"{what} is a {type(fn).__name__}, not a function")
    try:
        signature = inspect.signature(fn)
    except ValueError as problem:
        raise ConfigError(f"{what}: {problem}: wrap it in a function of your own") from problem
    places = [p for p in signature.parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    needed = [p for p in places if p.default is p.empty]
    if len(needed) > most or not places:
        wanted = "one parameter" if most == 1 else "a data point, and options if it has any"
        raise ConfigError(f"{what}: {origin_of(fn)} takes {len(needed)} parameters; expected {wanted}")
    return places[:most]


def _annotation(fn: Callable[..., Any], parameter: inspect.Parameter) -> Any:
    if parameter.annotation is parameter.empty:
        return Any
    if not isinstance(parameter.annotation, str):
        return parameter.annotation
    target = _unwrapped(fn)
    try:
        return get_type_hints(target if hasattr(target, "__annotations__") else target.__call__, include_extras=True)[
            parameter.name
        ]
    except (NameError, TypeError, AttributeError) as problem:
        raise ConfigError(
            f"{origin_of(fn)}: the annotation {parameter.annotation!r} of '{parameter.name}' cannot be looked up "
            f"({problem}): define the type at module level, or leave the annotation out"
        ) from problem


def _options_model(fn: Callable[..., Any], parameter: inspect.Parameter, what: str) -> type[BaseModel] | None:
    annotation = _annotation(fn, parameter)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if parameter.default is not parameter.empty:
        return None
    raise ConfigError(
        f"{what}: its second parameter '{parameter.name}' holds options: annotate it with a pydantic model, "
        "or give options="
    )


def _fields(names: Collection[str], what: str) -> tuple[str, ...]:
    if isinstance(names, str):
        raise ConfigError(f"{what}: requires and non_empty take a list of fields, not the text {names!r}")
    for name in names:
        if name not in DataPoint.model_fields:
            raise ConfigError(f"{what}: {UnknownName('field', name, DataPoint.model_fields)}")
    return tuple(names)


def _rule(settings: EvaluatorSettings, what: str) -> ScoreRule:
    rule = ScoreRule(
        low=settings.get("low"),
        high=settings.get("high"),
        threshold=settings.get("threshold"),
        direction=_member(Direction, settings.get("direction", Direction.MAXIMIZE), what),
    )
    if rule.problem is not None:
        raise ConfigError(f"{what}: {rule.problem}")
    return rule


def _member(kind: type[E], value: str, what: str) -> E:
    try:
        return kind(value)
    except ValueError:
        known = [member.value for member in kind]
        raise ConfigError(f"{what}: {UnknownName(kind.__name__.lower(), str(value), known)}") from None


def _explained(problem: ValidationError, given: object) -> str:
    # loaded only where something is wrong
    from genkit_eval.misfits import explained

    return explained(problem, given)
