"""`genkitEval/answer_accuracy`: how far answer and reference agree."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from genkit_eval import Finding, Score
from genkit_eval.answers import Rating
from genkit_eval.judged import NONE, Answer, Instruments, judged, side_by_side
from genkit_eval.prompts import fenced
from genkit_eval_metrics.formulas import above, harmonic15, rated_accuracy
from genkit_eval_metrics.metric import text_metric
from genkit_eval_metrics.reading import ReadingOptions, Texts

__all__ = ["ANSWER_ACCURACY", "AnswerAccuracyOptions", "answer_accuracy"]


class AnswerAccuracyOptions(ReadingOptions):
    """Which ratings, and where the texts are found."""

    variant: Literal["mean024", "harmonic15"] = Field(
        default="mean024",
        description="'mean024': ratings of 0, 2 or 4, their sum by 8. 'harmonic15': ratings from 1 to 5, their "
        "harmonic mean, as Genkit for Java has it.",
    )


class _Rated024(Answer):
    reason: str
    rating: Annotated[int, Rating(0, 2, 4)]


class _Rated15(Answer):
    reason: str
    rating: Annotated[int, Rating(1, 2, 3, 4, 5)]


async def answer_accuracy(texts: Texts, options: AnswerAccuracyOptions, use: Instruments) -> Score:
    """(a + b) / 8 of two ratings out of 0, 2 and 4: of the answer by the reference, and with the roles swapped.

    0 to 1, higher is better, PASS at 0.5 or more. With `variant="harmonic15"` the ratings are 1 to 5, each counts as
    (rating - 1) / 4, the score is their harmonic mean, 0 if either is 0, and PASS is above 0.5.
    Needs an output and a reference; the input is shown to the judge if there is one. Two judge calls, side by side.
    Source: the answer accuracy of NVIDIA's judges in RAGAS, as in Genkit for JavaScript; the variant: Genkit for Java.
    """
    first, swapped = await side_by_side(
        [
            lambda: _rated(texts.question, texts.answer, texts.reference, options, use),
            lambda: _rated(texts.question, texts.reference, texts.answer, options, use),
        ]
    )
    if options.variant == "mean024":
        score = rated_accuracy(first.rating, swapped.rating)
        passed, best = score >= 0.5, 4
    else:
        score = harmonic15(first.rating, swapped.rating)
        passed, best = above(score, 0.5), 5
    return judged(
        score,
        passed=passed,
        reason=f"answer by reference {first.rating} of {best}: {first.reason}; swapped {swapped.rating} of {best}: "
        f"{swapped.reason}",
        findings=[
            Finding(text="answer by reference", reason=first.reason, details={"rating": first.rating}),
            Finding(text="reference by answer", reason=swapped.reason, details={"rating": swapped.rating}),
        ],
        details={"ratings": [first.rating, swapped.rating]},
    )


async def _rated(
    question: str, answer: str, reference: str, options: AnswerAccuracyOptions, use: Instruments
) -> _Rated024 | _Rated15:
    values = {"question": fenced(question or NONE), "answer": fenced(answer), "reference": fenced(reference)}
    if options.variant == "mean024":
        return await use.judge.ask(use.prompts["rating"].render(values), _Rated024)
    return await use.judge.ask(use.prompts["rating15"].render(values), _Rated15)


ANSWER_ACCURACY = text_metric(
    name="answer_accuracy",
    score=answer_accuracy,
    options=AnswerAccuracyOptions,
    prompts={"rating": "answer_accuracy", "rating15": "answer_accuracy_15"},
    reads=("answer", "reference"),
    beside="question",
    display_name="Answer accuracy",
    definition="How far answer and reference agree, rated twice with the roles swapped. PASS at 0.5 or more.",
)
