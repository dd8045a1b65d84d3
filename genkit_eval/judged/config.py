"""Settings of judged metrics: those of a plugin, and those that a metric has of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from pydantic import JsonValue

from genkit_eval.errors import ConfigError, UnknownName
from genkit_eval.judged.metric import JudgedMetric
from genkit_eval.judged.panel import Judges
from genkit_eval.models import Embedder
from genkit_eval.prompts import Prompt
from genkit_eval.types import Score, Status

__all__ = ["Choice", "MetricConfig", "PromptSource", "StatusOverride", "configured", "lacking"]

StatusOverride = Callable[[Score], Status]
"""Decides PASS, FAIL or UNKNOWN from a score, in place of the metric."""

PromptSource = Prompt | Path | str
"""A prompt, or the path of its file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricConfig:
    """A metric with settings of its own, which go before those of the plugin.

    Args:
        metric: its name, like "faithfulness".
        judge: the name of a model, a model, or a function from prompt text to reply text; several, or a `Panel` of
            them, judge each by itself.
        judge_config: parameters of every call of the judge, like `{"temperature": 0}`.
        embedder: the name of an embedder, or an embedder.
        embedder_options: parameters of every call of the embedder.
        prompt: in place of the metric's own: a prompt or the path of one; a mapping by step if it has several.
        status_override: decides the status of every score in place of the metric.
    """

    metric: str
    judge: Judges | None = None
    judge_config: Mapping[str, JsonValue] | None = None
    embedder: Embedder | str | None = None
    embedder_options: Mapping[str, JsonValue] | None = None
    prompt: PromptSource | Mapping[str, PromptSource] | None = None
    status_override: StatusOverride | None = None

    def filled(self, common: MetricConfig) -> MetricConfig:
        """These settings, with those that all metrics of a plugin have where there are none of its own."""
        return replace(
            self,
            judge=common.judge if self.judge is None else self.judge,
            judge_config=common.judge_config if self.judge_config is None else self.judge_config,
            embedder=common.embedder if self.embedder is None else self.embedder,
            embedder_options=common.embedder_options if self.embedder_options is None else self.embedder_options,
            status_override=self.status_override or common.status_override,
        )


Choice = Sequence[str | MetricConfig] | Literal["all"]
"""Which metrics of a plugin: by name or with settings of their own, or all."""


def configured(
    choice: Choice,
    metrics: Mapping[str, JudgedMetric | None],
    common: MetricConfig,
    *,
    plugin: str,
    namespace: str = "",
) -> dict[str, MetricConfig]:
    """The settings of the metrics that were chosen, by name, over those that all of the plugin have.

    Args:
        choice: which of them.
        metrics: all that there are; None in place of one that asks nobody.
        common: the settings of the plugin.
        plugin: the function that takes the settings, as messages name it.
        namespace: what a name may have in front.

    Raises:
        ConfigError: one that does not exist (with the nearest name), is named twice, or none at all; one with a setting
            that it has no use for; one asked for by name without the judge or embedder that it cannot do without.
    """
    given = _chosen(choice, tuple(metrics), namespace)
    for name, config in given.items():
        _refuse_unused(metrics[name], config)
    configs = {name: config.filled(common) for name, config in given.items()}
    for name, config in configs.items():
        option = lacking(metrics[name], config)
        if option is not None and choice != "all":
            raise ConfigError(
                f"metric '{name}' was asked for without {option}: give {plugin}({option}=…), or "
                f"MetricConfig(metric={name!r}, {option}=…)"
            )
    return configs


def lacking(metric: JudgedMetric | None, config: MetricConfig) -> str | None:
    """Which option the metric cannot do without and was not given, or None."""
    if metric is None:
        return None
    if metric.judge and config.judge is None:
        return "judge"
    return "embedder" if metric.embedder == "required" and config.embedder is None else None


def _chosen(metrics: Choice, names: Sequence[str], namespace: str) -> dict[str, MetricConfig]:
    configs: dict[str, MetricConfig] = {}
    given: Sequence[str | MetricConfig] = [metrics] if isinstance(metrics, str) else metrics
    for item in names if metrics == "all" else given:
        config = MetricConfig(metric=item) if isinstance(item, str) else item
        name = config.metric.removeprefix(namespace)
        if name not in names:
            raise UnknownName("metric", name, names)
        if name in configs:
            raise ConfigError(f"metric '{name}' is named twice: name it once")
        configs[name] = config
    if not configs:
        raise ConfigError(f"no metric is named: name some of {', '.join(names)}, or leave it out for all")
    return configs


def _refuse_unused(metric: JudgedMetric | None, config: MetricConfig) -> None:
    # a setting that it has no use for would be believed to work
    uses_embedder = metric is not None and metric.embedder != "unused"
    uses_judge = metric is not None and metric.judge
    for option in ("judge", "judge_config", "embedder", "embedder_options", "prompt"):
        used = uses_embedder if option.startswith("embedder") else uses_judge
        if getattr(config, option) is not None and not used:
            raise ConfigError(f"metric '{config.metric}' has no use for {option}: leave it out")
