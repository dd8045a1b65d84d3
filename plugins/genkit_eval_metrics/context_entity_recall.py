"""`genkitEval/context_entity_recall`: whether the context names what the reference names."""

from __future__ import annotations

import unicodedata
from dataclasses import replace

from genkit_eval import Finding, Judge, Score
from genkit_eval.judged import Answer, Instruments, NothingToJudge, judged, side_by_side
from genkit_eval.prompts import fenced
from genkit_eval_metrics.formulas import reaches, share_of
from genkit_eval_metrics.metric import ScoreOptions, text_metric
from genkit_eval_metrics.reading import Texts

__all__ = ["CONTEXT_ENTITY_RECALL", "context_entity_recall"]


class _Entities(Answer):
    entities: list[str]


async def context_entity_recall(texts: Texts, options: ScoreOptions, use: Instruments) -> Score:
    """Entities of the reference that are among the context's / entities of the reference.

    Two are the same if their letters are, whatever their case, spaces and width. 0 to 1, higher is better. A reference
    without entities is inconclusive.
    Needs a reference and a context. Two judge calls, side by side.
    Source: RAGAS, context entity recall.
    """

    async def entities(text: str, judge: Judge) -> dict[str, str]:
        """Each entity once, by its plain form."""
        answer = await judge.ask(use.prompts["entities"].render({"text": fenced(text)}), _Entities)
        return {plain: entity.strip() for entity in answer.entities if (plain := _plain(entity))}

    wanted, found = await side_by_side(
        [
            # images are of the context
            lambda: entities(texts.reference, replace(use.judge, images=())),
            lambda: entities("\n\n".join(texts.documents), use.judge),
        ]
    )
    if not wanted:
        raise NothingToJudge("the reference names nothing that could be looked for")
    held = [plain in found for plain in wanted]
    score = share_of(held)
    missing = [name for name, is_held in zip(wanted.values(), held, strict=True) if not is_held]
    return judged(
        score,
        passed=reaches(score, options.threshold),
        reason=f"{sum(held)} of {len(held)} entities of the reference are in the context"
        + (f"; not: {', '.join(missing[:5])}" if missing else ""),
        findings=[Finding(text=name, passed=is_held) for name, is_held in zip(wanted.values(), held, strict=True)],
    )


def _plain(entity: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", entity).casefold().split())


CONTEXT_ENTITY_RECALL = text_metric(
    name="context_entity_recall",
    score=context_entity_recall,
    options=ScoreOptions,
    prompts={"entities": "entities"},
    reads=("reference", "context"),
    beside="context",
    display_name="Context entity recall",
    definition="The share of the people, places, numbers and other entities of the reference that the context names.",
)
