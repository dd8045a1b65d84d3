"""Evaluators of one's own in the registry."""

from __future__ import annotations

from genkit_eval import Registry
from genkit_eval.judged import MetricConfig, define_judged
from genkit_eval_judges.criterion import Criterion
from genkit_eval_judges.criterion_judge import criterion_metric

__all__ = ["define_own"]


def define_own(registry: Registry, own: Criterion, common: MetricConfig) -> None:
    """Define an evaluator of one's own, with the model and parameters that it names, else those of the plugin."""
    config = MetricConfig(metric=own.name, judge=own.model, judge_config=own.parameters).filled(common)
    define_judged(registry, criterion_metric(own), config, plugin="judges")
