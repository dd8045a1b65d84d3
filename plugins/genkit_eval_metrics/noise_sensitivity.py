"""`genkitEval/noise_sensitivity`: whether documents lead the answer to wrong statements."""

from __future__ import annotations

from functools import partial
from typing import Literal

from pydantic import Field

from genkit_eval import Finding, Score
from genkit_eval.claims import statements, verdicts
from genkit_eval.judged import NONE, Instruments, NothingToJudge, judged, side_by_side
from genkit_eval_metrics.formulas import misled, reaches, share_of
from genkit_eval_metrics.metric import ScoreOptions, text_metric
from genkit_eval_metrics.reading import Texts

__all__ = ["NOISE_SENSITIVITY", "NoiseSensitivityOptions", "noise_sensitivity"]


class NoiseSensitivityOptions(ScoreOptions):
    """Which documents count, down to which score a case passes, and where the texts are found."""

    mode: Literal["relevant", "irrelevant"] = Field(
        default="relevant",
        description="Which documents may have led to a wrong statement: those that bear out part of the reference, or "
        "only the others.",
    )


async def noise_sensitivity(texts: Texts, options: NoiseSensitivityOptions, use: Instruments) -> Score:
    """Statements of the answer that are wrong and borne out by a document / statements of the answer.

    Wrong is what the reference does not bear out; relevant is a document that bears out a statement of the reference.
    With `mode="relevant"` those count that a relevant document bears out, with "irrelevant" those that only others do.
    0 to 1, lower is better. An answer or a reference that states nothing is inconclusive.
    Needs an output, a reference and a context; the input is shown to the judge if there is one. 3 + 2 k judge calls for
    k documents: statements of answer and reference, then verdicts, side by side.
    Source: RAGAS, noise sensitivity, after "RAGChecker" (Ru et al. 2024).
    """
    question, judge, prompts = texts.question or NONE, use.judge, use.prompts
    said, wanted = await side_by_side(
        [
            partial(statements, judge, prompts["statements"], {"question": question, "answer": text})
            for text in (texts.answer, texts.reference)
        ]
    )
    if not said or not wanted:
        raise NothingToJudge(f"the {'reference' if said else 'answer'} states nothing that could be checked")
    by_document = [(said, document) for document in texts.documents] + [
        (wanted, document) for document in texts.documents
    ]
    by_reference, *found = await side_by_side(
        [
            partial(verdicts, judge, prompts["verdicts"], claims, evidence)
            for claims, evidence in [(said, texts.reference), *by_document]
        ]
    )
    supported = [[item.verdict for item in group] for group in found]
    k = len(texts.documents)
    wrong = misled(
        correct=[item.verdict for item in by_reference],
        answer_in_document=supported[:k],
        reference_in_document=supported[k:],
        mode=options.mode,
    )
    score = share_of(wrong)
    return judged(
        score,
        passed=reaches(score, options.threshold, minimize=True),
        reason=f"{sum(wrong)} of {len(said)} statements are wrong and come from {options.mode} documents",
        findings=[
            Finding(text=item.statement, passed=not is_misled, reason=item.reason)
            for item, is_misled in zip(by_reference, wrong, strict=True)
        ],
    )


NOISE_SENSITIVITY = text_metric(
    name="noise_sensitivity",
    score=noise_sensitivity,
    options=NoiseSensitivityOptions,
    prompts={"statements": "statements", "verdicts": "verdicts"},
    reads=("answer", "reference", "context"),
    beside=None,
    by_text=True,
    direction="minimize",
    display_name="Noise sensitivity",
    definition="The share of the answer's statements that are wrong and that a retrieved document led it to.",
)
