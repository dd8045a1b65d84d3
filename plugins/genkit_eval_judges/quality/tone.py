"""What tone an answer has, as a label and a number: `quality/sentiment` and `quality/formality`.

Neither end is better by itself, so that without a threshold nothing passes or fails.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, create_model

from genkit_eval import Score
from genkit_eval.answers import Choice, Unit
from genkit_eval.judged import Answer, Instruments, NothingToJudge
from genkit_eval.scores import EDGE
from genkit_eval_judges.inputs import Inputs
from genkit_eval_judges.quality.rubric import scorable
from genkit_eval_judges.recipe import Ask, JudgeOptions, Recipe, decided

__all__ = ["FORMALITY", "JUDGES", "SENTIMENT", "ToneOptions"]

Ranges = Mapping[str, tuple[float, float]]

SENTIMENT: Ranges = {
    "very negative": (0.0, 0.2),
    "negative": (0.2, 0.4),
    "neutral": (0.4, 0.6),
    "mixed": (0.2, 0.8),
    "positive": (0.6, 0.8),
    "very positive": (0.8, 1.0),
}
"""Labels, each with the range in which its score lies."""

FORMALITY: Ranges = {
    "very informal": (0.0, 0.2),
    "informal": (0.2, 0.4),
    "middle": (0.4, 0.6),
    "formal": (0.6, 0.8),
    "very formal": (0.8, 1.0),
}


class ToneOptions(JudgeOptions):
    """Nothing passes or fails, unless told otherwise."""

    threshold: float | None = Field(
        default=None, ge=0, le=1, description="PASS at this score or better, FAIL below; null: neither."
    )


def _labelled(ranges: Ranges) -> Ask:
    """One call, answered by one of these labels and a score; if they contradict each other, nothing is decided."""
    form = _form(tuple(ranges))

    async def ask(inputs: Inputs, options: ToneOptions, use: Instruments) -> Score:
        answer = await use.judge.ask(inputs.render(use.prompts["label"]), form)
        if answer.label is None or answer.score is None:
            raise NothingToJudge(answer.reason)
        reason, details = f"{answer.label}: {answer.reason}", {"label": answer.label, "rating": answer.score}
        low, high = ranges[answer.label]
        if not low - EDGE <= answer.score <= high + EDGE:
            why = f"{reason} (the score {answer.score:g} is not in the range of the label, {low:g} to {high:g})"
            return Score.undecided(answer.score, reason=why, details=details)
        return decided(answer.score, options, reason=reason, details=details)

    return ask


def _form(labels: tuple[str, ...]) -> type[Any]:
    """What the judge's reply must be like."""
    label: Any = Annotated[str | None, Choice(*labels)]
    return create_model("Labelled", __base__=Answer, reason=(str, ...), label=(label, ...), score=(Unit, ...))


JUDGES = (
    Recipe(
        name="quality/sentiment",
        ask=_labelled(SENTIMENT),
        prompts={"label": "quality_sentiment"},
        needs=("response",),
        reads=("request",),
        options=ToneOptions,
        display_name="Sentiment",
        definition="What the answer carries is a positive feeling; a label says which. Without a threshold nothing "
        "passes or fails.",
        formula="score from 0 (negative) to 1 (positive), in the range of the label",
        source="Scorable",
        calls="1",
        aliases=scorable("Sentiment Recognition", "Sentiment recognition", "Sentiment Analysis"),
    ),
    Recipe(
        name="quality/formality",
        ask=_labelled(FORMALITY),
        prompts={"label": "quality_formality"},
        needs=("response",),
        reads=("request",),
        options=ToneOptions,
        display_name="Formality",
        definition="The language of the answer is formal; a label says how much so. Without a threshold nothing passes "
        "or fails.",
        formula="score from 0 (informal) to 1 (formal), in the range of the label",
        source="Scorable",
        calls="1",
        aliases=scorable("Formality"),
    ),
)
