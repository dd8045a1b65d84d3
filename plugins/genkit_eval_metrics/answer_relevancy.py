"""`genkitEval/answer_relevancy`: whether the answer speaks to the question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from genkit_eval import Finding, Score
from genkit_eval.answers import Verdict
from genkit_eval.judged import NONE, Answer, Instruments, judged, side_by_side
from genkit_eval.prompts import fenced
from genkit_eval_metrics.formulas import above, js_relevancy, mean_similarity
from genkit_eval_metrics.metric import text_metric
from genkit_eval_metrics.reading import ReadingOptions, Texts

__all__ = ["ANSWER_RELEVANCY", "AnswerRelevancyOptions", "answer_relevancy"]


class AnswerRelevancyOptions(ReadingOptions):
    """How many questions are made up, by which formula they are compared, and where the texts are found."""

    questions: int = Field(default=1, ge=1, le=20, description="How many questions the judge makes up; one call each.")
    variant: Literal["mean", "js"] = Field(
        default="mean",
        description="'mean': mean of max(0, cosine), 0 if not answered. 'js': |cosine|, less 0.5 if not answered, as "
        "Genkit for JavaScript has it; takes one question.",
    )


class _Guess(Answer):
    reason: str
    question: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
    answered: Verdict
    noncommittal: Verdict


async def answer_relevancy(texts: Texts, options: AnswerRelevancyOptions, use: Instruments) -> Score:
    """Mean of max(0, cosine) between the question and n questions that the judge makes up from the answer.

    0 if no reply says that the answer addresses the question, or all say that it is noncommittal. 0 to 1, higher is
    better, PASS above 0.5. Without an embedder the score is 1 where it is not 0: `details.form` says "embedded" or
    "judged", and the version differs. With `variant="js"`: max(0, |cosine| - (0 if answered else 0.5)), 0 if
    noncommittal.
    Needs an input and an output; the context is shown to the judge if there is one. n judge calls side by side, and one
    call of the embedder unless the score is 0 anyway.
    Source: Es et al. 2023, "RAGAS: Automated Evaluation of Retrieval Augmented Generation"; Genkit's answer relevancy.

    Raises:
        ModelError: the embedder gave a vector of zeros, which has no direction.
    """
    values = {
        "question": fenced(texts.question),
        "answer": fenced(texts.answer),
        "context": fenced("\n\n".join(texts.documents) or NONE),
    }
    messages = use.prompts["question"].render(values)
    guesses = await side_by_side([lambda: use.judge.ask(messages, _Guess)] * options.questions)
    if all(guess.noncommittal for guess in guesses):
        return _score(0.0, guesses, use, reason=f"the answer is noncommittal: {guesses[0].reason}")
    if options.variant == "js" and use.embedder is not None:
        (cosine,) = await use.embedder.similarities(texts.question, [guesses[0].question])
        score = js_relevancy(cosine, answered=guesses[0].answered, noncommittal=guesses[0].noncommittal)
        return _score(score, guesses, use, [cosine], reason=guesses[0].reason)
    if not any(guess.answered for guess in guesses):
        return _score(0.0, guesses, use, reason=f"the answer does not address the question: {guesses[0].reason}")
    if use.embedder is None:
        return _score(1.0, guesses, use, reason=guesses[0].reason)
    cosines = await use.embedder.similarities(texts.question, [guess.question for guess in guesses])
    score = mean_similarity(cosines)
    return _score(score, guesses, use, cosines, reason=f"the answer would fit: {guesses[0].question}")


def _check(options: AnswerRelevancyOptions, use: Instruments) -> str | None:
    if options.variant != "js" or (use.embedder is not None and options.questions == 1):
        return None
    found = "no embedder was given" if use.embedder is None else f"questions is {options.questions}"
    return f"variant 'js' takes an embedder and one question, but {found}"


def _score(
    score: float, guesses: Sequence[_Guess], use: Instruments, cosines: Sequence[float] | None = None, *, reason: str
) -> Score:
    details: dict[str, object] = {
        "form": "judged" if use.embedder is None else "embedded",
        "answered": [guess.answered for guess in guesses],
        "noncommittal": [guess.noncommittal for guess in guesses],
    }
    if cosines is not None:
        details["cosines"] = list(cosines)
    return judged(
        score,
        passed=above(score, 0.5),
        reason=reason,
        findings=[
            Finding(text=guess.question, passed=guess.answered and not guess.noncommittal, reason=guess.reason)
            for guess in guesses
        ],
        details=details,
    )


ANSWER_RELEVANCY = text_metric(
    name="answer_relevancy",
    score=answer_relevancy,
    options=AnswerRelevancyOptions,
    prompts={"question": "answer_relevancy"},
    reads=("question", "answer"),
    beside="context",
    embedder="optional",
    check=_check,
    display_name="Answer relevancy",
    definition="How near the question is to those the answer would fit; 0 if the answer evades it. PASS above 0.5.",
)
