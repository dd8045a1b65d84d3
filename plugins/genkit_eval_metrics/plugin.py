"""The plugin: which metrics it defines, and with what settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import JsonValue

from genkit_eval import DataPoint, Embedder, Plugin, Registry, Score, Status
from genkit_eval.judged import Choice, Judges, MetricConfig, StatusOverride, configured, define_judged, digest_of
from genkit_eval_metrics.catalogue import EXACT, JUDGED
from genkit_eval_metrics.metric import NAMESPACE

__all__ = ["genkit_metrics"]

KNOWN = {**dict.fromkeys(EXACT), **JUDGED}


def genkit_metrics(
    *,
    judge: Judges | None = None,
    judge_config: Mapping[str, JsonValue] | None = None,
    embedder: Embedder | str | None = None,
    embedder_options: Mapping[str, JsonValue] | None = None,
    metrics: Choice = "all",
    status_override: StatusOverride | None = None,
) -> Plugin:
    """The plugin that defines Genkit's metrics and RAGAS's further ones, as `genkitEval/…`.

    Args:
        judge: what judges: the name of a model, a model, or a function from prompt text to reply text;
            or several, or a `Panel`, who judge each by itself.
        judge_config: parameters of every call of the judge, like `{"temperature": 0}`.
        embedder: what compares meanings: the name of an embedder, or an embedder.
        embedder_options: parameters of every call of the embedder.
        metrics: which of them, by name ("regex" or "genkitEval/regex") or with settings of their own; or "all".
        status_override: decides the status of every score in place of the metric; becomes part of the version.

    Raises:
        ConfigError: a metric that does not exist (with the nearest name), is named twice, or none at all; one asked
            for by name without the judge or embedder that it cannot do without; a prompt that does not fit.
    """
    common = MetricConfig(
        metric="",
        judge=judge,
        judge_config=judge_config,
        embedder=embedder,
        embedder_options=embedder_options,
        status_override=status_override,
    )
    configs = configured(metrics, KNOWN, common, plugin="genkit_metrics", namespace=NAMESPACE)

    def setup(registry: Registry) -> None:
        for name, config in configs.items():
            if name in EXACT:
                _define_exact(registry, name, config.status_override)
            else:
                define_judged(registry, JUDGED[name], config, plugin="genkit_metrics")

    return Plugin("genkitEval", setup, f"Genkit's metrics and RAGAS's further ones: {', '.join(configs)}")


def _define_exact(registry: Registry, name: str, override: StatusOverride | None) -> None:
    metric = EXACT[name]
    registry.define_evaluator(
        f"{NAMESPACE}{name}",
        metric.fn if override is None else _overridden(metric.fn, override),
        options=metric.options,
        requires=("output", "reference"),
        kind="deterministic",
        version=metric.version if override is None else f"{metric.version}+status-{digest_of(override)}",
        display_name=metric.display_name,
        definition=metric.definition,
        check=metric.check,
    )


def _overridden(
    fn: Callable[[DataPoint, Any], bool | Score], override: StatusOverride
) -> Callable[[DataPoint, Any], Score]:
    def judged(point: DataPoint, options: Any) -> Score:
        value = fn(point, options)
        score = value if isinstance(value, Score) else Score.passed(value)
        return score.model_copy(update={"status": Status(override(score))})

    return judged
