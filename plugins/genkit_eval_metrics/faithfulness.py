"""`genkitEval/faithfulness`: whether the context bears out what the answer says."""

from __future__ import annotations

from pydantic import Field

from genkit_eval import Score
from genkit_eval.claims import share, statements, verdicts
from genkit_eval.judged import NONE, Instruments, NothingToJudge, claim_score
from genkit_eval_metrics.formulas import above
from genkit_eval_metrics.metric import text_metric
from genkit_eval_metrics.reading import ReadingOptions, Texts

__all__ = ["FAITHFULNESS", "ClaimOptions", "faithfulness"]


class ClaimOptions(ReadingOptions):
    """How many statements are judged by one call, and where the texts are found."""

    group_size: int = Field(default=20, ge=1, le=200, description="How many statements are judged by one call at most.")


async def faithfulness(texts: Texts, options: ClaimOptions, use: Instruments) -> Score:
    """Statements of the answer that the context bears out / statements of the answer.

    0 to 1, higher is better, PASS above 0.5. An answer that states nothing is inconclusive; a statement that the judge
    gives no verdict on, though asked twice, makes the metric fail, not the answer.
    Needs an output and a context; the input is shown to the judge if there is one. Two judge calls: the answer's
    statements, and their verdicts (one call for every 20).
    Source: Es et al. 2023, "RAGAS: Automated Evaluation of Retrieval Augmented Generation", section 3.1; Genkit's
    faithfulness, which divides by the verdicts that came back.
    """
    values = {"question": texts.question or NONE, "answer": texts.answer}
    claims = await statements(use.judge, use.prompts["statements"], values)
    if not claims:
        raise NothingToJudge("the answer states nothing that could be checked")
    found = await verdicts(use.judge, use.prompts["verdicts"], claims, texts.documents, group_size=options.group_size)
    score = share(found)
    return claim_score(score, found, "statements borne out by the context", passed=above(score, 0.5))


FAITHFULNESS = text_metric(
    name="faithfulness",
    score=faithfulness,
    options=ClaimOptions,
    prompts={"statements": "statements", "verdicts": "verdicts"},
    reads=("answer", "context"),
    beside="context",
    by_text=True,
    display_name="Faithfulness",
    definition="The share of the answer's statements that the context bears out. PASS above 0.5.",
)
