"""The plugin: which judges it defines, and with what settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import JsonValue

from genkit_eval import Embedder, Plugin, Registry
from genkit_eval.judged import Choice, Judges, MetricConfig, StatusOverride, configured, define_judged, sighted
from genkit_eval_judges.catalogue import JUDGES
from genkit_eval_judges.criterion import Criterion, GEval
from genkit_eval_judges.own import define_own, own_format, own_in

__all__ = ["judges"]


def judges(
    *,
    judge: Judges | None = None,
    judge_config: Mapping[str, JsonValue] | None = None,
    embedder: Embedder | str | None = None,
    embedder_options: Mapping[str, JsonValue] | None = None,
    evaluators: Choice = "all",
    status_override: StatusOverride | None = None,
    own: Sequence[Criterion | GEval | Path] = (),
) -> Plugin:
    """The plugin that defines the judges of the catalogue, and those of your own.

    Args:
        judge: what judges: the name of a model, a model, or a function from prompt text to reply text;
            or several, or a `Panel`, who judge each by itself.
        judge_config: parameters of every call of the judge, like `{"temperature": 0}`.
        embedder: what compares meanings: the name of an embedder, or an embedder.
        embedder_options: parameters of every call of the embedder.
        evaluators: which of them, by name ("judge/faithfulness") or with settings of their own; or "all".
        status_override: decides the status of every score in place of the judge; becomes part of the version.
        own: evaluators of your own, and files or folders of such.

    Raises:
        ConfigError: an evaluator that does not exist (with the nearest name), is named twice, or none at all; one asked
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
    recipes = {recipe.name: recipe for recipe in JUDGES}
    metrics = {name: recipe.metric() for name, recipe in recipes.items()}
    configs = configured(evaluators, metrics, common, plugin="judges")
    found = own_in(own)

    def setup(registry: Registry) -> None:
        for name, config in configs.items():
            define_judged(registry, sighted(metrics[name], answer=recipes[name].is_of_answer), config, plugin="judges")
            for alias, presets in recipes[name].aliases.items():
                registry.define_alias(alias, name, **presets)
        registry.define_format(own_format(common))
        for item in found:
            define_own(registry, item, common)

    return Plugin("judges", setup, "Evaluators that a model decides: judge/, quality/, geval/")
