"""What an earlier session of a run has left in the journal, and whether it still fits the samples."""

from __future__ import annotations

import logging
from array import array
from collections.abc import Iterator, Mapping
from typing import Any

from genkit_eval._data import plain
from genkit_eval._json import dump
from genkit_eval.engine.asking.limits import Limits
from genkit_eval.engine.asking.model_limits import model_limits_from
from genkit_eval.engine.case import Case
from genkit_eval.engine.ledger import Ledger
from genkit_eval.engine.plan import Plan, make_plan
from genkit_eval.engine.repeats import repeats_of
from genkit_eval.engine.rescore import recorded_refs
from genkit_eval.engine.source import Source
from genkit_eval.engine.targets.recording import REPORTED
from genkit_eval.engine.targets.target import recorded_target
from genkit_eval.errors import ConfigError
from genkit_eval.registry import Registry
from genkit_eval.stored import EvalRunKey, EvaluatorRecord
from genkit_eval.types import Sample

__all__ = ["changed_flow", "check_same_plan", "limits_of", "recorded_plan", "remaining_cases"]

log = logging.getLogger("genkit_eval")

# what a target may replace does not tell whether the sample is still the same
_OBSERVED = REPORTED | {"error"}
_KEY_OF = {
    name: field.alias or name
    for name, field in Sample.model_fields.items()
    if name not in ("test_case_id", "input", "reference")
}
_EXTRA = {name: key for name, key in _KEY_OF.items() if name not in _OBSERVED}
# every result has trace ids, whether its sample has some or not
_EXTRA_AND_OUTPUTS = {name: key for name, key in _KEY_OF.items() if name != "trace_ids"}
_LIMITS = {
    "max_concurrency": "maxConcurrency",
    "target_seconds": "targetSeconds",
    "evaluator_seconds": "evaluatorSeconds",
    "sample_seconds": "sampleSeconds",
    "max_failures": "maxFailures",
    "call_seconds": "callSeconds",
    "retry_seconds": "retrySeconds",
    "retry_after_most_seconds": "retryAfterMostSeconds",
    "retries": "retries",
}
_Name = str | tuple[str, int]
_KEYS, _KEYS_AND_OUTPUTS = frozenset(_EXTRA.values()), frozenset(_EXTRA_AND_OUTPUTS.values())


def recorded_plan(registry: Registry, key: EvalRunKey) -> Plan:
    """The plan that a run began with, from its key.

    Raises:
        UnknownName: the app no longer defines its target or one of its evaluators.
    """
    # what made the outputs that are judged once more is named, but not called
    target = None if key.parent is not None else recorded_target(key.action_ref, key.action_config)
    return make_plan(registry, target, recorded_refs(key), judge_repeats=repeats_of(key).judge)


def limits_of(key: EvalRunKey) -> Limits:
    """The limits that a run began with."""
    given = key.limits or {}
    values = {name: given[alias] for name, alias in _LIMITS.items() if alias in given}
    return Limits(**values, models=model_limits_from(given.get("models") or {}))


def check_same_plan(key: EvalRunKey, plan: Plan) -> None:
    """Refuse to go on with evaluators that changed: the results of one run must have one ruler.

    Raises:
        ConfigError: an evaluator's version differs from the one that the run began with, or what it was given is gone.
    """
    now = {cell.key: cell for cell in plan.cells}
    for record in key.evaluators:
        cell = now[record.evaluator]
        if cell.evaluator.own_name in plan.lacking:
            raise ConfigError(
                f"run '{key.eval_run_id}' began with what was made for evaluator '{cell.evaluator.name}' before its "
                "first case, which is gone from the folder 'prepared': bring its file back, or start a new run"
            )
        if cell.version != record.version:
            raise ConfigError(
                f"run '{key.eval_run_id}' began with version {_ruler(record)} of evaluator "
                f"'{cell.evaluator.name}', which is now {_ruler(cell.record())}: start a new "
                "run, or bring the old version back"
            )


def _ruler(record: EvaluatorRecord) -> str:
    """A version with what a person can tell it by."""
    facts = [f"{use} {name}" for use, name in (record.models or {}).items()]
    if record.panel is not None:
        facts.append(f"panel by {record.panel}")
    return f"{record.version} ({', '.join(facts)})" if facts else record.version


def changed_flow(key: EvalRunKey, plan: Plan) -> tuple[str, ...]:
    """A notice when the flow is another one than the run began with: what is done keeps its outputs."""
    if plan.flow is None or key.action_version in (None, plan.flow.version):
        return ()
    return (
        f"{plan.flow.key} has changed since the run began: what is finished keeps the old outputs; "
        "start a new run to compare like with like",
    )


def remaining_cases(plan: Plan, source: Source, ledger: Ledger) -> Iterator[Case]:
    """The cases that are not done; what is done is counted on the way, what changed is left out.

    A result is kept when a sample of its id has the same content, for the same pass over it; it does not matter where
    it stands now.
    """
    with_output = plan.flow is None
    left: dict[_Name, int] = {}
    contents = array("q")
    for index, (sample, repeat) in enumerate(source.passes()):
        left[_name(str(sample.test_case_id), repeat)] = index
        if not source.same:
            contents.append(_content(sample, with_output=with_output))
    begun: dict[int, tuple[int, Mapping[str, Any]]] = {}
    needed = {cell.key for cell in (*plan.sync_cells, *plan.async_cells)}
    for slot, result in ledger.journal.entries():
        judges = _judges(result)
        if judges is None:
            log.warning("run %s: result %d is damaged and done again", ledger.journal.key.eval_run_id, slot)
            ledger.journal.discard(slot)
            continue
        name = _name(result["testCaseId"], result.get("repeat"))
        index = left.get(name, -1)
        kept = index >= 0 and (source.same or contents[index] == _content_of_result(result, with_output=with_output))
        if not kept:
            ledger.journal.discard(slot)
            continue
        ledger.place(index, slot)
        if ledger.on_replay is not None:
            ledger.on_replay(result)
        del left[name]
        if "error" in result or needed <= judges:
            ledger.replay(slot, result)
        else:
            begun[index] = slot, result
    # -1: asked by evaluators that see all cases
    ledger.recorded = ledger.journal.calls({-1, *(slot for slot, _ in begun.values())})
    return _cases(plan, source, set(left.values()), begun)


def _name(test_case_id: str, repeat: int | None) -> _Name:
    """By what a result is found again."""
    return test_case_id if repeat is None else (test_case_id, repeat)


def _judges(result: Mapping[str, Any]) -> set[str] | None:
    """The evaluators that have spoken; None where what is looked at is missing: a damaged line may be JSON as well."""
    try:
        if not isinstance(result["testCaseId"], str):
            return None
        return {metric["evaluator"] for metric in result["metrics"] if metric["status"] and metric["outcome"]}
    except (KeyError, TypeError):
        return None


def _cases(
    plan: Plan, source: Source, missing: set[int], begun: Mapping[int, tuple[int, Mapping[str, Any]]]
) -> Iterator[Case]:
    if not missing and not begun:
        # nothing is left: the samples need not be gone through again
        return
    for index, (sample, repeat) in enumerate(source.passes()):
        if index in missing:
            yield Case(index, sample, repeat)
        elif index in begun:
            slot, result = begun[index]
            case = Case.continued(index, sample, repeat, slot=slot, result=result)
            case.next_cell = len(plan.sync_cells)
            yield case


def _content(sample: Sample, *, with_output: bool) -> int:
    values, names = sample.__dict__, _EXTRA_AND_OUTPUTS if with_output else _EXTRA
    extra = {names[name]: plain(values[name]) for name in sample.model_fields_set if name in names and sample.has(name)}
    return _digest(values["input"], values["reference"], extra)


def _content_of_result(result: Mapping[str, Any], *, with_output: bool) -> int:
    keys = _KEYS_AND_OUTPUTS if with_output else _KEYS
    return _digest(result.get("input"), result.get("reference"), {key: result[key] for key in result if key in keys})


def _digest(given: Any, reference: Any, extra: Mapping[str, Any]) -> int:
    return hash(dump([given, reference, sorted(extra.items()) if extra else None]))
