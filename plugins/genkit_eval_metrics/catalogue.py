"""All metrics of the plugin, by name: those that compare exactly, and those that ask a judge or an embedder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from genkit_eval import DataPoint, Sample, Score
from genkit_eval.judged import JudgedMetric
from genkit_eval_metrics.answer_accuracy import ANSWER_ACCURACY
from genkit_eval_metrics.answer_correctness import ANSWER_CORRECTNESS
from genkit_eval_metrics.answer_relevancy import ANSWER_RELEVANCY
from genkit_eval_metrics.answer_similarity import ANSWER_SIMILARITY
from genkit_eval_metrics.aspect_critic import ASPECT_CRITIC
from genkit_eval_metrics.context_entity_recall import CONTEXT_ENTITY_RECALL
from genkit_eval_metrics.context_precision import CONTEXT_PRECISION
from genkit_eval_metrics.context_recall import CONTEXT_RECALL
from genkit_eval_metrics.context_relevance import CONTEXT_RELEVANCE
from genkit_eval_metrics.deep_equal import DeepEqualOptions, deep_equal
from genkit_eval_metrics.faithfulness import FAITHFULNESS
from genkit_eval_metrics.jsonata import JsonataOptions, check_jsonata, jsonata
from genkit_eval_metrics.maliciousness import MALICIOUSNESS
from genkit_eval_metrics.noise_sensitivity import NOISE_SENSITIVITY
from genkit_eval_metrics.regex import RegexOptions, check_regex, regex
from genkit_eval_metrics.response_groundedness import RESPONSE_GROUNDEDNESS
from genkit_eval_metrics.summarization_score import SUMMARIZATION_SCORE

__all__ = ["EXACT", "JUDGED", "ExactMetric"]


@dataclass(frozen=True, slots=True)
class ExactMetric:
    """A metric that compares output and reference by a rule, without a model."""

    fn: Callable[[DataPoint, Any], bool | Score]
    options: type[BaseModel]
    # to be raised whenever the same output and reference may come to another score
    version: str
    display_name: str
    definition: str
    check: Callable[[Sample, Any], str | None] | None = None


EXACT: Mapping[str, ExactMetric] = {
    "regex": ExactMetric(
        regex,
        RegexOptions,
        "1",
        "Regex",
        "The pattern in the reference is found in the output (as compact JSON if it is not text).",
        check_regex,
    ),
    "deep_equal": ExactMetric(
        deep_equal,
        DeepEqualOptions,
        "1",
        "Deep equality",
        "Output and reference are the same JSON value; the order of keys does not matter.",
    ),
    "jsonata": ExactMetric(
        jsonata,
        JsonataOptions,
        "1",
        "JSONata",
        "The JSONata expression in the reference is true of the output.",
        check_jsonata,
    ),
}

JUDGED: Mapping[str, JudgedMetric] = {
    metric.bare_name: metric
    for metric in (
        FAITHFULNESS,
        ANSWER_RELEVANCY,
        ANSWER_ACCURACY,
        MALICIOUSNESS,
        CONTEXT_PRECISION,
        CONTEXT_RECALL,
        CONTEXT_RELEVANCE,
        CONTEXT_ENTITY_RECALL,
        ANSWER_CORRECTNESS,
        ANSWER_SIMILARITY,
        RESPONSE_GROUNDEDNESS,
        NOISE_SENSITIVITY,
        SUMMARIZATION_SCORE,
        ASPECT_CRITIC,
    )
}
