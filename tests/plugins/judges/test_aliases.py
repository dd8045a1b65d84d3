"""The names that other systems have for these judges, with their rules."""

from __future__ import annotations

import pytest

from genkit_eval import GenkitEval
from genkit_eval_heuristics import heuristics
from genkit_eval_judges import judges

TNSAI = (
    "faithfulness",
    "answer_relevancy",
    "contextual_precision",
    "contextual_recall",
    "hallucination",
    "bias",
    "toxicity",
    "task_completion",
    "plan_adherence",
    "tool_correctness",
    "conversation_completeness",
    "knowledge_retention",
    "turn_relevancy",
)
AKKA = {
    "TaskCompletion": "task_alignment",
    "PlanQuality": "plan_quality",
    "PlanAdherence": "plan_adherence",
    "StepEfficiency": "step_efficiency",
    "TurnFaithfulness": "turn_faithfulness",
    "TurnRelevancy": "exchange_relevancy",
    "CitationFaithfulness": "citation_faithfulness",
    "Correctness": "correctness",
    "Faithfulness": "faithfulness",
    "Hallucination": "hallucination",
    "Toxicity": "toxicity",
}


@pytest.fixture
def ge() -> GenkitEval:
    """Both plugins that know names of other systems."""
    return GenkitEval(plugins=[heuristics(), judges(judge=lambda prompt: "")])


@pytest.mark.parametrize("name", TNSAI)
def test_names_of_tnsai_stand_for_judges_of_the_same_name(ge: GenkitEval, name: str) -> None:
    assert ge.registry.evaluator(f"tnsai/{name}").alias_of == f"judge/{name}"


@pytest.mark.parametrize(("name", "judge"), AKKA.items())
def test_names_of_akka_stand_for_judges(ge: GenkitEval, name: str, judge: str) -> None:
    assert ge.registry.evaluator(f"akka/{name}").alias_of == f"judge/{judge}"


def test_what_counts_arguments_without_a_judge_keeps_akkas_name(ge: GenkitEval) -> None:
    assert ge.registry.evaluator("akka/ArgumentCorrectness").alias_of == "rule/argument_match"


@pytest.mark.parametrize(
    ("alias", "presets"),
    [
        ("tnsai/tool_correctness", {"on_empty": 1.0}),
        ("tnsai/plan_adherence", {"instructions_are_plan": True}),
        ("akka/PlanAdherence", {"scale": "unit"}),
        ("akka/Faithfulness", {"on_empty": 1.0}),
        ("akka/TurnFaithfulness", {"on_empty": 1.0}),
        ("akka/Hallucination", {"on_empty": 1.0, "alone": False}),
    ],
)
def test_their_rules_are_presets(ge: GenkitEval, alias: str, presets: dict[str, object]) -> None:
    assert ge.registry.evaluator(alias).presets == presets


def test_one_wrong_citation_fails_unless_an_option_says_otherwise(ge: GenkitEval) -> None:
    options = ge.registry.evaluator("judge/citation_faithfulness").options

    assert options is not None
    assert options().model_dump() == {"threshold": 1.0, "bands": False, "on_empty": None}
