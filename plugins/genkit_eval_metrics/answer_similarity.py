"""`genkitEval/answer_similarity`: how near answer and reference are in meaning, by an embedder."""

from __future__ import annotations

from genkit_eval import Score
from genkit_eval.errors import ConfigError
from genkit_eval.judged import Instruments, judged
from genkit_eval_metrics.formulas import mean_similarity, reaches
from genkit_eval_metrics.metric import ScoreOptions, text_metric
from genkit_eval_metrics.reading import Texts

__all__ = ["ANSWER_SIMILARITY", "answer_similarity"]


async def answer_similarity(texts: Texts, options: ScoreOptions, use: Instruments) -> Score:
    """max(0, cosine) of the vectors of answer and reference.

    0 to 1, higher is better. It sees the subject, not whether the answer is right. Needs an output, a reference and an
    embedder. No judge call; one call of the embedder.
    Source: Risch et al. 2021, "Semantic Answer Similarity for Evaluating Question Answering Models"; RAGAS, semantic
    similarity.
    """
    if use.embedder is None:
        raise ConfigError("no embedder was given: give genkit_metrics(embedder=…)")
    (cosine,) = await use.embedder.similarities(texts.reference, [texts.answer])
    score = mean_similarity([cosine])
    reason = f"the cosine of answer and reference is {cosine:.3f}"
    return judged(score, passed=reaches(score, options.threshold), reason=reason, details={"cosine": cosine})


ANSWER_SIMILARITY = text_metric(
    name="answer_similarity",
    score=answer_similarity,
    options=ScoreOptions,
    prompts={},
    reads=("answer", "reference"),
    beside=None,
    by_text=True,
    judge=False,
    embedder="required",
    display_name="Answer similarity",
    definition="How near answer and reference are in meaning, by the cosine of their vectors.",
)
