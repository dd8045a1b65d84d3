"""How long the answer is, and whether there is one: `heuristic/length_in_range`, `heuristic/empty`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from genkit_eval import DataPoint, Score
from genkit_eval.text import text_of
from genkit_eval_heuristics import structure
from genkit_eval_heuristics.definition import Heuristic, Thresholded, verdict

__all__ = ["EVALUATORS", "EmptyOptions", "LengthOptions", "empty", "length_in_range"]

Unit = Literal["characters", "words", "sentences", "paragraphs", "lines"]


class LengthOptions(Thresholded):
    """Which lengths are right."""

    least: int | None = Field(default=None, ge=0, description="No fewer than these; without it there is no least.")
    most: int | None = Field(default=None, ge=0, description="No more than these; without it there is no most.")
    unit: Unit = Field(default="characters", description="What is counted.")

    @model_validator(mode="after")
    def _in_order(self) -> LengthOptions:
        if self.least is not None and self.most is not None and self.least > self.most:
            raise ValueError(f"least is {self.least}, which is more than most ({self.most})")
        return self


class EmptyOptions(Thresholded):
    """Nothing but the threshold."""


def length_in_range(point: DataPoint, options: LengthOptions) -> Score:
    """1 if the answer has from `least` to `most` characters (or words …), else 0; higher is better.

    Characters are those of the composed text without blanks around it, so "é" is one; words, sentences and paragraphs
    are counted as in `instruction_following`. Without a bound the case is inconclusive.
    """
    if options.least is None and options.most is None:
        return Score.inconclusive(reason="no bound was given: the options least and most")
    count = structure.COUNTED[options.unit](text_of(point.output))
    fits = (options.least or 0) <= count and (options.most is None or count <= options.most)
    wanted = f"{options.least or 0} to {options.most}" if options.most is not None else f"at least {options.least}"
    return verdict(
        float(fits), options, reason=f"{options.unit}: {count}, expected {wanted}", details={"length": count}
    )


def empty(point: DataPoint, options: EmptyOptions) -> Score:
    """1 if there is an answer, 0 if it is empty: null, blank, or without any text in it; higher is better.

    Unlike the other evaluators it takes an empty answer for a wrong one, so that it counts where it should. 0 and false
    are answers.
    """
    there = structure.characters(text_of(point.output)) > 0
    return verdict(float(there), options, reason="there is an answer" if there else "the answer is empty")


EVALUATORS = (
    Heuristic(
        name="heuristic/length_in_range",
        fn=length_in_range,
        options=LengthOptions,
        display_name="Length in range",
        definition="The answer is neither too short nor too long.",
        formula="1 if least ≤ length ≤ most, else 0",
        source="Akka evalkit",
        kind="heuristic",
        requires=("output",),
        non_empty=("output",),
        custom=("least", "most"),
        aliases={"akka/LengthInRange": {}},
    ),
    Heuristic(
        name="heuristic/empty",
        fn=empty,
        options=EmptyOptions,
        display_name="Not empty",
        definition="There is an answer.",
        formula="0 if the answer is null, blank or without text, else 1",
        source="own",
        kind="heuristic",
        requires=("output",),
    ),
)
