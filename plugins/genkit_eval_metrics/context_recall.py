"""`genkitEval/context_recall`: whether the context holds what the reference says."""

from __future__ import annotations

from pydantic import Field

from genkit_eval import Score
from genkit_eval.claims import share, statements, verdicts
from genkit_eval.judged import NONE, Instruments, NothingToJudge, claim_score
from genkit_eval_metrics.formulas import reaches
from genkit_eval_metrics.metric import ScoreOptions, text_metric
from genkit_eval_metrics.reading import Texts

__all__ = ["CONTEXT_RECALL", "ContextRecallOptions", "context_recall"]


class ContextRecallOptions(ScoreOptions):
    """From which score on a case passes, how many statements are judged by one call, and where the texts are found."""

    group_size: int = Field(default=20, ge=1, le=200, description="How many statements are judged by one call at most.")


async def context_recall(texts: Texts, options: ContextRecallOptions, use: Instruments) -> Score:
    """Statements of the reference that the context bears out / statements of the reference.

    0 to 1, higher is better. A reference that states nothing is inconclusive.
    Needs a reference and a context; the input is shown to the judge if there is one. Two judge calls: the reference's
    statements, and their verdicts (one call for every 20).
    Source: RAGAS, context recall, which divides by the statements that the judge chose to classify.
    """
    values = {"question": texts.question or NONE, "answer": texts.reference}
    claims = await statements(use.judge, use.prompts["statements"], values)
    if not claims:
        raise NothingToJudge("the reference states nothing that could be looked for")
    found = await verdicts(use.judge, use.prompts["verdicts"], claims, texts.documents, group_size=options.group_size)
    score = share(found)
    passed = reaches(score, options.threshold)
    return claim_score(score, found, "statements of the reference are in the context", passed=passed)


CONTEXT_RECALL = text_metric(
    name="context_recall",
    score=context_recall,
    options=ContextRecallOptions,
    prompts={"statements": "statements", "verdicts": "verdicts"},
    reads=("reference", "context"),
    beside="context",
    display_name="Context recall",
    definition="The share of the reference's statements that the context bears out.",
)
