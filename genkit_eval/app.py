"""GenkitEval: the object users hold. A registry, the datasets, the runs, and `evaluate`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, Unpack, overload

from pydantic import JsonValue

from genkit_eval.definitions import EvaluatorSettings
from genkit_eval.errors import NotGiven
from genkit_eval.registry import EvaluatorRef, Plugin, Registry
from genkit_eval.types import Sample

# The stores and the engine cost 100 ms at import and are not needed to define flows and evaluators: methods
# import them when they are first used.
if TYPE_CHECKING:
    from genkit_eval.engine import (
        Budget,
        Combination,
        EvalRun,
        Limits,
        Means,
        OnProgress,
        Plan,
        Repeats,
        Selection,
        Source,
        Terms,
    )
    from genkit_eval.engine.asking.kept_replies import CacheUse
    from genkit_eval.engine.source import Data
    from genkit_eval.engine.targets.target import Target
    from genkit_eval.library import Datasets, Runs
    from genkit_eval.models import Embedder, Message, Model, Reply
    from genkit_eval.prices import Price, Prices
    from genkit_eval.stored import EvalMetric, EvalRunKey
    from genkit_eval.stores import DatasetStore, EvalStore

__all__ = ["FROM_DATASET", "GenkitEval"]

F = TypeVar("F", bound=Callable[..., Any])


class _FromDataset:
    def __repr__(self) -> str:
        return "FROM_DATASET"


FROM_DATASET: Final = _FromDataset()
"""The dataset's own target."""


class GenkitEval:
    """Flows, evaluators, datasets and runs of one app.

    Args:
        plugins: what they define is there from the start.
        root: the folder that takes the place of `.genkit`; default: `GENKIT_EVAL_HOME`, else the project's `.genkit`.
        dataset_store, eval_store: other stores than the local files.
        cache: whether judges' replies are taken from the cache of earlier runs, and kept there: "on", "off", or
            "only": a request that it has no reply to is a failure.
        prices: of models, by name ("azure/gpt-4o", or "azure/*" for all that begin so); they go before the table
            of list prices that comes along.
    """

    def __init__(
        self,
        *,
        plugins: Iterable[Plugin] = (),
        root: Path | str | None = None,
        dataset_store: DatasetStore | None = None,
        eval_store: EvalStore | None = None,
        cache: CacheUse = "on",
        prices: Mapping[str, Price] | None = None,
    ) -> None:
        self.registry, self.cache = Registry(), cache
        self._own_prices = dict(prices or {})
        self._given_root = None if root is None else Path(root)
        self._choices: dict[str, JsonValue] = {}
        self._stores = dataset_store, eval_store
        self.registry.define_later("route", _define_route)
        for plugin in plugins:
            self.registry.install(plugin)

    def at(self, root: Path | str) -> GenkitEval:
        """The same flows, evaluators, models and given stores, with the local files of another root."""
        return self._copy(root=root)

    def with_cache(self, cache: CacheUse) -> GenkitEval:
        """The same app with another use of the cache."""
        return self._copy(cache=cache)

    def with_prices(self, prices: Mapping[str, Price]) -> GenkitEval:
        """The same app with these prices; those that it has itself stay for other models."""
        return self._copy(prices={**self._own_prices, **prices})

    def _copy(self, **changed: Any) -> GenkitEval:
        stores = {"dataset_store": self._stores[0], "eval_store": self._stores[1]}
        own = {"root": self._given_root, "cache": self.cache, "prices": self._own_prices}
        app = GenkitEval(**{**stores, **own, **changed})
        app.registry = self.registry
        return app

    @cached_property
    def prices(self) -> Prices:
        """What models cost: those given, then the table that comes along."""
        from genkit_eval.prices import Prices

        return Prices(self._own_prices)

    @property
    def has_own_root(self) -> bool:
        """Whether a root was given in code."""
        return self._given_root is not None

    @cached_property
    def root(self) -> Path:
        """The folder that datasets and runs lie in."""
        from genkit_eval.stores import find_root

        return find_root(self._given_root)

    @cached_property
    def datasets(self) -> Datasets:
        """The app's datasets."""
        from genkit_eval.library import Datasets
        from genkit_eval.stores import LocalFileDatasetStore

        return Datasets(self._stores[0] or LocalFileDatasetStore(self.root))

    @cached_property
    def runs(self) -> Runs:
        """The app's runs."""
        from genkit_eval.library import Runs
        from genkit_eval.stores import LocalFileEvalStore

        return Runs(self._stores[1] or LocalFileEvalStore(self.root))

    @overload
    def define_evaluator(self, name: str, fn: F, **settings: Unpack[EvaluatorSettings]) -> F: ...

    @overload
    def define_evaluator(
        self, name: str, fn: None = None, **settings: Unpack[EvaluatorSettings]
    ) -> Callable[[F], F]: ...

    def define_evaluator(
        self, name: str, fn: F | None = None, **settings: Unpack[EvaluatorSettings]
    ) -> F | Callable[[F], F]:
        """Define an evaluator, as a decorator or with `fn`: see `Registry.define_evaluator`."""
        if fn is None:
            return self.registry.define_evaluator(name, **settings)
        return self.registry.define_evaluator(name, fn, **settings)

    def define_alias(self, alias: str, of: str, **presets: JsonValue) -> None:
        """Define another name for an evaluator, with options of its own: see `Registry.define_alias`."""
        self.registry.define_alias(alias, of, **presets)

    def define_combination(
        self, name: str, combination: Combination, *, display_name: str = "", definition: str = ""
    ) -> None:
        """Define an evaluator made of others, which are defined already: `all_of("a", negate("b"))`.

        Raises:
            UnknownName, InvalidOptions: of a part, with the nearest name.
        """
        from genkit_eval.engine import define_combination

        define_combination(self.registry, name, combination, display_name=display_name, definition=definition)

    def flow(self, name: str, *, metadata: Mapping[str, JsonValue] | None = None) -> Callable[[F], F]:
        """Decorate a function to define it as a flow: see `Registry.define_flow`."""
        return self.registry.define_flow(name, metadata=metadata)

    def define_flow(self, name: str, fn: F, *, metadata: Mapping[str, JsonValue] | None = None) -> F:
        """Define a function as a flow: see `Registry.define_flow`."""
        return self.registry.define_flow(name, fn, metadata=metadata)

    def define_models(self, provider: str, models: Mapping[str, Model]) -> None:
        """Define models under `provider/name`."""
        self.registry.define_models(provider, models)

    def define_embedders(self, provider: str, embedders: Mapping[str, Embedder]) -> None:
        """Define embedders under `provider/name`."""
        self.registry.define_embedders(provider, embedders)

    async def generate(
        self, model: str, messages: str | Sequence[Message], *, config: Mapping[str, JsonValue] | None = None
    ) -> Reply:
        """Ask a model by its name, as judges are asked: within an evaluation by the run's limits, and counted.

        Args:
            model: "provider/name".
            messages: a text is one message of the user.
            config: parameters of the call, which go to the model as they are.

        Raises:
            UnknownName: no such model. ModelError: no reply.
        """
        from genkit_eval.model_calls import generate
        from genkit_eval.models import Message

        asked = [Message(role="user", content=messages)] if isinstance(messages, str) else messages
        return await generate(self.registry.model(model), asked, config=config, read=lambda reply: reply)

    def ref(self, name: str, **options: JsonValue) -> EvaluatorRef:
        """An evaluator with options for one run; both are checked now.

        Raises:
            UnknownName, InvalidOptions: with the nearest name.
        """
        self.registry.evaluator(name).parse_options(options)
        return EvaluatorRef(name, options)

    async def evaluate(
        self,
        data: Data | None = None,
        *,
        target: Target | _FromDataset | None = FROM_DATASET,
        evaluators: Sequence[str | EvaluatorRef] | None = None,
        select: Selection | None = None,
        limits: Limits | None = None,
        budget: Budget | None = None,
        repeats: Repeats | None = None,
        resume: str | None = None,
        progress: OnProgress | None = None,
    ) -> EvalRun:
        """Run samples through a target, score every output, keep everything in a run file.

        Args:
            data: a dataset's id, a `Path` (a `DataFile` if its ending does not tell the format), or samples.
                With `resume` only where the run's samples were given in code.
            target: "/flow/x" or "x", "/model/provider/x" or a `ModelTarget`, an endpoint ("http://…" or `HttpTarget`),
                a `CommandTarget`; None when the samples bring their outputs; default: the dataset's own.
            evaluators: names, or `ref(name, option=…)`; default: the dataset's own; `[]` only collects outputs.
            select: which samples take part.
            limits: concurrency and deadlines.
            budget: what may be spent until the run stops; it comes back INCOMPLETE then, with `key.stopped`.
            repeats: how often each sample runs, and how often judges are asked about each output.
            resume: the id of an interrupted run, which goes on where it stopped.
            progress: called about 20 times a second with how far the run is.

        Raises:
            ConfigError, DataError: before anything runs or is paid for.
            StoreError: what ended is kept as far as the disk took it.
        """
        if resume is not None:
            return await self._resume(resume, data, limits, budget, progress)
        from genkit_eval.engine import Means, new_key, run_cases

        plan, source = await self.plan(data, target=target, evaluators=evaluators, select=select, repeats=repeats)
        with Means(self.terms(plan, limits=limits, budget=budget)) as means:
            plan, told = await self.prepared(plan, means)
            journal = self.runs.store.begin(means.noted(new_key(plan, source, means.terms)))
            notices = (*source.notices, *told)
            return await run_cases(plan, source, journal, means, notices=notices, progress=progress)

    async def plan(
        self,
        data: Data | None,
        *,
        target: Target | _FromDataset | None = FROM_DATASET,
        evaluators: Sequence[str | EvaluatorRef] | None = None,
        select: Selection | None = None,
        repeats: Repeats | None = None,
    ) -> tuple[Plan, Source]:
        """What `evaluate` would run, and on which samples: looked at and checked, with nothing run.

        What has to be made once for an evaluator may be `lacking` yet: see `prepared`.
        """
        from genkit_eval.engine import Repeats, Selection, off_loop, own_target, plan_for, sample_problems, source_of

        if data is None:
            raise NotGiven("data", "evaluate() needs data", advice="a dataset's id, a Path, or samples")
        repeats = repeats or Repeats()
        source = await off_loop(lambda: source_of(self.datasets.store, data, select or Selection()))
        wanted = own_target(source) if isinstance(target, _FromDataset) else target
        plan = self._planned(lambda: plan_for(self.registry, source, wanted, evaluators, repeats))
        problems = await off_loop(lambda: sample_problems(plan, source))
        return plan, replace(source, notices=(*source.notices, *problems)).repeated(repeats.target)

    async def prepared(self, plan: Plan, means: Means) -> tuple[Plan, Sequence[str]]:
        """The plan once what is lacking is made, which may cost calls of models, and what there is to tell of it.

        Raises:
            Unprepared: only the cache may be asked. ModelError: whoever was to make it did not.
        """
        if not plan.lacking:
            return plan, ()
        from genkit_eval.preparation import make_lacking

        registry, told = await make_lacking(plan, self.root, means)
        return plan.renewed(registry), told

    async def rescore(
        self,
        run: EvalRun | EvalRunKey | str,
        evaluators: Sequence[str | EvaluatorRef] | None = None,
        *,
        limits: Limits | None = None,
        budget: Budget | None = None,
        repeats: Repeats | None = None,
        progress: OnProgress | None = None,
    ) -> EvalRun:
        """Judge the stored outputs of a finished run once more; the target is not called.

        The new run names the old one as its `parent`, and resumes like any other.

        Args:
            run: the run, its key or its id.
            evaluators: names, or `ref(name, option=…)`; default: those of the run, with their options.
            limits, budget, repeats, progress: as for `evaluate`; only judges can be repeated.

        Raises:
            ConfigError, DataError: before anything runs or is paid for; also where the run is not finished.
        """
        from genkit_eval import engine

        parent = run if isinstance(run, engine.EvalRun) else self.runs.load(run)
        source = await engine.off_loop(lambda: engine.stored_outputs(parent))
        again = repeats or engine.Repeats()
        plan = self._planned(lambda: engine.rescore_plan(self.registry, parent.key, evaluators, again))
        problems = await engine.off_loop(lambda: engine.sample_problems(plan, source))
        with engine.Means(self.terms(plan, limits=limits, budget=budget)) as means:
            plan, told = await self.prepared(plan, means)
            key = engine.rescore_key(engine.new_key(plan, source, means.terms), parent.key)
            journal = self.runs.store.begin(means.noted(key))
            return await engine.run_cases(plan, source, journal, means, notices=(*problems, *told), progress=progress)

    async def score(
        self,
        point: Sample,
        evaluators: str | EvaluatorRef | Sequence[str | EvaluatorRef],
        *,
        seconds: float | None = None,
    ) -> list[EvalMetric]:
        """Score one data point: no run, no store. One metric for each score, in the evaluators' order.

        `seconds` is each evaluator's deadline. Judges are asked as in a run, so what the cache knows costs nothing.
        """
        from genkit_eval.engine import Means, make_plan, score_point

        refs = [evaluators] if isinstance(evaluators, str | EvaluatorRef) else evaluators
        plan = self._planned(lambda: make_plan(self.registry, None, refs))
        needed = [name for name in plan.lacking if not plan.registry.preparations[name].idle(point)]
        with Means(self.terms(plan), self._choices) as means:
            plan, _ = await self.prepared(replace(plan, lacking=tuple(needed)), means)
            return await score_point(plan, point, means.calls, evaluator_seconds=seconds)

    async def _resume(
        self, run_id: str, data: Any, limits: Limits | None, budget: Budget | None, progress: OnProgress | None
    ) -> EvalRun:
        from genkit_eval import engine

        run = self.runs.load(run_id)
        if run.complete:
            return run
        plan = self._planned(lambda: engine.recorded_plan(self.registry, run.key))
        engine.check_same_plan(run.key, plan)
        source = await engine.off_loop(lambda: engine.recorded_source(self.datasets.store, self.runs.load, run, data))
        # a run that was begun without the cache goes on without
        cache = run.key.cache or "on" if self.cache == "on" else self.cache
        terms = self.terms(plan, limits=limits or engine.limits_of(run.key), budget=budget, cache=cache)
        told = engine.changed_flow(run.key, plan)
        with engine.Means(terms) as means:
            journal = self.runs.store.reopen(run_id)
            return await engine.run_cases(plan, source, journal, means, resumed=True, notices=told, progress=progress)

    def terms(
        self, plan: Plan, *, limits: Limits | None = None, budget: Budget | None = None, cache: str | None = None
    ) -> Terms:
        """On what terms a run of this app would run; a budget that cannot be kept is refused."""
        from genkit_eval.engine import Limits, Terms, asked_models, check_priced, checked_use

        if budget is not None and budget.usd is not None:
            check_priced(asked_models(plan, self.registry, self.prices))
        return Terms(limits or Limits(), budget, self.prices, checked_use(cache or self.cache))

    def _planned(self, make: Callable[[], Plan]) -> Plan:
        """A plan, with what was made for its evaluators by an earlier run."""
        from genkit_eval.dataset_access import dataset_reader

        dataset_reader.set(lambda dataset, version: self.datasets.get(dataset, version=version))
        plan = make()
        if not plan.lacking:
            return plan
        from genkit_eval.preparation import take_kept

        return plan.renewed(take_kept(plan.registry, plan.lacking, self.root))


def _define_route(registry: Registry) -> None:
    from genkit_eval.engine import define_route

    define_route(registry)
