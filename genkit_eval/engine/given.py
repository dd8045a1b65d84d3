"""From what a user gives, or leaves to the dataset, to a run's samples, target and evaluators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from genkit_eval.engine.plan import Plan, make_plan
from genkit_eval.engine.repeats import Repeats, repeats_of
from genkit_eval.engine.rescore import stored_outputs
from genkit_eval.engine.run import EvalRun
from genkit_eval.engine.source import (
    Data,
    DataFile,
    Selection,
    Source,
    brings_outputs,
    dataset_source,
    file_source,
    file_source_again,
    inline_source,
    no_source,
)
from genkit_eval.engine.targets.target import Target
from genkit_eval.errors import ConfigError, NotFound, NotGiven, StoreError
from genkit_eval.registry import EvaluatorRef, Registry
from genkit_eval.stores import DatasetStore

__all__ = ["own_target", "plan_for", "recorded_source", "source_of"]


def source_of(datasets: DatasetStore, data: Data, selection: Selection) -> Source:
    """The samples of a dataset by its id, of a file, or those in hand.

    Raises:
        ConfigError, DataError, StoreError: there are none, or some that cannot be read.
    """
    if isinstance(data, str):
        try:
            return dataset_source(datasets, data, version=None, selection=selection)
        except StoreError as problem:
            if Path(data).is_file():
                raise ConfigError(f"'{data}' is a file, not a dataset's id: give Path({data!r})") from problem
            raise
    if isinstance(data, Path):
        return file_source(data, selection=selection)
    if isinstance(data, DataFile):
        return file_source(data.path, selection=selection, format=data.format)
    return inline_source(data, selection=selection)


def recorded_source(datasets: DatasetStore, load: Callable[[str], EvalRun], run: EvalRun, data: Any) -> Source:
    """What a run that goes on began with, or what is given now in its place; `load` finds the run that it rescores.

    Raises:
        NotGiven: its samples were given in code, and are not given again.
        ConfigError: data is given where the outputs of another run are judged, or that run is gone.
    """
    parent = run.key.parent
    if parent is not None:
        if data is not None:
            raise ConfigError(f"run '{run.id}' judges the outputs of run '{parent}': it takes no data")
        try:
            outputs = load(parent)
        except NotFound as gone:
            raise ConfigError(f"run '{run.id}' judges the outputs of run '{parent}', which is gone: {gone}") from gone
        return stored_outputs(outputs, run.key.source)
    times = repeats_of(run.key).target
    return _recorded_samples(datasets, run, data, times).repeated(times)


def _recorded_samples(datasets: DatasetStore, run: EvalRun, data: Any, times: int) -> Source:
    key = run.key
    description = dict(key.source or {})
    selection = Selection.from_json(description.get("select"))
    if data is not None:
        return source_of(datasets, data, selection)
    if key.dataset_id is not None:
        source = dataset_source(datasets, key.dataset_id, version=key.dataset_version, selection=selection)
        return replace(source, same=True)
    if description.get("kind") == "file":
        count = None if key.case_count is None else key.case_count // times
        return file_source_again(description, selection=selection, count=count)
    raise no_source(run.id)


def own_target(source: Source) -> str | None:
    """The target that the dataset names; None where its samples bring their outputs.

    Raises:
        NotGiven: neither. ConfigError: it names one with variables of the user's own in it.
    """
    target = source.dataset.target_action if source.dataset else None
    if target is None and not brings_outputs(source):
        raise NotGiven(
            "target",
            "no target was given, the data names none, and no sample brings an output",
            advice="give a target, like '/flow/name', or None to judge the samples as they are",
        )
    if target is not None and "${" in target:
        raise ConfigError(f"the data names target '{target}', with variables of yours in it: give it yourself")
    return target


def plan_for(
    registry: Registry,
    source: Source,
    target: Target | None,
    evaluators: Sequence[str | EvaluatorRef] | None,
    repeats: Repeats,
) -> Plan:
    """The plan for these samples, with the dataset's evaluators where none are given.

    Raises:
        NotGiven: the dataset names none. Whatever `make_plan` raises.
    """
    if evaluators is None:
        evaluators = _own_evaluators(source, registry)
    if target is None and repeats.target > 1:
        raise ConfigError(
            f"the target is to be repeated {repeats.target} times, but no target is called: the samples bring "
            "their outputs; repeat the judges, or give a target"
        )
    return make_plan(registry, target, evaluators, judge_repeats=repeats.judge)


def _own_evaluators(source: Source, registry: Registry) -> list[str]:
    evaluators = list(source.dataset.metric_refs) if source.dataset else []
    if not evaluators:
        known = ", ".join(registry.ready_evaluators[:10]) or "none is defined yet"
        raise NotGiven(
            "evaluators",
            "no evaluators were given and the data names none",
            advice=f"choose some ({known}), or give an empty list to only collect outputs",
        )
    return evaluators
