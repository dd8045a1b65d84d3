"""All of Scorable's evaluators, under our names and theirs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from genkit_eval import GenkitEval, Prompt
from genkit_eval.cli.program import invoke
from genkit_eval.judged import MetricConfig
from genkit_eval.testing import ScriptedModel, data_point
from genkit_eval_heuristics import heuristics
from genkit_eval_judges import judges
from genkit_eval_judges.quality import JUDGES, RUBRICS
from tests.plugins.judges.replies import rating

SCORABLE = {
    "Relevance": "relevance",
    "Safety_for_Children": "safety_for_children",
    "Sentiment_recognition": "sentiment",
    "Coherence": "coherence",
    "Conciseness": "conciseness",
    "Engagingness": "engagingness",
    "Originality": "originality",
    "Clarity": "clarity",
    "Precision": "precision",
    "Completeness": "completeness",
    "Persuasiveness": "persuasiveness",
    "Confidentiality": "confidentiality",
    "Harmlessness": "harmlessness",
    "Formality": "formality",
    "Politeness": "politeness",
    "Helpfulness": "helpfulness",
    "Non_toxicity": "non_toxicity",
    "Faithfulness": "faithfulness",
    "Faithfulness_Swift": "faithfulness_swift",
    "Truthfulness": "truthfulness",
    "Truthfulness_Swift": "truthfulness_swift",
    "Quality_of_Writing_Professional": "writing_professional",
    "Quality_of_Writing_Creative": "writing_creative",
    "Summarization_Quality": "summarization",
    "Translation_Quality": "translation",
    "Planning_Efficiency": "planning_efficiency",
    "Information_Density": "information_density",
    "Reading_Ease": "reading_ease",
    "Answer_Willingness": "answer_willingness",
    "Tool_Selection": "tool_selection",
    "Knowledge_Retention": "knowledge_retention",
}
ALSO = {
    "ToxicityDetection": "non_toxicity",
    "SentimentAnalysis": "sentiment",
    "SentimentRecognition": "sentiment",
    "Quality_of_Professional_Writing": "writing_professional",
    "SafetyForChildren": "safety_for_children",
}


@pytest.fixture
def ge() -> GenkitEval:
    """Both plugins that know names of other systems."""
    return GenkitEval(plugins=[heuristics(), judges(judge=ScriptedModel([]))])


def test_there_are_thirty_one() -> None:
    assert len(SCORABLE) == 31
    assert {recipe.name for recipe in JUDGES} == {f"quality/{name}" for name in SCORABLE.values()}


@pytest.mark.parametrize(("theirs", "ours"), [*SCORABLE.items(), *ALSO.items()])
def test_their_names_stand_for_ours(ge: GenkitEval, theirs: str, ours: str) -> None:
    evaluator = ge.registry.evaluator(f"scorable/{theirs}")

    assert evaluator.alias_of == f"quality/{ours}"
    assert evaluator.direction == "maximize"
    assert (evaluator.rule.low, evaluator.rule.high) == (0, 1)


def test_akkas_summaries_are_judged_as_scorables(ge: GenkitEval) -> None:
    assert ge.registry.evaluator("akka/SummarizationQuality").alias_of == "quality/summarization"


def test_other_words_are_another_version() -> None:
    rubric = RUBRICS[0]
    for other in (
        replace(rubric, intent="Otherwise."),
        replace(rubric, criterion="Otherwise."),
        replace(rubric, low="otherwise"),
        replace(rubric, middle="otherwise"),
        replace(rubric, high="otherwise"),
        replace(rubric, examples=()),
        replace(rubric, shows=("turns",)),
    ):
        assert other.prompt().digest != rubric.prompt().digest


@pytest.mark.anyio
async def test_a_rubric_may_be_asked_in_words_of_ones_own() -> None:
    model = ScriptedModel(rating(0.25))
    mine = Prompt.parse("Is it clear? {{request}} {{response}}", "mine")
    own = MetricConfig(metric="quality/clarity", prompt=mine)
    ge = GenkitEval(plugins=[judges(judge=model, evaluators=[own])])

    (metric,) = await ge.score(data_point(output="At seven."), "quality/clarity")

    assert metric.score == 0.25
    assert model.calls[0].text.startswith("Is it clear?")
    assert ge.registry.evaluator("quality/clarity").prompts == {"rating": mine.text}


@pytest.mark.parametrize("name", ["quality/clarity", "scorable/Clarity"])
def test_the_command_line_shows_a_rubric_filled_in(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    (clarity,) = (rubric for rubric in RUBRICS if rubric.name == "clarity")

    code = invoke(["evaluator", "show", name, "--prompt"])

    shown = capsys.readouterr().out
    assert code == 0
    for said in (clarity.intent, clarity.criterion, clarity.low, clarity.middle, clarity.high):
        assert said in shown
    assert "{{response}}" in shown
