"""`genkitEval/context_relevance`: whether the context holds what the question asks for."""

from __future__ import annotations

from genkit_eval import Score
from genkit_eval.judged import Instruments
from genkit_eval.prompts import fenced
from genkit_eval_metrics.metric import ScoreOptions, text_metric
from genkit_eval_metrics.rated_twice import rated_twice
from genkit_eval_metrics.reading import Texts

__all__ = ["CONTEXT_RELEVANCE", "context_relevance"]


async def context_relevance(texts: Texts, options: ScoreOptions, use: Instruments) -> Score:
    """(a + b) / 4 of two ratings out of 0, 1 and 2: how much of what the question asks for is in the context.

    0 to 1, higher is better. Needs an input and a context. Two judge calls, side by side.
    Source: the context relevance of NVIDIA's judges in RAGAS, which gives 0 where there is no context.
    """
    values = {"question": fenced(texts.question), "context": fenced("\n\n".join(texts.documents))}
    return await rated_twice(values, options, use)


CONTEXT_RELEVANCE = text_metric(
    name="context_relevance",
    score=context_relevance,
    options=ScoreOptions,
    prompts={"first": "context_relevance_first", "second": "context_relevance_second"},
    reads=("question", "context"),
    beside="context",
    display_name="Context relevance",
    definition="How much of what the question asks for is in the context, rated twice.",
)
