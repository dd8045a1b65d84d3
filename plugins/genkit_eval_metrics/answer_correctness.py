"""`genkitEval/answer_correctness`: whether the answer states what the reference states."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from genkit_eval import Finding, Score
from genkit_eval.claims import ClaimVerdict, statements, verdicts
from genkit_eval.judged import NONE, Instruments, NothingToJudge, judged, side_by_side
from genkit_eval_metrics.formulas import f_beta, mean_similarity, reaches
from genkit_eval_metrics.metric import ScoreOptions, text_metric
from genkit_eval_metrics.reading import Texts

__all__ = ["ANSWER_CORRECTNESS", "AnswerCorrectnessOptions", "answer_correctness"]


class AnswerCorrectnessOptions(ScoreOptions):
    """What counts how much, from which score on a case passes, and where the texts are found."""

    beta: float = Field(
        default=1.0, gt=0, le=10, description="Above 1 a statement that is missing costs more than one that is wrong."
    )
    statements_weight: float = Field(
        default=0.75, ge=0, le=1, description="What the statements weigh; the rest is for the similarity of meaning."
    )


async def answer_correctness(texts: Texts, options: AnswerCorrectnessOptions, use: Instruments) -> Score:
    """0.75 * F1 of the statements + 0.25 * max(0, cosine) of answer and reference.

    TP: statements of the answer that the reference bears out; FP: the answer's others; FN: statements of the reference
    that the answer does not bear out. F = (1 + b²) TP / ((1 + b²) TP + b² FN + FP), b = `beta`, 1 by default.
    0 to 1, higher is better. Without an embedder it is F alone: `details.form` says "embedded" or "judged", and the
    version differs. A reference that states nothing is inconclusive.
    Needs an output and a reference; the input is shown to the judge if there is one. Four judge calls, two by two
    (verdicts: one for every 20 statements), and one call of the embedder.
    Source: RAGAS, answer correctness; there one call sorts all statements, and those it leaves out count for nothing.
    """
    question = texts.question or NONE
    said, wanted = await side_by_side(
        [
            lambda: statements(use.judge, use.prompts["statements"], {"question": question, "answer": texts.answer}),
            lambda: statements(use.judge, use.prompts["statements"], {"question": question, "answer": texts.reference}),
        ]
    )
    if not wanted:
        raise NothingToJudge("the reference states nothing to compare with")
    ours, theirs = await _compared(said, wanted, texts, use)
    right, wrong = _split(ours)
    missing = _split(theirs)[1]
    f = f_beta(len(right), len(wrong), len(missing), beta=options.beta)
    details: dict[str, object] = {
        "form": "judged",
        "f": f,
        "truePositives": len(right),
        "falsePositives": len(wrong),
        "falseNegatives": len(missing),
    }
    score = f
    if use.embedder is not None:
        cosines = await use.embedder.similarities(texts.reference, [texts.answer])
        score = options.statements_weight * f + (1 - options.statements_weight) * mean_similarity(cosines)
        details |= {"form": "embedded", "cosine": cosines[0]}
    return judged(
        score,
        passed=reaches(score, options.threshold),
        reason=f"{len(right)} statements right, {len(wrong)} not in the reference, {len(missing)} missing",
        findings=[*_findings(ours, "answer"), *_findings(theirs, "reference")],
        details=details,
    )


async def _compared(
    said: Sequence[str], wanted: Sequence[str], texts: Texts, use: Instruments
) -> list[list[ClaimVerdict]]:
    """The verdicts on the answer's statements by the reference, and on the reference's by the answer."""
    if not said:
        # nothing can follow from it, whatever a judge may find
        return [[], [ClaimVerdict(text, verdict=False, reason="the answer states nothing") for text in wanted]]
    return await side_by_side(
        [
            lambda: verdicts(use.judge, use.prompts["verdicts"], said, texts.reference),
            lambda: verdicts(use.judge, use.prompts["verdicts"], wanted, texts.answer),
        ]
    )


def _split(verdicts: Sequence[ClaimVerdict]) -> tuple[list[ClaimVerdict], list[ClaimVerdict]]:
    return [item for item in verdicts if item.verdict], [item for item in verdicts if not item.verdict]


def _findings(verdicts: Sequence[ClaimVerdict], category: str) -> list[Finding]:
    return [
        Finding(text=item.statement, passed=item.verdict, reason=item.reason, category=category) for item in verdicts
    ]


ANSWER_CORRECTNESS = text_metric(
    name="answer_correctness",
    score=answer_correctness,
    options=AnswerCorrectnessOptions,
    prompts={"statements": "statements", "verdicts": "verdicts"},
    reads=("answer", "reference"),
    beside=None,
    by_text=True,
    embedder="optional",
    display_name="Answer correctness",
    definition="Whether the answer states what the reference states (F1), and how near they are in meaning.",
)
