"""Recipes of one call that asks for numbers: a rating, or ratings of several aspects whose mean counts.

A rating of null, which judges give where there was nothing to rate, is inconclusive.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import Field, create_model

from genkit_eval import Finding, Message, Score
from genkit_eval.answers import Scale
from genkit_eval.claims import Numbered, by_number, in_parts, numbered
from genkit_eval.judged import NONE, Answer, Instruments, NothingToJudge
from genkit_eval.prompts import fenced
from genkit_eval_judges.counting import LONGEST_FINDING, nothing_counted, portions
from genkit_eval_judges.inputs import Inputs
from genkit_eval_judges.recipe import Ask, JudgeOptions, decided

__all__ = [
    "FIVE",
    "GRAVITY",
    "UNIT",
    "Rated",
    "RatedThing",
    "ScaleOptions",
    "as_it_is",
    "each_rated",
    "from_five",
    "from_gravity",
    "mean_of_fives",
    "no_places",
    "rated",
    "rated_aspects",
    "rated_on_scale",
]

Places = Callable[[Inputs], Mapping[str, str]]
STEP = "rating"


class Rated(Answer):
    """A reason and a number; the scale is that of the subclass."""

    reason: str


class FIVE(Rated):
    """A rating from 1 to 5."""

    rating: Annotated[float | None, Scale(1, 5)]


class GRAVITY(Rated):
    """How grave something is, from 0 (nothing of it) to 5."""

    rating: Annotated[float | None, Scale(0, 5)]


class UNIT(Rated):
    """A rating from 0 to 1."""

    rating: Annotated[float | None, Scale(0, 1)]


class ScaleOptions(JudgeOptions):
    """On which scale the judge rates."""

    scale: Literal["five", "unit"] = Field(
        default="five", description="five: the judge rates from 1 to 5, and (s - 1) / 4 counts; unit: from 0 to 1."
    )


def from_five(rating: float) -> float:
    """(rating - 1) / 4: 1 to 5 becomes 0 to 1."""
    return (rating - 1) / 4


def from_gravity(rating: float) -> float:
    """1 - rating / 5: 0, nothing of it, becomes 1, and 5 becomes 0."""
    return 1 - rating / 5


def as_it_is(rating: float) -> float:
    """The rating, which is from 0 to 1 already."""
    return rating


def no_places(inputs: Inputs) -> Mapping[str, str]:
    """For prompts whose places are all named as the parts are."""
    return {}


def rated(
    form: type[Any] = FIVE,
    *,
    to_unit: Callable[[float], float] = from_five,
    minimize: bool = False,
    places: Places = no_places,
    step: str = STEP,
) -> Ask:
    """One call with a prompt, answered by `form`; its `rating` becomes the score by `to_unit`.

    Args:
        places: texts for places of the prompt that are no part of a data point, in marks of their own; may raise
            `NothingToJudge`.
        step: the prompt's.
    """

    async def ask(inputs: Inputs, options: JudgeOptions, use: Instruments) -> Score:
        answer = await use.judge.ask(inputs.render(use.prompts[step], **places(inputs)), form)
        if answer.rating is None:
            raise NothingToJudge(answer.reason)
        score = to_unit(answer.rating)
        details = {"rating": answer.rating}
        return decided(score, options, reason=answer.reason, details=details, minimize=minimize)

    return ask


def rated_on_scale(*, five: Places = no_places, unit: Places = no_places) -> Ask:
    """One call with the prompt "rating" (from 1 to 5) or "unit" (from 0 to 1), by the option `scale`.

    Args:
        five, unit: as `places` of `rated`, for each of the prompts.
    """
    forms = {"five": rated(places=five), "unit": rated(UNIT, to_unit=as_it_is, places=unit, step="unit")}

    async def ask(inputs: Inputs, options: ScaleOptions, use: Instruments) -> Score:
        return await forms[options.scale](inputs, options, use)

    return ask


class RatedThing(Numbered):
    """A rating from 1 to 5 of one of several things."""

    rating: Annotated[float, Scale(1, 5)]


def each_rated(things: Callable[[Inputs], Sequence[str]], *, against: Sequence[str], what: str, nothing: str) -> Ask:
    """A rating from 1 to 5 for each thing, by the prompt "ratings": the mean of (s - 1) / 4.

    Later ones are shown with those before them, on which they may depend.

    Args:
        things: what is rated, each as a text.
        against: what they are held against, some of `INPUTS`.
        what: what they are called, in "3.5 of 5 on average; calls: 2".
        nothing: why the case is inconclusive where there is none, unless an option says what it comes to.
    """

    async def ask(inputs: Inputs, options: JudgeOptions, use: Instruments) -> Score:
        texts = things(inputs)
        if not texts:
            return nothing_counted(options, nothing)
        found: list[RatedThing] = []
        # each in marks of its own, so that none can pass for two
        lines = [fenced(text or NONE) for text in texts]
        for group, evidence in portions(lines, inputs.shown(against), in_order=True):
            found += await in_parts(
                group,
                (),
                partial(_ratings, use, evidence),
                settled=lambda item: True,
                of_two=lambda first, later: first,
            )
        return _mean_of(found, texts, options, what)

    return ask


async def _ratings(use: Instruments, evidence: str, group: Sequence[str], documents: Sequence[str]) -> list[RatedThing]:
    def messages(lines: Sequence[str]) -> Sequence[Message]:
        return use.prompts["ratings"].render({"statements": numbered(lines), "evidence": evidence})

    return await by_number(use.judge, group, messages, name="ratings", form=RatedThing)


def _mean_of(found: Sequence[RatedThing], texts: Sequence[str], options: JudgeOptions, what: str) -> Score:
    findings = [
        Finding(text=text[:LONGEST_FINDING], reason=item.reason, details={"number": number, "rating": item.rating})
        for number, (text, item) in enumerate(zip(texts, found, strict=True), 1)
    ]
    average = math.fsum(item.rating for item in found) / len(found)
    worst = min(range(len(found)), key=lambda place: found[place].rating)
    reason = f"{average:.3g} of 5 on average; {what}: {len(found)}"
    if found[worst].rating < 5:
        reason += f"; lowest, {found[worst].rating:g}: {texts[worst][:LONGEST_FINDING]} {found[worst].reason}".rstrip()
    return decided(mean_of_fives([item.rating for item in found]), options, reason=reason, findings=findings)


def rated_aspects(*aspects: str, places: Places = no_places) -> Ask:
    """One call with the prompt "rating" that asks for a rating from 1 to 5 of each aspect: the mean of (s - 1) / 4.

    Args:
        places: as `places` of `rated`.
    """
    fields: Mapping[str, Any] = {name: (FIVE, Field(...)) for name in aspects}
    form = create_model("Aspects", __base__=Answer, **fields)

    async def ask(inputs: Inputs, options: JudgeOptions, use: Instruments) -> Score:
        answer = await use.judge.ask(inputs.render(use.prompts[STEP], **places(inputs)), form)
        ratings = {name: _rating(name, getattr(answer, name)) for name in aspects}
        reasons = {name: getattr(answer, name).reason for name in aspects}
        findings = [
            Finding(text=name, reason=reasons[name], details={"rating": rating}) for name, rating in ratings.items()
        ]
        said = "; ".join(f"{name} {rating:g} of 5: {reasons[name]}" for name, rating in ratings.items())
        return decided(mean_of_fives([*ratings.values()]), options, reason=said, findings=findings)

    return ask


def _rating(aspect: str, answer: FIVE) -> float:
    if answer.rating is None:
        raise NothingToJudge(f"{aspect}: {answer.reason}")
    return answer.rating


def mean_of_fives(ratings: Sequence[float]) -> float:
    """Mean of (s - 1) / 4 of at least one rating from 1 to 5."""
    return math.fsum(from_five(rating) for rating in ratings) / len(ratings)
