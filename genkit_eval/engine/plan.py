"""What a run will do, resolved and checked before anything runs or is paid for."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from genkit_eval.definitions import Flow
from genkit_eval.engine.case import Case
from genkit_eval.engine.cells import Cell, plan_cell
from genkit_eval.engine.targets.target import Target, target_flow
from genkit_eval.errors import ConfigError, DataError
from genkit_eval.registry import EvaluatorRef, Registry
from genkit_eval.stored import MetricInfo

__all__ = ["Plan", "make_plan"]


@dataclass(frozen=True)
class Plan:
    """The target (None: outputs are given) and the evaluators of a run, with their options."""

    flow: Flow | None
    cells: tuple[Cell, ...]
    registry: Registry
    """Where the evaluators were found."""
    refs: tuple[EvaluatorRef, ...] = ()
    """The evaluators as they were given."""
    judge_repeats: int = 1
    """How often judges are asked about each output."""
    lacking: tuple[str, ...] = ()
    """Evaluators for which something has to be made before the first case."""

    @cached_property
    def sync_cells(self) -> tuple[Cell, ...]:
        """Evaluators that run on threads."""
        return tuple(cell for cell in self.cells if not cell.evaluator.is_async and not cell.evaluator.batch)

    @cached_property
    def async_cells(self) -> tuple[Cell, ...]:
        """Evaluators that run on the event loop."""
        return tuple(cell for cell in self.cells if cell.evaluator.is_async and not cell.evaluator.batch)

    @cached_property
    def batch_cells(self) -> tuple[Cell, ...]:
        """Evaluators that see all data points at once, after everything else."""
        return tuple(cell for cell in self.cells if cell.evaluator.batch)

    @cached_property
    def billed(self) -> bool:
        """Whether a synchronous evaluator costs money, so that it must never judge twice."""
        return any(cell.evaluator.is_billed for cell in self.sync_cells)

    @cached_property
    def loop_takes(self) -> bool:
        """Whether the event loop takes the cases: it calls the target, or alone judges outputs that are there."""
        return not self.sync_cells if self.flow is None else self.flow.is_async

    def call_target(self, case: Case) -> Any:
        """Call the target with the sample's input: its output, or an awaitable of it."""
        flow = self.flow
        if flow is None:
            case.given()
            return None
        value = case.input_for_target()
        if flow.validates:
            try:
                value = flow.parse_input(value)
            except DataError as problem:
                raise DataError(f"sample '{case.sample.test_case_id}': {problem}") from None
        sample = case.sample
        if sample.expected_tools is not None and sample.tools is None and flow.kind == "flow":
            # a flow can record a call, but not that it makes none: where calls matter, none recorded is none made
            case.records.append(("tools", ()))
        return flow.fn(value)

    def renewed(self, registry: Registry) -> Plan:
        """The same plan with its evaluators as that registry has them."""
        cells, lacking = _planned(registry, self.refs, self.judge_repeats)
        return replace(self, cells=cells, registry=registry, lacking=lacking)

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Plan]:
        """The plan with a target that is ready to be called: what it needs is open meanwhile."""
        if self.flow is None or self.flow.session is None:
            yield self
            return
        async with self.flow.session() as fn:
            yield replace(self, flow=replace(self.flow, fn=fn))

    def metrics_metadata(self) -> dict[str, MetricInfo]:
        """What the metrics are called, by bare name, as Genkit's tools want it."""
        return {
            cell.evaluator.name: MetricInfo(
                display_name=cell.evaluator.display_name, definition=cell.evaluator.definition
            )
            for cell in self.cells
        }


def make_plan(
    registry: Registry,
    target: Target | None,
    evaluators: Sequence[str | EvaluatorRef],
    *,
    judge_repeats: int = 1,
) -> Plan:
    """Resolve names and options.

    Raises:
        UnknownName, InvalidOptions: with the nearest name.
        ConfigError: an evaluator twice, or one that cannot run; a target that is nothing to call.
    """
    flow = target_flow(registry, target)
    if isinstance(evaluators, str):
        raise ConfigError(f"evaluators is the text '{evaluators}': give a list of names")
    refs = tuple(_ref(given) for given in evaluators)
    cells, lacking = _planned(registry, refs, judge_repeats)
    if judge_repeats > 1 and all(cell.repeats == 1 for cell in cells):
        raise ConfigError(
            f"judges are to be asked {judge_repeats} times, but no evaluator of the run is one: only those of kind "
            "'agentic' are repeated"
        )
    return Plan(flow, cells, registry, refs=refs, judge_repeats=judge_repeats, lacking=lacking)


def _ref(given: object) -> EvaluatorRef:
    if isinstance(given, str):
        return EvaluatorRef(given, {})
    if isinstance(given, EvaluatorRef):
        return given
    raise ConfigError(f"an evaluator is of type {type(given).__name__}: give its name, or ref(name, option=…)")


def _planned(
    registry: Registry, refs: Sequence[EvaluatorRef], judge_repeats: int
) -> tuple[tuple[Cell, ...], tuple[str, ...]]:
    """The evaluators with their options, and the names of those for which something has to be made first."""
    cells: dict[str, Cell] = {}
    lacking: dict[str, None] = {}
    for ref in refs:
        evaluator = registry.evaluator(ref.name).with_options(ref.options)
        if evaluator.own_name in registry.preparations:
            lacking[evaluator.own_name] = None
        elif evaluator.needs is not None:
            raise ConfigError(f"evaluator '{evaluator.name}' {evaluator.needs}")
        cell = plan_cell(evaluator, ref.options, judge_repeats=judge_repeats)
        problem = evaluator.check_options(cell.options) if evaluator.check_options is not None else None
        if problem is not None:
            raise ConfigError(f"evaluator '{evaluator.name}': {problem}")
        if cell.key in cells:
            raise ConfigError(
                f"evaluator '{cell.evaluator.name}' is given twice: results are kept by its name, give it once"
            )
        cells[cell.key] = cell
    return tuple(cells.values()), tuple(lacking)
