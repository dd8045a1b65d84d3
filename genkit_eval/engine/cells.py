"""One evaluator on one data point: call it, and turn whatever happens into metrics of a run file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from pydantic import BaseModel, JsonValue

from genkit_eval._json import dump
from genkit_eval.definitions import Evaluator
from genkit_eval.engine.calls import Called, called
from genkit_eval.engine.consensus import agreed
from genkit_eval.engine.metric import Metric, PlainVerdicts, metric_of
from genkit_eval.scores import ScoreRule, as_scores
from genkit_eval.stored import EvaluatorRecord
from genkit_eval.types import DataPoint, EvaluatorKind, Score

__all__ = ["Cell", "asked_by", "changed_point", "plan_cell"]


@dataclass(frozen=True, slots=True)
class Cell:
    """An evaluator with its options for one run: a column of the result table."""

    evaluator: Evaluator
    options: BaseModel | None
    key: str
    version: str
    call: Callable[..., Any]
    guarded: bool
    """Whether it declared fields that must be there."""
    plain: PlainVerdicts
    repeats: int = 1
    """How often it is asked about each output."""

    def missing(self, point: DataPoint) -> str | None:
        """Why this data point gives it nothing to judge, or None."""
        return self.evaluator.missing(point) if self.guarded else None

    def run(self, point: DataPoint) -> list[Metric]:
        """Judge with a synchronous evaluator; never raises for what the evaluator does."""
        why = self.evaluator.missing(point) if self.guarded else None
        if why is not None:
            return [self.metric(Score.inconclusive(reason=why), 0.0)]
        return self.settled(called(self.call, point))

    def settled(self, result: Called) -> list[Metric]:
        """The metrics of a call that ended, well or not."""
        value, error, seconds = result
        return self.metrics(value, seconds) if error is None else [self.failed(error, seconds)]

    def metrics(self, value: object, seconds: float) -> list[Metric]:
        """The metrics in what the evaluator returned."""
        if value is True or value is False:
            return [self.plain.metric(value, seconds)]
        scores = as_scores(value, self.evaluator.rule)
        if len(scores) == 1:
            return [self.metric(scores[0], seconds)]
        return [self.metric(score, seconds) for score in scores]

    def agreed(self, results: Sequence[Called]) -> list[Metric]:
        """The metrics that several calls come to."""
        seconds = sum(result[2] for result in results)
        answers = [_answer(result, self.evaluator.rule) for result in results]
        return [self.metric(score, seconds) for score in agreed(answers)]

    def failed(self, error: str, seconds: float) -> Metric:
        """The metric of an evaluator that broke."""
        return self.metric(Score.broke(error), seconds)

    def metric(self, score: Score, seconds: float) -> Metric:
        """One score in its form on disk."""
        return metric_of(self.key, self.version, score, seconds)

    def record(self) -> EvaluatorRecord:
        """How it is listed in the run's key."""
        values: dict[str, Any] = {
            "evaluator": self.key,
            "version": self.version,
            "direction": self.evaluator.direction,
            "kind": self.evaluator.kind,
        }
        if self.options is not None:
            # by alias, as they are given: a resumed run reads them again
            values["options"] = self.options.model_dump(mode="json", by_alias=True)
        if self.evaluator.models:
            values["models"] = self.evaluator.models
        if "panel" in self.evaluator.metadata:
            values["panel"] = str(self.evaluator.metadata["panel"])
        return EvaluatorRecord.model_validate(values)


def asked_by(cells: Sequence[Cell]) -> dict[str, JsonValue]:
    """Which models they ask, in the form of an evaluator's metadata; empty where they ask none."""
    found: dict[str, JsonValue] = {}
    models = {use: name for cell in cells for use, name in cell.evaluator.models.items()}
    if models:
        found["models"] = {**models}
    panels = [cell.evaluator.metadata["panel"] for cell in cells if "panel" in cell.evaluator.metadata]
    if panels:
        found["panel"] = panels[0]
    return found


def changed_point(seconds: float) -> Called:
    """A call that changed its data point, in place of what it gave."""
    return None, "the evaluator changed its data point: work on a copy", seconds


def plan_cell(evaluator: Evaluator, given: Mapping[str, JsonValue], *, judge_repeats: int = 1) -> Cell:
    """An evaluator with its options for one run, checked. Judges are asked as often as said.

    Raises:
        InvalidOptions: the options do not fit.
    """
    options = evaluator.parse_options(given)
    key, version = evaluator.key, _version(evaluator, options)
    call = evaluator.fn if options is None else _bound(evaluator.fn, options)
    repeats = judge_repeats if evaluator.kind is EvaluatorKind.AGENTIC else 1
    if repeats > 1 and not evaluator.is_async and not evaluator.batch:
        call = _repeated(call, repeats, evaluator.rule)
    return Cell(
        evaluator=evaluator,
        options=options,
        key=key,
        version=version,
        call=call,
        guarded=bool(evaluator.requires or evaluator.non_empty),
        plain=PlainVerdicts(key, version),
        repeats=repeats,
    )


def _bound(fn: Callable[..., Any], options: BaseModel) -> Callable[[DataPoint | Sequence[DataPoint]], Any]:
    def call(point: DataPoint | Sequence[DataPoint]) -> Any:
        return fn(point, options)

    return call


def _repeated(call: Callable[[DataPoint], Any], repeats: int, rule: ScoreRule) -> Callable[[DataPoint], list[Score]]:
    def several(point: DataPoint) -> list[Score]:
        return agreed([_answer(called(call, point), rule) for _ in range(repeats)])

    return several


def _answer(result: Called, rule: ScoreRule) -> Sequence[Score]:
    """The scores of one of several calls."""
    value, error, _ = result
    return as_scores(value, rule) if error is None else [Score.broke(error)]


def _version(evaluator: Evaluator, options: BaseModel | None) -> str:
    """Other options are another ruler: what differs from the defaults is part of the version."""
    changed = {} if options is None else options.model_dump(mode="json", exclude_defaults=True)
    if not changed:
        return evaluator.version
    return f"{evaluator.version}+{blake2b(dump(changed), digest_size=4).hexdigest()}"
