"""Genkit's built-in metrics: `genkitEval/regex`, `genkitEval/deep_equal` and `genkitEval/jsonata`.

ge = GenkitEval(plugins=[genkit_metrics()])
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Literal

from pydantic import BaseModel

from genkit_eval import DataPoint, Plugin, Registry, Sample, Score, Status
from genkit_eval.errors import ConfigError, UnknownName
from genkit_eval_metrics.deep_equal import DeepEqualOptions, deep_equal
from genkit_eval_metrics.jsonata import JsonataOptions, check_jsonata, jsonata
from genkit_eval_metrics.regex import RegexOptions, check_regex, regex

__all__ = ["MetricConfig", "StatusOverride", "genkit_metrics"]

StatusOverride = Callable[[Score], Status]
"""Decides PASS, FAIL or UNKNOWN from a score, in place of the metric."""

NAMESPACE = "genkitEval/"


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricConfig:
    """A metric with settings of its own, which go before those of the plugin."""

    metric: str
    status_override: StatusOverride | None = None


@dataclass(frozen=True, slots=True)
class _Metric:
    fn: Callable[[DataPoint, Any], bool | Score]
    options: type[BaseModel]
    # to be raised whenever the same output and reference may come to another score
    version: str
    display_name: str
    definition: str
    check: Callable[[Sample, Any], str | None] | None = None


_METRICS: Mapping[str, _Metric] = {
    "regex": _Metric(
        regex,
        RegexOptions,
        "1",
        "Regex",
        "The pattern in the reference is found in the output (as compact JSON if it is not text).",
        check_regex,
    ),
    "deep_equal": _Metric(
        deep_equal,
        DeepEqualOptions,
        "1",
        "Deep equality",
        "Output and reference are the same JSON value; the order of keys does not matter.",
    ),
    "jsonata": _Metric(
        jsonata,
        JsonataOptions,
        "1",
        "JSONata",
        "The JSONata expression in the reference is true of the output.",
        check_jsonata,
    ),
}


def genkit_metrics(
    *,
    metrics: Sequence[str | MetricConfig] | Literal["all"] = "all",
    status_override: StatusOverride | None = None,
) -> Plugin:
    """The plugin that defines `genkitEval/regex`, `genkitEval/deep_equal` and `genkitEval/jsonata`.

    Args:
        metrics: which of them, by name ("regex" or "genkitEval/regex") or with settings of their own; or "all".
        status_override: decides the status of every score in place of the metric; becomes part of the version.

    Raises:
        ConfigError: a metric that does not exist (with the nearest name), is named twice, or none at all.
    """
    configs = _configs(list(_METRICS) if metrics == "all" else metrics)

    def setup(registry: Registry) -> None:
        for name, config in configs.items():
            _define(registry, name, config.status_override or status_override)

    return Plugin("genkitEval", setup, "Genkit's built-in metrics: regex, deep_equal, jsonata")


def _configs(metrics: Sequence[str | MetricConfig]) -> dict[str, MetricConfig]:
    configs: dict[str, MetricConfig] = {}
    for item in [metrics] if isinstance(metrics, str) else metrics:
        config = MetricConfig(metric=item) if isinstance(item, str) else item
        name = config.metric.removeprefix(NAMESPACE)
        if name not in _METRICS:
            raise UnknownName("metric", name, _METRICS)
        if name in configs:
            raise ConfigError(f"metric '{name}' is named twice: name it once")
        configs[name] = config
    if not configs:
        raise ConfigError(f"no metric is named: name some of {', '.join(_METRICS)}, or leave metrics out for all")
    return configs


def _define(registry: Registry, name: str, override: StatusOverride | None) -> None:
    metric = _METRICS[name]
    registry.define_evaluator(
        f"{NAMESPACE}{name}",
        metric.fn if override is None else _overridden(metric.fn, override),
        options=metric.options,
        requires=("output", "reference"),
        kind="deterministic",
        version=metric.version if override is None else f"{metric.version}+{_digest(override)}",
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


def _digest(override: StatusOverride) -> str:
    try:
        source = inspect.getsource(override)
    except (OSError, TypeError):
        # a callable object, or one typed at a prompt: its name has to do
        source = getattr(override, "__qualname__", type(override).__qualname__)
    return "status-" + blake2b(source.encode(), digest_size=6).hexdigest()
