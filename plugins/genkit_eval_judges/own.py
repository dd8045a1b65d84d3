"""Evaluators of one's own in the registry."""

from __future__ import annotations

from pydantic import JsonValue, ValidationError

from genkit_eval import Judge, Preparation, Registry
from genkit_eval.errors import ConfigError
from genkit_eval.judge import as_model
from genkit_eval.judged import MetricConfig, define_judged
from genkit_eval_judges.criterion import Criterion, GEval
from genkit_eval_judges.criterion_judge import criterion_metric
from genkit_eval_judges.geval import generated_steps, geval_metric, steps_key

__all__ = ["define_own"]

UNFINISHED = (
    "needs its steps, which the judge writes down before the first run that names it by itself: name it there, or "
    "give the steps"
)


def define_own(registry: Registry, own: Criterion | GEval, common: MetricConfig) -> None:
    """Define an evaluator of one's own, with the model and parameters that it names, else those of the plugin."""
    config = MetricConfig(metric=own.evaluator, judge=own.model, judge_config=own.parameters).filled(common)
    if isinstance(own, Criterion):
        define_judged(registry, criterion_metric(own), config, plugin="judges")
        return
    define_judged(registry, geval_metric(own), config, plugin="judges")
    if not own.steps and config.judge is not None:
        registry.require_preparation(own.evaluator, UNFINISHED, _steps_of(own, config, common, registry))
    registry.define_alias(f"geval_{own.name}", own.evaluator)


def _steps_of(own: GEval, config: MetricConfig, common: MetricConfig, registry: Registry) -> Preparation:
    """How the steps are made, and what becomes of the evaluator then."""

    async def make() -> JsonValue:
        assert config.judge is not None
        judge = Judge(as_model(config.judge, registry), dict(config.judge_config or {}) or None)
        steps = await generated_steps(own, judge)
        return {"criterion": own.criterion, "judge": judge.name, "steps": [*steps]}

    def define(registry: Registry, made: JsonValue) -> None:
        given = made.get("steps") if isinstance(made, dict) else None
        if not given:
            raise ConfigError("there are no 'steps'")
        try:
            finished = GEval.model_validate({**own.model_dump(), "steps": given})
        except ValidationError as problem:
            raise ConfigError(f"steps: {problem.errors(include_url=False)[0]['msg']}") from problem
        define_own(registry, finished, common)

    return Preparation(key=steps_key(own), make=make, define=define)
