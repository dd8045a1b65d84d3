"""`genkitEval/summarization_score`: whether a summary keeps what matters, and is short."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from genkit_eval import Score
from genkit_eval.claims import share, verdicts
from genkit_eval.judged import Answer, Instruments, NothingToJudge, claim_score
from genkit_eval.prompts import fenced
from genkit_eval_metrics.formulas import reaches, summary_score
from genkit_eval_metrics.metric import ScoreOptions, text_metric
from genkit_eval_metrics.reading import Texts

__all__ = ["SUMMARIZATION_SCORE", "SummarizationOptions", "summarization_score"]


class SummarizationOptions(ScoreOptions):
    """What brevity weighs, from which score on a case passes, and where the texts are found."""

    brevity: float = Field(
        default=0.5, ge=0, le=1, description="What brevity weighs against what the summary keeps; 0 leaves it out."
    )


class _Phrases(Answer):
    phrases: list[str]


class _Questions(Answer):
    questions: list[Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]] = Field(min_length=1)


async def summarization_score(texts: Texts, options: SummarizationOptions, use: Instruments) -> Score:
    """kept * (1 - brevity) + conciseness * brevity, with brevity 0.5.

    kept: questions to the text, one a key phrase, that the summary answers / questions.
    conciseness: 1 - min(characters of the summary, characters of the text) / characters of the text.
    0 to 1, higher is better. A text without key phrases is inconclusive.
    Needs an output (the summary) and what it sums up: the context, or else the input. Three judge calls: key phrases,
    questions, answers (one call for every 20).
    Source: RAGAS, summarization score.
    """
    text = "\n\n".join(texts.documents) or texts.question
    if use.judge.images:
        raise NothingToJudge("what was summed up holds an image, which has no length to compare with that of a summary")
    if not text.strip():
        raise NothingToJudge("neither context nor input holds a text that was summed up")
    answer = await use.judge.ask(use.prompts["phrases"].render({"text": fenced(text)}), _Phrases)
    phrases = [phrase for line in answer.phrases if (phrase := " ".join(line.split()))]
    if not phrases:
        raise NothingToJudge("the text has no key phrases")
    listed = "\n".join(f"- {phrase}" for phrase in phrases)
    values = {"text": fenced(text), "phrases": fenced(listed)}
    asked = await use.judge.ask(use.prompts["questions"].render(values), _Questions)
    questions = [" ".join(question.split()) for question in asked.questions]
    found = await verdicts(use.judge, use.prompts["answers"], questions, texts.answer)
    kept = share(found)
    score = summary_score(kept, text_length=len(text), summary_length=len(texts.answer), brevity=options.brevity)
    return claim_score(
        score,
        found,
        "questions to the text are answered by the summary",
        passed=reaches(score, options.threshold),
        details={"kept": kept, "textLength": len(text), "summaryLength": len(texts.answer)},
    )


SUMMARIZATION_SCORE = text_metric(
    name="summarization_score",
    score=summarization_score,
    options=SummarizationOptions,
    prompts={"phrases": "summary_phrases", "questions": "summary_questions", "answers": "summary_answers"},
    reads=("answer",),
    beside="context",
    by_text=True,
    display_name="Summarization score",
    definition="Whether the summary answers questions to the text's key phrases, and how much shorter it is.",
)
