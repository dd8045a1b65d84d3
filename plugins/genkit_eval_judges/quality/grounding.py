"""Claim by claim: `quality/faithfulness`, to documents, and `quality/truthfulness`, to documents and what is known."""

from __future__ import annotations

from pydantic import Field

from genkit_eval import Score
from genkit_eval.claims import statements
from genkit_eval.judged import NONE, Instruments
from genkit_eval_judges.counting import CountOptions, nothing_counted
from genkit_eval_judges.inputs import Inputs
from genkit_eval_judges.quality.grading import Worths, grade, graded
from genkit_eval_judges.quality.rubric import scorable
from genkit_eval_judges.recipe import Recipe

__all__ = ["JUDGES", "TruthOptions", "faithfulness", "truthfulness"]

NO_CLAIM = "the answer claims nothing that could be checked"
FAITHFUL: Worths = {"supported": 1, "contradicted": 0, "partly": 0.5, "absent": 0}


class TruthOptions(CountOptions):
    """What a claim is worth of which nobody can tell."""

    unverifiable: float = Field(
        default=0.5, ge=0, le=1, description="What a claim is worth that can be neither confirmed nor refuted."
    )


async def faithfulness(inputs: Inputs, options: CountOptions, use: Instruments) -> Score:
    """The mean over all assertions: supported 1, partly 0.5, absent or contradicted 0."""
    claims = await _claims(inputs, use)
    if not claims:
        return nothing_counted(options, NO_CLAIM)
    found = await grade(use.judge, use.prompts["grades"], claims, FAITHFUL, documents=_documents(inputs))
    return graded(found, FAITHFUL, options, what="claims", nothing=NO_CLAIM)


async def truthfulness(inputs: Inputs, options: TruthOptions, use: Instruments) -> Score:
    """The mean over all statements of fact: documented or known 1, open 0.5 (an option), false 0."""
    claims = await _claims(inputs, use)
    if not claims:
        return nothing_counted(options, NO_CLAIM)
    worths: Worths = {"documented": 1, "false": 0, "known": 1, "open": options.unverifiable}
    documents = _documents(inputs)
    shown = "" if documents else f"Documents: {NONE}"
    found = await grade(use.judge, use.prompts["grades"], claims, worths, shown=shown, documents=documents)
    return graded(found, worths, options, what="claims", nothing=NO_CLAIM)


async def _claims(inputs: Inputs, use: Instruments) -> list[str]:
    inputs.files.require_text()
    texts = {"request": inputs.request or NONE, "response": inputs.response}
    return await statements(use.judge, use.prompts["statements"], texts)


def _documents(inputs: Inputs) -> list[str]:
    return [document for document in inputs.documents if document.strip()]


JUDGES = (
    Recipe(
        name="quality/faithfulness",
        ask=faithfulness,
        prompts={"statements": "quality_faithfulness_claims", "grades": "quality_faithfulness_grades"},
        needs=("response", "context"),
        reads=("request",),
        options=CountOptions,
        display_name="Faithfulness, graded",
        definition="Each claim of the answer is in the documents, and whole; what contradicts them is told apart from "
        "what they only do not say.",
        formula="mean over claims: supported 1, partly 0.5, absent 0, contradicted 0",
        source="Scorable",
        calls="1 + 1 for every 20 claims",
        aliases=scorable("Faithfulness"),
    ),
    Recipe(
        name="quality/truthfulness",
        ask=truthfulness,
        prompts={"statements": "quality_truthfulness_statements", "grades": "quality_truthfulness_grades"},
        needs=("response",),
        reads=("request", "context"),
        options=TruthOptions,
        display_name="Truthfulness",
        definition="Each claim of the answer is true: by the documents first, by what is known where they are silent.",
        formula="mean over claims: documented 1, known 1, open 0.5 (option `unverifiable`), false 0",
        source="Scorable",
        calls="1 + 1 for every 20 claims",
        aliases=scorable("Truthfulness"),
    ),
)
