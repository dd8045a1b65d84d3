"""Two ratings from 0 to 2 by prompts of different words: what two metrics of NVIDIA's judges share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from genkit_eval import Finding, Score
from genkit_eval.answers import Rating
from genkit_eval.judged import Answer, Instruments, judged, side_by_side
from genkit_eval.prompts import Prompt
from genkit_eval_metrics.formulas import mean_rating, reaches
from genkit_eval_metrics.metric import ScoreOptions

__all__ = ["rated_twice"]


class _Rated(Answer):
    reason: str
    rating: Annotated[int, Rating(0, 1, 2)]


async def rated_twice(values: Mapping[str, str], options: ScoreOptions, use: Instruments) -> Score:
    """The mean of two ratings out of 0, 1 and 2, as 0 to 1: (a + b) / 4. Two judge calls, side by side.

    Args:
        values: for the prompts "first" and "second".
        options: from which score on a case passes.
        use: judge and prompts.
    """

    async def rated(prompt: Prompt) -> _Rated:
        return await use.judge.ask(prompt.render(values), _Rated)

    first, second = await side_by_side([lambda: rated(use.prompts["first"]), lambda: rated(use.prompts["second"])])
    score = mean_rating(first.rating, second.rating)
    return judged(
        score,
        passed=reaches(score, options.threshold),
        reason=f"{first.rating} of 2: {first.reason}; {second.rating} of 2: {second.reason}",
        findings=[
            Finding(text=f"{which} rating", reason=item.reason, details={"rating": item.rating})
            for which, item in (("first", first), ("second", second))
        ],
        details={"ratings": [first.rating, second.rating]},
    )
