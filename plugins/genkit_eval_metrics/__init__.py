"""Genkit's built-in metrics, `genkitEval/…`: exact ones by a reference, and those that a model judges.

ge = GenkitEval(plugins=[genkit_metrics(judge="openai/gpt-4o-mini")])
"""

from __future__ import annotations

from genkit_eval.judged import MetricConfig, Panel, StatusOverride
from genkit_eval_metrics.plugin import genkit_metrics

__all__ = ["MetricConfig", "Panel", "StatusOverride", "genkit_metrics"]
