"""`genkitEval/response_groundedness`: whether the answer as a whole comes from the context."""

from __future__ import annotations

from genkit_eval import Score
from genkit_eval.judged import Instruments
from genkit_eval.prompts import fenced
from genkit_eval_metrics.metric import ScoreOptions, text_metric
from genkit_eval_metrics.rated_twice import rated_twice
from genkit_eval_metrics.reading import Texts

__all__ = ["RESPONSE_GROUNDEDNESS", "response_groundedness"]


async def response_groundedness(texts: Texts, options: ScoreOptions, use: Instruments) -> Score:
    """(a + b) / 4 of two ratings out of 0, 1 and 2: how much of the answer the context supports.

    0 to 1, higher is better; coarser than faithfulness, which judges single statements. Needs an output and a context.
    Two judge calls, side by side.
    Source: the response groundedness of NVIDIA's judges in RAGAS, which gives 0 where one of the texts is empty.
    """
    values = {"answer": fenced(texts.answer), "context": fenced("\n\n".join(texts.documents))}
    return await rated_twice(values, options, use)


RESPONSE_GROUNDEDNESS = text_metric(
    name="response_groundedness",
    score=response_groundedness,
    options=ScoreOptions,
    prompts={"first": "response_groundedness_first", "second": "response_groundedness_second"},
    reads=("answer", "context"),
    beside="context",
    display_name="Response groundedness",
    definition="How much of the answer the context supports, rated twice.",
)
