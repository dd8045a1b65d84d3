"""`genkitEval/aspect_critic`: whether the answer meets a criterion of your own words."""

from __future__ import annotations

from pydantic import Field, field_validator

from genkit_eval import Finding, Score
from genkit_eval.answers import Verdict
from genkit_eval.judged import NONE, Answer, Instruments, judged, side_by_side
from genkit_eval.prompts import fenced
from genkit_eval_metrics.metric import text_metric
from genkit_eval_metrics.reading import ReadingOptions, Texts

__all__ = ["ASPECT_CRITIC", "AspectCriticOptions", "aspect_critic"]


class AspectCriticOptions(ReadingOptions):
    """The criterion, how many votes are taken, and where the texts are found."""

    definition: str = Field(
        min_length=1, description="The criterion, as a sentence that is true of a good answer: 'The answer is polite.'"
    )
    votes: int = Field(default=1, ge=1, le=15, description="How often the judge is asked; odd, the majority decides.")

    @field_validator("votes")
    @classmethod
    def _odd(cls, votes: int) -> int:
        if votes % 2 == 0:
            raise ValueError("an even number of votes may be a tie: take an odd one")
        return votes


class _Vote(Answer):
    reason: str
    verdict: Verdict


async def aspect_critic(texts: Texts, options: AspectCriticOptions, use: Instruments) -> Score:
    """1 and PASS if the answer meets the criterion by most of the votes, else 0 and FAIL.

    Needs an output; input, context and reference are shown to the judge if they are there. One judge call a vote, side
    by side; more than one vote makes sense only for a judge whose temperature is not 0.
    Source: RAGAS, aspect critic, with its strictness as `votes`.
    """
    values = {
        "definition": options.definition,
        "question": fenced(texts.question or NONE),
        "context": fenced("\n\n".join(texts.documents) or NONE),
        "reference": fenced(texts.reference or NONE),
        "answer": fenced(texts.answer),
    }
    messages = use.prompts["verdict"].render(values)
    votes = await side_by_side([lambda: use.judge.ask(messages, _Vote)] * options.votes)
    meets = 2 * sum(vote.verdict for vote in votes) > len(votes)
    reason = next(vote.reason for vote in votes if vote.verdict is meets)
    if len(votes) > 1:
        reason = f"{sum(vote.verdict for vote in votes)} of {len(votes)} votes: {reason}"
    return judged(
        1.0 if meets else 0.0,
        passed=meets,
        reason=reason,
        findings=[Finding(text=options.definition, passed=vote.verdict, reason=vote.reason) for vote in votes],
    )


ASPECT_CRITIC = text_metric(
    name="aspect_critic",
    score=aspect_critic,
    options=AspectCriticOptions,
    prompts={"verdict": "aspect_critic"},
    reads=("answer",),
    beside="context",
    display_name="Aspect critic",
    definition="Whether the answer meets a criterion of your own words: 1 if so, 0 if not.",
)
