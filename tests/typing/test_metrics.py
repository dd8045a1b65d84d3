"""What the plugin of metrics takes, as the type checker sees it; pytest runs it."""

from __future__ import annotations

from pathlib import Path
from typing import assert_type

import pytest

from genkit_eval import Plugin, Prompt, Score, Status
from genkit_eval.testing import HashEmbedder, ScriptedModel
from genkit_eval_metrics import MetricConfig, genkit_metrics


async def later(prompt: str) -> str:
    return prompt


def strict(score: Score) -> Status:
    return Status.FAIL


def test_a_judge_is_a_name_a_model_or_a_function() -> None:
    assert_type(genkit_metrics(judge="provider/name", embedder="provider/name"), Plugin)
    assert_type(genkit_metrics(judge=ScriptedModel(""), embedder=HashEmbedder()), Plugin)
    assert_type(genkit_metrics(judge=later, judge_config={"temperature": 0, "stop": ["\n"]}), Plugin)
    assert_type(genkit_metrics(judge=str.upper, embedder_options={"dimensions": 8}), Plugin)


def test_metrics_are_names_or_have_settings_of_their_own() -> None:
    prompt = Prompt.parse("{{question}} {{answer}}", "mine")
    configs: list[str | MetricConfig] = [
        "regex",
        MetricConfig(metric="maliciousness", judge=later, prompt=prompt, status_override=strict),
        MetricConfig(metric="faithfulness", judge="provider/name", prompt={"statements": Path("mine.prompt")}),
    ]

    assert_type(genkit_metrics(metrics=configs, status_override=strict), Plugin)
    assert_type(genkit_metrics(metrics="all"), Plugin)


def test_what_is_no_metric_or_prompt_is_refused_by_the_type_checker_too() -> None:
    MetricConfig(metric="maliciousness", prompt=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        genkit_metrics("regex")  # type: ignore[call-arg]
