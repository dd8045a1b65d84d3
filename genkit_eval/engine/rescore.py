"""A finished run's outputs, judged once more: by other evaluators, other options, or the same that have changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from genkit_eval.engine.plan import Plan, make_plan
from genkit_eval.engine.repeats import Repeats, repeats_of
from genkit_eval.engine.run import EvalRun
from genkit_eval.engine.source import Source
from genkit_eval.errors import ConfigError, DataError, NotGiven
from genkit_eval.registry import EvaluatorRef, Registry
from genkit_eval.stored import EvalResult, EvalRunKey
from genkit_eval.types import Sample

__all__ = ["recorded_refs", "rescore_key", "rescore_plan", "stored_outputs"]

_SAMPLE_FIELDS = frozenset(Sample.model_fields)


def recorded_refs(key: EvalRunKey) -> list[EvaluatorRef]:
    """The evaluators of a run, with the options they had."""
    return [EvaluatorRef(record.evaluator, dict(record.options or {})) for record in key.evaluators]


def rescore_plan(
    registry: Registry, parent: EvalRunKey, evaluators: Sequence[str | EvaluatorRef] | None, repeats: Repeats
) -> Plan:
    """Without a target; the parent's own evaluators where none are given.

    Raises:
        UnknownName, InvalidOptions, ConfigError: as `make_plan`; the target is to be repeated.
        NotGiven: none are given, and the parent had none.
    """
    if repeats.target > 1:
        raise ConfigError(
            f"the target is to be repeated {repeats.target} times, but no target is called: the outputs are those of "
            f"run '{parent.eval_run_id}'; repeat the judges, or start a new run"
        )
    refs = recorded_refs(parent) if evaluators is None else evaluators
    if not refs:
        problem = (
            f"run '{parent.eval_run_id}' names no evaluators" if evaluators is None else "no evaluators were given"
        )
        raise NotGiven("evaluators", problem, advice="say which ones are to judge its outputs")
    return make_plan(registry, None, refs, judge_repeats=repeats.judge)


def stored_outputs(run: EvalRun, description: Mapping[str, Any] | None = None) -> Source:
    """The results of a finished run as samples that bring their outputs; `description` is what an earlier session knew.

    Raises:
        ConfigError: it is not finished. DataError: a file of another tool that has a test case twice.
    """
    key = run.key
    if not run.complete:
        raise ConfigError(f"run '{run.id}' is not finished: resume it first, then judge its outputs")
    if key.source is None:
        # no run of ours: those have each case, or each pass over it, once
        _check_once(run)

    def passes() -> Iterator[tuple[Sample, int | None]]:
        return ((_sample(result), result.repeat) for result in run.results)

    now: dict[str, JsonValue] = {"kind": "run", "run": run.id, "revision": key.revision}
    if key.source is not None and "path" in key.source:
        # that is what people know the data by
        now["path"] = key.source["path"]
    return Source(
        lambda: (sample for sample, _ in passes()),
        len(run.results),
        now,
        same=now == description,
        repeats=repeats_of(key).target,
        numbered=passes,
    )


def _check_once(run: EvalRun) -> None:
    seen: set[str] = set()
    for result in run.results:
        name = result.test_case_id or ""
        if name in seen:
            raise DataError(f"run '{run.id}' has test case '{name}' twice: its results cannot be told apart")
        seen.add(name)


def _sample(result: EvalResult) -> Sample:
    return Sample.trusted({name: getattr(result, name) for name in result.model_fields_set & _SAMPLE_FIELDS})


def rescore_key(key: EvalRunKey, parent: EvalRunKey) -> EvalRunKey:
    """The key of a new run, with what made its outputs: it is listed beside its parent."""
    made_by = ("dataset_id", "dataset_version", "action_ref", "action_version", "action_config")
    given = {name: getattr(parent, name) for name in made_by if parent.has(name)}
    return key.model_copy(update={**given, "parent": parent.eval_run_id})
