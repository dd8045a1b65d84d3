"""Settings of the plugin's metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from genkit_eval import Embedder, Score, Status
from genkit_eval.judge import Judgeable
from genkit_eval.prompts import Prompt

__all__ = ["MetricConfig", "PromptSource", "StatusOverride"]

StatusOverride = Callable[[Score], Status]
"""Decides PASS, FAIL or UNKNOWN from a score, in place of the metric."""

PromptSource = Prompt | Path | str
"""A prompt, or the path of its file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricConfig:
    """A metric with settings of its own, which go before those of the plugin.

    Args:
        metric: its name, like "faithfulness".
        judge: the name of a model, a model, or a function from prompt text to reply text.
        judge_config: parameters of every call of the judge, like `{"temperature": 0}`.
        embedder: the name of an embedder, or an embedder.
        embedder_options: parameters of every call of the embedder.
        prompt: in place of the metric's own: a prompt or the path of one; a mapping by step if it has several.
        status_override: decides the status of every score in place of the metric.
    """

    metric: str
    judge: Judgeable | None = None
    judge_config: Mapping[str, JsonValue] | None = None
    embedder: Embedder | str | None = None
    embedder_options: Mapping[str, JsonValue] | None = None
    prompt: PromptSource | Mapping[str, PromptSource] | None = None
    status_override: StatusOverride | None = None
