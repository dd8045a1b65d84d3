"""`route`: one evaluator settles a case, the cheapest of those that the sample's `expect` calls for.

A label is compared, phrases are looked for, a metric that is named is asked; a sample that expects none of it goes to
the judge. Where a sample expects several, the evaluator of the cheapest kind decides (rule, heuristic, judge);
among equals the first in this order. The score is PASS or FAIL alone, because the numbers of different measures
have no common mean; what the evaluator itself said stands in the findings, and who it was in `details.decidedBy`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from genkit_eval._json import dump
from genkit_eval.definitions import Evaluator
from genkit_eval.engine.cells import Cell, asked_by, plan_cell
from genkit_eval.engine.combination import settled
from genkit_eval.engine.combined import ask_cell
from genkit_eval.errors import ConfigError, GenkitEvalError
from genkit_eval.registry import EvaluatorRef, Registry
from genkit_eval.types import DataPoint, EvaluatorKind, Sample, Score

__all__ = ["ROUTE", "RouteOptions", "define_route", "route"]

ROUTE = "route"
VERSION = "1"
NOBODY = "the sample expects no label, phrases or metric, and the route has no judge: give one, or an 'expect'"

_COST = {EvaluatorKind.DETERMINISTIC: 0, EvaluatorKind.HEURISTIC: 1, EvaluatorKind.AGENTIC: 2}


class RouteOptions(BaseModel):
    """Who decides what."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    label: str = Field(default="rule/label_match", description="The evaluator where `expect.label` is given.")
    phrases: str = Field(default="rule/contains_all", description="The evaluator where `expect.phrases` are given.")
    judge: str | None = Field(default=None, description="The evaluator of samples that expect nothing of it.")
    options: Mapping[str, Mapping[str, JsonValue]] = Field(
        default_factory=dict, description="Options of these evaluators, and of metrics, by name."
    )


def route(
    *,
    judge: str | EvaluatorRef | None = None,
    label: str | EvaluatorRef | None = None,
    phrases: str | EvaluatorRef | None = None,
    metrics: tuple[EvaluatorRef, ...] = (),
) -> EvaluatorRef:
    """An evaluator that lets another settle each case, by what the sample's `expect` declares.

    Args:
        judge: settles the samples that expect no label, phrases or metric; without it they are inconclusive.
        label: settles those with a label. [rule/label_match]
        phrases: settles those with phrases. [rule/contains_all]
        metrics: options of metrics that samples name; a metric without options need not be listed.
    """
    chosen = {"label": label, "phrases": phrases, "judge": judge}
    refs = {
        use: EvaluatorRef(ref, {}) if isinstance(ref, str) else ref for use, ref in chosen.items() if ref is not None
    }
    options: dict[str, JsonValue] = {
        _bare(ref.name): dict(ref.options) for ref in (*refs.values(), *metrics) if ref.options
    }
    return EvaluatorRef(
        ROUTE, {use: _bare(ref.name) for use, ref in refs.items()} | ({"options": options} if options else {})
    )


def define_route(registry: Registry) -> None:
    """Define the evaluator `route`, whose parts are looked up once its options are known."""
    registry.define_evaluator(
        ROUTE,
        _unmade,
        options=RouteOptions,
        version=VERSION,
        display_name="Route",
        definition="One evaluator settles a case, by the label, phrases or metric that it expects; else a judge.",
        metadata={"reads": ["expect"]},
    )
    registry.evaluators[ROUTE] = replace(registry.evaluators[ROUTE], made_for=lambda options: _made(registry, options))


async def _unmade(point: DataPoint, options: RouteOptions) -> Score:
    raise ConfigError("the route was asked before its evaluators were looked up")


def _made(registry: Registry, options: RouteOptions) -> Evaluator:
    """The evaluator with its parts.

    Raises:
        UnknownName, InvalidOptions: of an evaluator that the options name.
        ConfigError: one that judges all cases at once, or cannot run.
    """
    switch = _Switch(registry, options)
    cells = [switch.cell(name) for name in switch.named]
    identity = dump([[cell.key, cell.version] for cell in cells])

    async def decide(point: DataPoint, _: object) -> Score:
        return await switch.decide(point)

    return replace(
        registry.evaluators[ROUTE],
        fn=decide,
        is_async=True,
        kind=EvaluatorKind.HEURISTIC if options.judge is None else EvaluatorKind.AGENTIC,
        declared_version=f"{VERSION}+{blake2b(identity, digest_size=4).hexdigest()}" if cells else VERSION,
        is_billed=any(cell.evaluator.is_billed for cell in cells),
        metadata={"reads": ["expect"], **asked_by(cells)},
        check=switch.problem,
    )


@dataclass(frozen=True, slots=True)
class _Switch:
    """Finds the evaluator of a sample, and asks it."""

    registry: Registry
    options: RouteOptions
    cells: dict[str, Cell] = field(default_factory=dict)

    @property
    def named(self) -> list[str]:
        """What the options name; a default that is not defined is missed only where a sample calls for it."""
        given = {self.options.label, self.options.phrases}
        known = [name for name in given if name in self.registry.evaluators or self._was_given(name)]
        return sorted({*known, *([self.options.judge] if self.options.judge is not None else [])})

    def _was_given(self, name: str) -> bool:
        return any(getattr(self.options, use) == name for use in self.options.model_fields_set)

    def cell(self, name: str) -> Cell:
        """The evaluator of that name, ready to be asked."""
        name = _bare(name)
        if name not in self.cells:
            evaluator = self.registry.evaluator(name)
            if evaluator.batch or evaluator.made_for is not None:
                raise ConfigError(f"evaluator '{name}' cannot settle single cases of a route: choose another")
            if evaluator.needs is not None:
                raise ConfigError(f"evaluator '{name}' {evaluator.needs}")
            cell = plan_cell(evaluator, self.options.options.get(name, {}))
            problem = evaluator.check_options(cell.options) if evaluator.check_options is not None else None
            if problem is not None:
                raise ConfigError(f"evaluator '{name}': {problem}")
            self.cells[name] = cell
        return self.cells[name]

    def chosen(self, sample: Sample) -> Cell | None:
        """Who settles a sample, or None where nobody can."""
        expect = sample.expect
        called_for = []
        if expect is not None and expect.label is not None:
            called_for.append(self.options.label)
        if expect is not None and expect.phrases:
            called_for.append(self.options.phrases)
        if expect is not None and expect.metric is not None:
            called_for.append(expect.metric)
        if not called_for and self.options.judge is not None:
            called_for.append(self.options.judge)
        # the first of several that cost the same
        return min(map(self.cell, called_for), key=lambda cell: _COST[cell.evaluator.kind], default=None)

    def problem(self, sample: Sample, _: object) -> str | None:
        """Why a sample cannot be settled, told before anything runs."""
        try:
            cell = self.chosen(sample)
        except GenkitEvalError as problem:
            return str(problem)
        if cell is None:
            return NOBODY
        return cell.evaluator.check(sample, cell.options) if cell.evaluator.check is not None else None

    async def decide(self, point: DataPoint) -> Score:
        """What the one evaluator says."""
        cell = self.chosen(point)
        if cell is None:
            return Score.inconclusive(reason=NOBODY)
        score = settled(await ask_cell(cell, point, beside=True))
        return score.model_copy(update={"details": {"decidedBy": cell.evaluator.name, "version": cell.version}})


def _bare(name: str) -> str:
    return name.removeprefix("/evaluator/")
