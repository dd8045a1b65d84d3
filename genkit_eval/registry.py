"""The registry: definitions of flows, evaluators and models, and their lookup by name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, overload

from pydantic import JsonValue

from genkit_eval.definitions import (
    Evaluator,
    EvaluatorSettings,
    Flow,
    checked_name,
    evaluator_from,
    flow_from,
    origin_of,
)
from genkit_eval.errors import DuplicateName, InvalidOptions, UnknownName

if TYPE_CHECKING:
    from genkit_eval.models import Embedder, Model
    from genkit_eval.types import Sample

__all__ = ["EvaluatorFormat", "EvaluatorRef", "FileEvaluator", "Plugin", "Preparation", "Registry"]

F = TypeVar("F", bound=Callable[..., Any])
Definition = TypeVar("Definition")

Provider = Mapping[str, Definition] | Callable[[str], Definition]


@dataclass(frozen=True, slots=True)
class Plugin:
    """A named bundle of definitions; `setup` calls the registry's `define_*` verbs."""

    name: str
    setup: Callable[[Registry], None]
    description: str = ""


@dataclass(frozen=True, slots=True)
class EvaluatorRef:
    """An evaluator by name, with options for one run."""

    name: str
    options: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Preparation:
    """What an evaluator lacks until a run first names it: it is made once, and kept beside the runs.

    Args:
        key: names the file that it is kept in; to be another one whenever something else would be made.
        make: makes it; any JSON value.
        define: defines the evaluator, and its aliases, with it. Raises ConfigError where it is of no use.
        idle: whether a data point gives the evaluator nothing to judge, so that it can say so without what it lacks.
        note: what it is, for whoever opens the file; a line.
    """

    key: str
    make: Callable[[], Awaitable[JsonValue]]
    define: Callable[[Registry, JsonValue], None]
    idle: Callable[[Sample], bool]
    note: str


@dataclass(frozen=True, slots=True)
class FileEvaluator:
    """An evaluator that a file describes: its name, the document as it is written, and how it is defined."""

    name: str
    document: Mapping[str, JsonValue]
    define: Callable[[Registry], None]


@dataclass(frozen=True, slots=True)
class EvaluatorFormat:
    """How a plugin's evaluators are described in files. An evaluator's own is `metadata["document"]`.

    Args:
        schema: the JSON Schema of a document.
        parse: the evaluator in a document; raises ConfigError.
        starter: the text of a file to begin with, for an evaluator of that name.
        document: what an evaluator of the plugin itself would be in a file, by its name; None for one that cannot be.
    """

    schema: Callable[[], Mapping[str, JsonValue]]
    parse: Callable[[JsonValue], FileEvaluator]
    starter: Callable[[str], str]
    document: Callable[[str], Mapping[str, JsonValue] | None]


class Registry:
    """Flows, evaluators, models and embedders by name; every name has one definition."""

    def __init__(self) -> None:
        self.evaluators: dict[str, Evaluator] = {}
        self.aliases: dict[str, Evaluator] = {}
        self.flows: dict[str, Flow] = {}
        self.models: dict[str, Model] = {}
        self.embedders: dict[str, Embedder] = {}
        self._later: dict[str, Callable[[Registry], None]] = {}
        self._model_makers: dict[str, Callable[[str], Model]] = {}
        self._embedder_makers: dict[str, Callable[[str], Embedder]] = {}
        self.preparations: dict[str, Preparation] = {}
        self.evaluator_format: EvaluatorFormat | None = None
        self.plugins: dict[str, Plugin] = {}
        self._parties: dict[tuple[str, str], str] = {}
        self._party: str | None = None

    def install(self, plugin: Plugin) -> None:
        """Let a plugin define what it brings; a second plugin of the same name is refused."""
        if plugin.name in self.plugins:
            raise DuplicateName("plugin", plugin.name, first="an earlier one", second="the one given now")
        self.plugins[plugin.name] = plugin
        self._party = f"plugin '{plugin.name}'"
        try:
            plugin.setup(self)
        finally:
            self._party = None

    @overload
    def define_evaluator(self, name: str, fn: F, **settings: Unpack[EvaluatorSettings]) -> F: ...

    @overload
    def define_evaluator(
        self, name: str, fn: None = None, **settings: Unpack[EvaluatorSettings]
    ) -> Callable[[F], F]: ...

    def define_evaluator(
        self, name: str, fn: F | None = None, **settings: Unpack[EvaluatorSettings]
    ) -> F | Callable[[F], F]:
        """Define an evaluator, as a decorator or with `fn`; the function itself comes back unchanged.

        Args:
            name: "namespace/name", by which runs refer to it.
            fn: sync or async, `fn(point)` or `fn(point, options)`; what it may return: `as_scores`.
            settings: what it declares about itself: `EvaluatorSettings`.

        Raises:
            ConfigError: a name, range or field that cannot be.
            DuplicateName: the name is taken; both parties are named.
        """

        def define(function: F) -> F:
            evaluator = evaluator_from(function, checked_name("evaluator", name), settings)
            self._add("evaluator", self.evaluators, evaluator.name, evaluator, function)
            return function

        return define if fn is None else define(fn)

    def define_later(self, name: str, define: Callable[[Registry], None]) -> None:
        """Let an evaluator be defined when it is first asked for by name, if nobody has defined it by then."""
        self._later[name] = define

    def define_what_waits(self) -> None:
        """Define now what would be when it is first asked for: a list shows it too."""
        for name in self._later:
            self.evaluator(name)

    def define_format(self, evaluators: EvaluatorFormat) -> None:
        """Declare how evaluators are described in files; a second plugin that does so is refused."""
        if self.evaluator_format is not None:
            first = self._parties["format", "evaluators"]
            raise DuplicateName("format of files", "evaluators", first=first, second=self._party or "a plugin")
        self.evaluator_format, self._parties["format", "evaluators"] = evaluators, self._party or "a plugin"

    def require_preparation(self, name: str, needs: str, preparation: Preparation) -> None:
        """Let an evaluator that is defined be refused, by what it needs, until a run has made that.

        Args:
            needs: goes on after its name: "needs its steps: …".
        """
        self.evaluators[name] = replace(self.evaluators[name], needs=needs)
        self.preparations[name] = preparation

    def redefined(self, name: str, define: Callable[[Registry], None]) -> Registry:
        """The same registry but for one evaluator, which is defined anew, and its aliases; this one stays as it is."""
        fresh = copy(self)
        fresh.evaluators, fresh.aliases, fresh._parties = {**self.evaluators}, {**self.aliases}, {**self._parties}
        fresh.preparations = {other: work for other, work in self.preparations.items() if other != name}
        aliases = [alias for alias in self.aliases.values() if alias.alias_of == name]
        for gone in (name, *(alias.name for alias in aliases)):
            del fresh._parties["evaluator", gone]
            (fresh.evaluators if gone == name else fresh.aliases).pop(gone)
        define(fresh)
        for alias in aliases:
            if alias.name not in fresh.aliases:
                fresh.define_alias(alias.name, name, **alias.presets)
        return fresh

    def define_alias(self, alias: str, of: str, **presets: JsonValue) -> None:
        """Define another name for an evaluator, with options that differ from its defaults.

        What is judged by the alias is kept under the alias. Options that a run gives go before the presets.

        Args:
            alias: "namespace/name".
            of: the name of an evaluator that is defined already, or of an alias of it.

        Raises:
            UnknownName: there is no such evaluator, or it has no such option.
            DuplicateName: the name is taken.
        """
        evaluator = self.evaluator(of)
        known = evaluator.options.model_fields if evaluator.options is not None else {}
        for name in presets:
            if name not in known:
                raise UnknownName(f"option of evaluator '{evaluator.name}'", name, known)
        own: dict[str, Any] = {
            "name": checked_name("evaluator", alias),
            "alias_of": evaluator.own_name,
            "presets": {**evaluator.presets, **presets},
        }
        made_for = evaluator.made_for
        if made_for is not None:
            own["made_for"] = lambda options: replace(made_for(options), **own)
        made = replace(evaluator, **own)
        self._add("evaluator", self.aliases, made.name, made, evaluator.fn)

    @overload
    def define_flow(self, name: str, fn: F, *, metadata: Mapping[str, JsonValue] | None = None) -> F: ...

    @overload
    def define_flow(
        self, name: str, fn: None = None, *, metadata: Mapping[str, JsonValue] | None = None
    ) -> Callable[[F], F]: ...

    def define_flow(
        self, name: str, fn: F | None = None, *, metadata: Mapping[str, JsonValue] | None = None
    ) -> F | Callable[[F], F]:
        """Define a flow: a function of one input, sync or async; its annotation validates the input.

        As a decorator or with `fn`; the function itself comes back unchanged.
        """

        def define(function: F) -> F:
            flow = flow_from(function, name=checked_name("flow", name), metadata=metadata)
            self._add("flow", self.flows, flow.name, flow, function)
            return function

        return define if fn is None else define(fn)

    def define_models(self, provider: str, models: Provider[Model]) -> None:
        """Define models under `provider/name`: a mapping by name, or a function that makes the model of any name."""
        self._provide("model", provider, models, self.models, self._model_makers)

    def define_embedders(self, provider: str, embedders: Provider[Embedder]) -> None:
        """Define embedders under `provider/name`: a mapping by name, or a function that makes that of any name."""
        self._provide("embedder", provider, embedders, self.embedders, self._embedder_makers)

    def evaluator(self, ref: str) -> Evaluator:
        """The evaluator of that name, or alias; "custom/x" and "/evaluator/custom/x" mean the same."""
        name = ref.removeprefix("/evaluator/")
        if name in self._later and name not in self.evaluators:
            self._later[name](self)
        return _found("evaluator", {**self.evaluators, **self.aliases} if self.aliases else self.evaluators, ref)

    @property
    def ready_evaluators(self) -> list[str]:
        """The names of those that can run as they are set up and without options, in order.

        Those are left out whose metadata says `onRequest`: they suit data that is made for them.
        """
        return sorted(name for name, evaluator in self.evaluators.items() if _is_ready(evaluator))

    def flow(self, ref: str) -> Flow:
        """The flow of that name; "x" and "/flow/x" mean the same."""
        return _found("flow", self.flows, ref)

    def model(self, ref: str) -> Model:
        """The model of that name; "provider/x" and "/model/provider/x" mean the same."""
        return _made("model", self.models, self._model_makers, ref)

    def embedder(self, ref: str) -> Embedder:
        """The embedder of that name; "provider/x" and "/embedder/provider/x" mean the same."""
        return _made("embedder", self.embedders, self._embedder_makers, ref)

    def _provide(
        self,
        kind: str,
        provider: str,
        given: Provider[Definition],
        table: dict[str, Definition],
        makers: dict[str, Callable[[str], Definition]],
    ) -> None:
        checked_name(kind, provider)
        if isinstance(given, Mapping):
            for name, definition in given.items():
                self._add(kind, table, f"{provider}/{name}", definition, definition)
        else:
            self._add(f"{kind} provider", makers, provider, given, given)

    def _add(self, kind: str, table: dict[str, Definition], name: str, definition: Definition, source: object) -> None:
        party = self._party or origin_of(source)
        # an alias has a table of its own, and the names of evaluators
        if name in table or (kind, name) in self._parties:
            raise DuplicateName(kind, name, first=self._parties[kind, name], second=party)
        table[name] = definition
        self._parties[kind, name] = party


def _is_ready(evaluator: Evaluator) -> bool:
    if evaluator.needs is not None or evaluator.metadata.get("onRequest"):
        return False
    try:
        evaluator.parse_options({})
    except InvalidOptions:
        return False
    return True


def _found(kind: str, table: Mapping[str, Definition], ref: str) -> Definition:
    name = ref.removeprefix(f"/{kind}/")
    if name not in table:
        raise UnknownName(kind, name, table)
    return table[name]


def _made(
    kind: str, table: dict[str, Definition], makers: Mapping[str, Callable[[str], Definition]], ref: str
) -> Definition:
    """The definition of that name, made and kept if its provider makes any name; of several, the longest one's."""
    name = ref.removeprefix(f"/{kind}/")
    if name not in table:
        provider = max((p for p in makers if name.startswith(f"{p}/") and name != f"{p}/"), key=len, default=None)
        if provider is None:
            _, slash, rest = name.partition("/")
            rest = rest or ("<name>" if slash else name)
            raise UnknownName(kind, name, [*table, *(f"{p}/{rest}" for p in makers)])
        table[name] = makers[provider](name.removeprefix(f"{provider}/"))
    return table[name]
