"""Evaluators of one's own in the registry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from pydantic import JsonValue, ValidationError

from genkit_eval import EvaluatorFormat, FileEvaluator, Judge, Preparation, Registry
from genkit_eval.errors import ConfigError
from genkit_eval.judge import as_model
from genkit_eval.judged import MetricConfig, define_judged, seated, sighted
from genkit_eval.misfits import explained
from genkit_eval_judges.criterion import Criterion, GEval
from genkit_eval_judges.criterion_judge import criterion_metric
from genkit_eval_judges.documents import document_of, document_schema, own_of
from genkit_eval_judges.geval import generated_steps, geval_metric, steps_key
from genkit_eval_judges.own_judge import shows_nothing
from genkit_eval_judges.quality import RUBRICS
from genkit_eval_judges.quality.as_criterion import as_criterion
from genkit_eval_judges.starter import starter_text

__all__ = ["define_own", "own_format", "own_in"]

UNFINISHED = (
    "needs its steps, which the judge writes down before the first run that names it itself; as a part of another "
    "evaluator it must have them: give the steps, like those that a run keeps in the folder 'prepared'"
)


def own_in(given: Iterable[Criterion | GEval | Path]) -> Sequence[Criterion | GEval]:
    """Evaluators of one's own, with those in the files and folders that are given.

    Raises:
        ConfigError: a file that cannot be read, or describes none.
    """
    # it reads YAML, and opens files with care: 80 ms at import that only those who have files need pay
    from genkit_eval.evaluator_files import read_evaluators

    if isinstance(given, str | Path | Criterion | GEval):
        raise ConfigError(f"own is a {type(given).__name__}: give a list of them, own=[…]")
    found: list[Criterion | GEval] = []
    for item in given:
        if isinstance(item, Criterion | GEval):
            found.append(item)
            continue
        if not isinstance(item, Path):
            raise ConfigError(
                f"own: {item!r} is {type(item).__name__}; expected a Criterion, a GEval, or a Path of a file"
            )
        for _, place, document in read_evaluators(item):
            try:
                found.append(own_of(document))
            except ConfigError as problem:
                raise ConfigError(f"{place}: {problem}") from problem
    return found


def own_format(common: MetricConfig) -> EvaluatorFormat:
    """How they are described in files; those of files get the settings of the plugin too."""

    def parse(document: JsonValue) -> FileEvaluator:
        own = own_of(document)
        return FileEvaluator(own.evaluator, document_of(own), lambda registry: define_own(registry, own, common))

    def document(name: str) -> Mapping[str, JsonValue] | None:
        found = next((rubric for rubric in RUBRICS if f"quality/{rubric.name}" == name), None)
        return None if found is None else document_of(as_criterion(found))

    def starter(name: str) -> str:
        # a name that a file cannot have is told at once
        own_of({"kind": "geval", "name": name, "criterion": "any"})
        return starter_text(name)

    return EvaluatorFormat(schema=document_schema, parse=parse, starter=starter, document=document)


def define_own(registry: Registry, own: Criterion | GEval, common: MetricConfig) -> None:
    """Define an evaluator of one's own, with the model and parameters that it names, else those of the plugin."""
    config = MetricConfig(metric=own.evaluator, judge=own.model, judge_config=own.parameters).filled(common)
    metric = criterion_metric(own) if isinstance(own, Criterion) else geval_metric(own)
    metric = replace(metric, metadata={**metric.metadata, "document": document_of(own)})
    define_judged(registry, sighted(metric), config, plugin="judges")
    if isinstance(own, Criterion):
        return
    if not own.steps and config.judge is not None:
        registry.require_preparation(own.evaluator, UNFINISHED, _steps_of(own, config, common, registry))
    registry.define_alias(f"geval_{own.name}", own.evaluator)


def _steps_of(own: GEval, config: MetricConfig, common: MetricConfig, registry: Registry) -> Preparation:
    """How the steps are made, and what becomes of the evaluator then."""

    async def make() -> JsonValue:
        assert config.judge is not None
        # one hand writes the steps that all judges of a panel follow
        judge = Judge(as_model(seated(config.judge).judges[0], registry), dict(config.judge_config or {}) or None)
        steps = await generated_steps(own, judge)
        return {"criterion": own.criterion, "judge": judge.name, "steps": [*steps]}

    def define(registry: Registry, made: JsonValue) -> None:
        given = made.get("steps") if isinstance(made, dict) else None
        if not given:
            raise ConfigError("there are no 'steps'")
        try:
            finished = GEval.model_validate({**own.model_dump(), "steps": given})
        except ValidationError as problem:
            raise ConfigError(explained(problem, {"steps": given})) from problem
        define_own(registry, finished, common)

    note = f"the steps of {own.evaluator}: what stands here is followed; edit it, and the evaluator has another version"
    return Preparation(key=steps_key(own), make=make, define=define, idle=partial(shows_nothing, own), note=note)
