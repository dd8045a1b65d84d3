"""Qualities of several named parts: one call rates each from 0 to 1, and their weighted mean is the score."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from pydantic import Field, create_model

from genkit_eval import Finding, Prompt, Score
from genkit_eval.errors import UnknownName
from genkit_eval.judged import Answer, Instruments, NothingToJudge
from genkit_eval_judges.inputs import Inputs
from genkit_eval_judges.quality.rubric import example_lines, filled, places, scorable, shown_as, shown_parts
from genkit_eval_judges.rating import UNIT
from genkit_eval_judges.recipe import JudgeOptions, Recipe, decided

__all__ = ["Composite", "PartExample", "QualityPart", "WeightOptions", "weighted_mean"]

STEP = "rating"


class WeightOptions(JudgeOptions):
    """How much each part counts."""

    weights: Mapping[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]] = Field(
        default_factory=dict,
        description="How much a part counts, by its name; those not named keep their weight, 0 leaves a part out.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityPart:
    """A part of a quality, with its weight and anchors."""

    name: str
    weight: float
    asks: str
    low: str
    middle: str
    high: str

    def line(self) -> str:
        """What the judge is told of it."""
        return f"- {self.name}: {self.asks} Near 0: {self.low}. Near 0.5: {self.middle}. Near 1: {self.high}."


@dataclass(frozen=True, slots=True)
class PartExample:
    """A judgement that the judge can learn from: what was given, and a reason and a rating for each part."""

    given: str
    said: Mapping[str, tuple[str, float | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Composite:
    """A quality of several parts, and all that its judge is told about it."""

    name: str
    """Without its namespace."""
    title: str
    what: str
    """What is judged, as in "You judge …"."""
    intent: str
    criterion: str
    parts: tuple[QualityPart, ...]
    examples: tuple[PartExample, ...]
    needs: tuple[str, ...] = ("request", "response")
    shows: tuple[str, ...] = ()
    any_of: tuple[str, ...] = ()
    """Parts of the case of which one at least must be there."""
    known_as: tuple[str, ...]
    """What Scorable calls it."""
    aliases: tuple[str, ...] = ()
    """Names that others have for it, with their namespace."""

    def prompt(self) -> Prompt:
        """The prompt that it is judged with: `rubric_parts.prompt`, filled in."""
        given = shown_parts((*self.needs, *self.shows, *self.any_of))
        form = {part.name: {"reason": "…", "rating": 0.5} for part in self.parts}
        return filled(
            "rubric_parts",
            f"quality_{self.name}",
            what=self.what,
            count=str(len(self.parts)),
            intent=self.intent,
            criterion=self.criterion,
            parts="\n".join(part.line() for part in self.parts),
            given=shown_as(given),
            form=json.dumps(form, ensure_ascii=False),
            examples=example_lines((item.given, _reply(item)) for item in self.examples),
            places=places(given),
        )

    def recipe(self) -> Recipe:
        """The evaluator `quality/<name>`."""
        fields: Mapping[str, Any] = {part.name: (UNIT, Field(...)) for part in self.parts}
        form = create_model(self.name.title(), __base__=Answer, **fields)
        return Recipe(
            name=f"quality/{self.name}",
            ask=partial(_rated_parts, self, form),
            prompts={STEP: self.prompt()},
            needs=self.needs,
            reads=(*self.shows, *self.any_of),
            options=WeightOptions,
            display_name=self.title,
            definition=self.intent,
            formula=" + ".join(f"{part.weight:g} {part.name}" for part in self.parts) + ", each from 0 to 1",
            source="Scorable",
            calls="1",
            aliases={**scorable(*self.known_as), **{alias: {} for alias in self.aliases}},
            check=partial(_check, self),
        )


def weighted_mean(ratings: Mapping[str, float], weights: Mapping[str, float]) -> float | None:
    """The weighted mean of the ratings; None where they have no weight."""
    total = math.fsum(weights[name] for name in ratings)
    return math.fsum(ratings[name] * weights[name] for name in ratings) / total if total else None


async def _rated_parts(
    composite: Composite, form: type[Any], inputs: Inputs, options: WeightOptions, use: Instruments
) -> Score:
    if composite.any_of and not inputs.shown(composite.any_of):
        raise NothingToJudge(f"there is neither {' nor '.join(composite.any_of)} to judge by")
    answer = await use.judge.ask(inputs.render(use.prompts[STEP]), form)
    said = {part.name: getattr(answer, part.name) for part in composite.parts}
    weights = _weights(composite, options)
    score = weighted_mean({name: item.rating for name, item in said.items() if item.rating is not None}, weights)
    if score is None:
        raise NothingToJudge("; ".join(f"{name}: {item.reason}" for name, item in said.items()))
    reason = "; ".join(
        f"{name} {'not rated' if item.rating is None else f'{item.rating:g}'}: {item.reason}"
        for name, item in said.items()
    )
    findings = [
        Finding(text=name, reason=item.reason, details={"rating": item.rating, "weight": weights[name]})
        for name, item in said.items()
    ]
    return decided(score, options, reason=reason, findings=findings)


def _weights(composite: Composite, options: WeightOptions) -> dict[str, float]:
    return {part.name: options.weights.get(part.name, part.weight) for part in composite.parts}


def _check(composite: Composite, options: WeightOptions, use: Instruments) -> str | None:
    names = [part.name for part in composite.parts]
    for name in options.weights:
        if name not in names:
            return str(UnknownName("part", name, names))
    return None if any(_weights(composite, options).values()) else "all parts weigh 0: there is nothing to judge by"


def _reply(example: PartExample) -> Mapping[str, Any]:
    return {name: {"reason": reason, "rating": rating} for name, (reason, rating) in example.said.items()}
