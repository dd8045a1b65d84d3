"""`local/embedding_similarity`: how near answer and reference are as vectors."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from pydantic import BaseModel, ConfigDict, Field

from genkit_eval import DataPoint, Embedder, Score
from genkit_eval.errors import DataError
from genkit_eval.model_calls import embed
from genkit_eval.text import references, text_of
from genkit_eval.vectors import cosine
from genkit_eval_local._scores import NO_TEXT, cut

__all__ = ["SimilarityOptions", "embedding_similarity"]


class SimilarityOptions(BaseModel):
    """Where to cut, if anywhere."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    threshold: float | None = Field(
        default=None,
        ge=-1,
        le=1,
        description="PASS at this score or above, FAIL below; without it there is a score and no verdict.",
    )


def embedding_similarity(
    embedder: Callable[[], Embedder],
) -> Callable[[DataPoint, SimilarityOptions], Awaitable[Score]]:
    """The evaluator `local/embedding_similarity` over an embedder, which is asked for at the first call."""

    async def similarity(point: DataPoint, options: SimilarityOptions) -> Score:
        """Cosine of the answer's and the reference's vector, -1 to 1, higher is better.

        It sees what a text is about, not whether it is right: "in 1998" and "in 1989" are near each other. What a
        number means depends on the embedder, so the cut is to be set on your own data. A reference that is a list of
        texts holds several right answers; the nearest one counts.

        Raises:
            DataError: the embedder gave another number of vectors, of other lengths, all zeros or not finite.
        """
        answer = text_of(point.output)
        known = [text for text in references(point.reference) if text.strip()]
        if not answer.strip() or not known:
            return Score.inconclusive(reason=NO_TEXT.format("reference" if answer.strip() else "answer"))
        vectors = await embed(embedder(), [answer, *known])
        if len(vectors) != len(known) + 1:
            raise DataError(f"the embedder gave {len(vectors)} vectors for {len(known) + 1} texts: expected one a text")
        try:
            value = max(cosine(vectors[0], vector) for vector in vectors[1:])
        except ValueError as problem:
            raise DataError(f"the embedder's vectors cannot be compared: {problem}") from problem
        return cut(value, options.threshold, f"cosine {value:.3f}", {"dimensions": len(vectors[0])})

    return similarity
