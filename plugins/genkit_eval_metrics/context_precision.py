"""`genkitEval/context_precision`: whether the documents that were of use come first."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from genkit_eval import Finding, Score
from genkit_eval.claims import ClaimVerdict, verdicts
from genkit_eval.judged import Instruments, NothingToJudge, judged
from genkit_eval.prompts import fenced
from genkit_eval_metrics.formulas import average_precision, reaches
from genkit_eval_metrics.metric import ScoreOptions, text_metric
from genkit_eval_metrics.reading import Texts

__all__ = ["CONTEXT_PRECISION", "ContextPrecisionOptions", "context_precision"]

LONGEST_FINDING = 200


class ContextPrecisionOptions(ScoreOptions):
    """What the documents are held against, from which score on a case passes, and where the texts are found."""

    by: Literal["reference", "answer"] = Field(
        default="reference", description="What a document has to be of use for: the reference, or the answer given."
    )
    group_size: int = Field(default=20, ge=1, le=200, description="How many documents are judged by one call at most.")


async def context_precision(texts: Texts, options: ContextPrecisionOptions, use: Instruments) -> Score:
    """Average precision of the documents in their order: mean of precision@k over the ranks k of those of use.

    0 to 1, higher is better; 0 if none was of use. A document without text is of no use, and is not sent.
    Needs an input, a context, and a reference (with `by="answer"`, an output, whose text counts). One judge call with a
    verdict for every document (one call for every 20).
    Source: RAGAS, context precision with and without reference.
    """
    held_against = texts.reference if options.by == "reference" else texts.answer
    if not held_against.strip():
        other = ": by='answer' does without one" if options.by == "reference" else ""
        raise NothingToJudge(f"there is no {options.by} to hold the documents against{other}")
    evidence = f"Question:\n{fenced(texts.question)}\n\nAnswer:\n{fenced(held_against)}"
    # each document in marks of its own, so that none can pass for two
    lines = [fenced(document) for document in texts.documents]
    found = iter(
        await verdicts(
            use.judge,
            use.prompts["verdicts"],
            lines,
            evidence,
            group_size=options.group_size,
            marked=("statements", "evidence"),
        )
    )
    blank = ClaimVerdict("", verdict=False, reason="there is nothing in it")
    by_rank = [next(found) if document.strip() else blank for document in texts.context]
    score = average_precision([item.verdict for item in by_rank])
    useful = [str(rank) for rank, item in enumerate(by_rank, 1) if item.verdict]
    return judged(
        score,
        passed=reaches(score, options.threshold),
        reason=f"of use: {', '.join(useful) or 'none'} of {len(by_rank)} documents",
        findings=[
            Finding(text=document[:LONGEST_FINDING], passed=item.verdict, reason=item.reason, details={"rank": rank})
            for rank, (document, item) in enumerate(zip(texts.context, by_rank, strict=True), 1)
        ],
    )


CONTEXT_PRECISION = text_metric(
    name="context_precision",
    score=context_precision,
    options=ContextPrecisionOptions,
    prompts={"verdicts": "context_precision"},
    reads=("question", "context"),
    beside="question",
    display_name="Context precision",
    definition="Average precision of the retrieved documents: 1 if those of use for the reference come first.",
)
