"""Recipes of one call that asks for numbers: a rating, or ratings of several aspects whose mean counts."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any

from pydantic import Field, create_model

from genkit_eval import Finding, Score
from genkit_eval.answers import Scale
from genkit_eval.judged import Answer, Instruments
from genkit_eval_judges.inputs import Inputs
from genkit_eval_judges.recipe import JudgeOptions, decided

__all__ = ["FIVE", "UNIT", "Rated", "from_five", "rated", "rated_aspects"]

Ask = Callable[[Inputs, Any, Instruments], Awaitable[Score]]
STEP = "rating"


class Rated(Answer):
    """A reason and a number; the scale is that of the subclass."""

    reason: str


class FIVE(Rated):
    """A rating from 1 to 5."""

    rating: Annotated[float, Scale(1, 5)]


class UNIT(Rated):
    """A rating from 0 to 1."""

    rating: Annotated[float, Scale(0, 1)]


def from_five(rating: float) -> float:
    """(rating - 1) / 4: 1 to 5 becomes 0 to 1."""
    return (rating - 1) / 4


def rated(form: type[Any] = FIVE, *, to_unit: Callable[[float], float] = from_five, minimize: bool = False) -> Ask:
    """One call with the prompt "rating", answered by `form`; its `rating` becomes the score by `to_unit`."""

    async def ask(inputs: Inputs, options: JudgeOptions, use: Instruments) -> Score:
        answer = await use.judge.ask(inputs.render(use.prompts[STEP]), form)
        score = to_unit(answer.rating)
        details = {"rating": answer.rating}
        return decided(score, options, reason=answer.reason, details=details, minimize=minimize)

    return ask


def rated_aspects(*aspects: str) -> Ask:
    """One call with the prompt "rating" that asks for a rating from 1 to 5 of each aspect: the mean of (s - 1) / 4."""
    fields: Mapping[str, Any] = {name: (FIVE, Field(...)) for name in aspects}
    form = create_model("Aspects", __base__=Answer, **fields)

    async def ask(inputs: Inputs, options: JudgeOptions, use: Instruments) -> Score:
        answer = await use.judge.ask(inputs.render(use.prompts[STEP]), form)
        ratings: dict[str, FIVE] = {name: getattr(answer, name) for name in aspects}
        score = mean_of_fives([item.rating for item in ratings.values()])
        findings = [
            Finding(text=name, reason=item.reason, details={"rating": item.rating}) for name, item in ratings.items()
        ]
        said = "; ".join(f"{name} {item.rating:g} of 5: {item.reason}" for name, item in ratings.items())
        return decided(score, options, reason=said, findings=findings)

    return ask


def mean_of_fives(ratings: list[float]) -> float:
    """Mean of (s - 1) / 4 of at least one rating from 1 to 5."""
    return math.fsum(from_five(rating) for rating in ratings) / len(ratings)
