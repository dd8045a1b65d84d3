"""What an earlier session of a run has left in the journal, and whether it still fits the samples."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from genkit_eval._data import plain
from genkit_eval._json import dump
from genkit_eval.engine.case import Case
from genkit_eval.engine.ledger import Ledger
from genkit_eval.engine.limits import Limits
from genkit_eval.engine.plan import Plan, make_plan
from genkit_eval.engine.source import Source
from genkit_eval.errors import ConfigError
from genkit_eval.registry import EvaluatorRef, Registry
from genkit_eval.types import EvalRunKey, Sample

__all__ = ["check_same_plan", "limits_of", "recorded_plan", "remaining_cases"]

log = logging.getLogger("genkit_eval")

# what a target may replace does not tell whether the sample is still the same
_OBSERVED = {
    "test_case_id",
    "output",
    "error",
    "context",
    "custom",
    "trace_ids",
    "tools",
    "turns",
    "usage",
    "latency",
    "plan",
    "retrieved_ids",
}
_GIVEN = {"input", "reference"}
_EXTRA = {name: field.alias or name for name, field in Sample.model_fields.items() if name not in _OBSERVED | _GIVEN}
_LIMITS = {
    "max_concurrency": "maxConcurrency",
    "target_seconds": "targetSeconds",
    "evaluator_seconds": "evaluatorSeconds",
}
_OUTPUTS = {name: name for name in ("output", "error", "context")}


def recorded_plan(registry: Registry, key: EvalRunKey) -> Plan:
    """The plan that a run began with, from its key.

    Raises:
        UnknownName: the app no longer defines its target or one of its evaluators.
    """
    refs = [EvaluatorRef(record.evaluator, dict(record.options or {})) for record in key.evaluators]
    return make_plan(registry, key.action_ref, refs)


def limits_of(key: EvalRunKey) -> Limits:
    """The limits that a run began with."""
    given = key.limits or {}
    return Limits(**{name: given[alias] for name, alias in _LIMITS.items() if alias in given})


def check_same_plan(key: EvalRunKey, plan: Plan) -> None:
    """Refuse to go on with evaluators that changed: the results of one run must have one ruler.

    Raises:
        ConfigError: an evaluator's version differs from the one that the run began with.
    """
    now = {cell.key: cell.version for cell in plan.cells}
    for record in key.evaluators:
        if now[record.evaluator] != record.version:
            name = record.evaluator.removeprefix("/evaluator/")
            raise ConfigError(
                f"run '{key.eval_run_id}' began with version {record.version} of evaluator '{name}', which is now "
                f"{now[record.evaluator]}: start a new run, or bring the old version back"
            )


def remaining_cases(plan: Plan, source: Source, ledger: Ledger) -> Iterator[Case]:
    """The cases that are not done; what is done is counted on the way, what changed is left out.

    A result is kept when a sample of its id has the same content; it does not matter where it stands now.
    """
    with_output = plan.flow is None
    contents = {str(sample.test_case_id): _content(sample, with_output=with_output) for sample in source.samples()}
    done: dict[str, int] = {}
    begun: dict[str, tuple[int, Mapping[str, Any]]] = {}
    needed = {cell.key for cell in (*plan.sync_cells, *plan.async_cells)}
    for slot, result in ledger.journal.entries():
        judges = _judges(result)
        if judges is None:
            log.warning("run %s: result %d is damaged and done again", ledger.journal.key.eval_run_id, slot)
            ledger.journal.discard(slot)
            continue
        case_id = result["testCaseId"]
        if contents.pop(case_id, None) != _content_of_result(result, with_output=with_output):
            ledger.journal.discard(slot)
        elif "error" in result or needed <= judges:
            done[case_id] = slot
            ledger.replay(slot, result)
        else:
            begun[case_id] = slot, result
    return _cases(plan, source, ledger, done, begun)


def _judges(result: Mapping[str, Any]) -> set[str] | None:
    """The evaluators that have spoken; None where what is looked at is missing: a damaged line may be JSON as well."""
    try:
        if not isinstance(result["testCaseId"], str):
            return None
        return {metric["evaluator"] for metric in result["metrics"] if metric["status"] and metric["outcome"]}
    except (KeyError, TypeError):
        return None


def _cases(
    plan: Plan,
    source: Source,
    ledger: Ledger,
    done: Mapping[str, int],
    begun: Mapping[str, tuple[int, Mapping[str, Any]]],
) -> Iterator[Case]:
    for index, sample in enumerate(source.samples()):
        case_id = str(sample.test_case_id)
        if case_id in done:
            ledger.place(index, done[case_id])
        elif case_id in begun:
            slot, result = begun[case_id]
            case = Case.continued(index, sample, slot=slot, result=result)
            case.next_cell = len(plan.sync_cells)
            ledger.place(index, slot)
            yield case
        else:
            yield Case(index, sample)


def _content(sample: Sample, *, with_output: bool) -> int:
    values = sample.__dict__
    extra = {alias: plain(values[name]) for name, alias in _EXTRA.items() if sample.has(name)}
    if with_output:
        extra |= {name: values[name] for name in _OUTPUTS if sample.has(name)}
    return hash(dump([values["input"], values["reference"], extra]))


def _content_of_result(result: Mapping[str, Any], *, with_output: bool) -> int:
    names: Iterable[str] = (*_EXTRA.values(), *_OUTPUTS) if with_output else _EXTRA.values()
    extra = {name: result[name] for name in names if name in result}
    return hash(dump([result.get("input"), result.get("reference"), extra]))
