"""Rubrics: one call that rates one quality of an answer from 0 to 1, by a criterion with anchors."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pydantic import JsonValue

from genkit_eval import Prompt
from genkit_eval_judges.rating import UNIT, as_it_is, rated
from genkit_eval_judges.recipe import PROMPTS, Recipe

__all__ = ["Example", "Rubric", "example_lines", "filled", "places", "scorable", "shown_as", "shown_parts"]

SHOWN_AS: Mapping[str, str] = {
    "system_prompt": "system prompt",
    "turns": "whole conversation",
    "context": "documents",
    "reference": "reference",
    "request": "request",
    "response": "answer",
}
"""What prompts call the parts of a data point, in the order in which they show them."""


_PLACE = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True, slots=True)
class Example:
    """A judgement that the judge can learn from."""

    given: str
    """The parts, each on a line: "Answer: …"."""
    reason: str
    rating: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubric:
    """A quality of an answer, and all that its judge is told about it."""

    name: str
    """Without its namespace."""
    title: str
    intent: str
    """What the judgement is for, as what a high score says."""
    criterion: str
    low: str
    middle: str
    high: str
    examples: tuple[Example, ...]
    needs: tuple[str, ...] = ("response",)
    """The parts without which there is nothing to judge."""
    shows: tuple[str, ...] = ("request",)
    """Further parts that the judge sees where they are there."""
    known_as: tuple[str, ...]
    """What Scorable calls it."""

    def prompt(self) -> Prompt:
        """The prompt that it is judged with: `rubric.prompt`, filled in."""
        parts = shown_parts((*self.needs, *self.shows))
        return filled(
            "rubric",
            f"quality_{self.name}",
            intent=self.intent,
            criterion=self.criterion,
            low=self.low,
            middle=self.middle,
            high=self.high,
            given=shown_as(parts),
            examples=example_lines(
                (item.given, {"reason": item.reason, "rating": item.rating}) for item in self.examples
            ),
            parts=places(parts),
        )

    def recipe(self) -> Recipe:
        """The evaluator `quality/<name>`."""
        return Recipe(
            name=f"quality/{self.name}",
            ask=rated(UNIT, to_unit=as_it_is),
            prompts={"rating": self.prompt()},
            needs=self.needs,
            reads=self.shows,
            display_name=self.title,
            definition=self.intent,
            formula="rating from 0 to 1",
            source="Scorable",
            calls="1",
            aliases=scorable(*self.known_as),
        )


def scorable(*names: str) -> dict[str, dict[str, JsonValue]]:
    """The aliases for names of Scorable's, as its SDK writes them (Safety_for_Children) and run together."""
    together = [name.replace(" ", "_") for name in names]
    capitals = ["".join(word[0].upper() + word[1:] for word in name.replace("-", " ").split()) for name in names]
    return {f"scorable/{name.replace('-', '_')}": {} for name in (*together, *capitals)}


def filled(template: str, name: str, **texts: str) -> Prompt:
    """A prompt file of this plugin with its own places filled; texts may hold places for the data.

    Args:
        template: the file's name, without its ending.
        name: of the prompt that it becomes.
    """
    # not by rendering messages: what checks those takes 20 ms to be built, and a program may have no use for it
    return Prompt.parse(_PLACE.sub(lambda place: texts[place[1]], _template(template)), name)


@lru_cache(maxsize=4)
def _template(name: str) -> str:
    return (PROMPTS / f"{name}.prompt").read_text(encoding="utf-8")


def shown_parts(names: Collection[str]) -> Sequence[str]:
    """The names in the order in which prompts show these parts."""
    return [part for part in SHOWN_AS if part in names]


def shown_as(parts: Sequence[str]) -> str:
    """What prompts call these parts, as a list in a sentence."""
    return ", ".join(SHOWN_AS[part] for part in parts)


def places(parts: Sequence[str]) -> str:
    """A heading and a place for each part."""
    return "\n\n".join(f"{SHOWN_AS[part].capitalize()}:\n{{{{{part}}}}}" for part in parts)


def example_lines(examples: Iterable[tuple[str, Mapping[str, JsonValue]]]) -> str:
    """Examples as prompts show them: what was given, and below it what to reply."""
    return "".join(f"\nExample\n{given}\n{json.dumps(reply, ensure_ascii=False)}\n" for given, reply in examples)
