"""A judged evaluator as a recipe: what it needs, what it asks, and what its answers come to.

A module of the plugin tells one story and ends with `JUDGES`, a tuple of `Recipe`; `catalogue` lists them all. Most
recipes are one of the shapes in `rating` (one call, a number) and `counting` (one verdict for each counted thing).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from genkit_eval import DataPoint, Finding, Prompt, Score, Status
from genkit_eval.judged import Instruments, JudgedMetric
from genkit_eval.scores import EDGE
from genkit_eval_judges.inputs import INPUTS, Inputs, inputs_of

__all__ = ["MEAN", "PROMPTS", "Ask", "JudgeOptions", "Recipe", "decided"]

PROMPTS = Path(__file__).parent / "prompts"
MEAN = "the mean of several judges"

Ask = Callable[[Inputs, Any, Instruments], Awaitable[Score]]
"""Asks the judge and scores what it says; raises `NothingToJudge` where there is nothing to ask."""


class JudgeOptions(BaseModel):
    """From which score on a case passes."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    threshold: float | None = Field(
        default=0.5, ge=0, le=1, description="PASS at this score or better, FAIL below; null: neither."
    )
    bands: bool = Field(
        default=False,
        description="In place of the threshold, bands on 1 to 10 (1 + 9 x score): 8 and more PASS, 3 and less FAIL, "
        "between them UNDECIDED.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """A judged evaluator, with what its row in the README says."""

    name: str
    """With its namespace: "judge/faithfulness"."""
    ask: Ask
    prompts: Mapping[str, str | Prompt]
    """Each step's prompt: the name of its file, without the ending, or one that was made of a file."""
    needs: tuple[str, ...]
    """The parts of a data point (`INPUTS`) without which the case is inconclusive, and costs no call."""
    reads: tuple[str, ...] = ()
    """Parts that it looks at too, where they are there."""
    display_name: str
    definition: str
    """What a high score says, in a sentence."""
    formula: str
    source: str
    calls: str
    """How many calls a case costs: "1", "1 + 1 for every 20 claims"."""
    options: type[JudgeOptions] = JudgeOptions
    direction: Literal["maximize", "minimize"] = "maximize"
    version: str = "1"
    """To be raised whenever the same replies may come to another score."""
    aliases: Mapping[str, Mapping[str, JsonValue]] = field(default_factory=dict)
    """Names that other systems have for it, each with the options by which it does as they do."""
    embedder: Literal["unused", "optional", "required"] = "unused"
    check: Callable[[Any, Instruments], str | None] | None = None

    @property
    def is_of_answer(self) -> bool:
        """Whether it looks at what was answered."""
        return not {"response", "turns", "steps"}.isdisjoint((*self.needs, *self.reads))

    def metric(self) -> JudgedMetric:
        """The metric that the core defines."""
        fields = dict.fromkeys(name for part in (*self.needs, *self.reads) for name in INPUTS[part].fields)
        return JudgedMetric(
            name=self.name,
            read=self._read,
            score=self.ask,
            options=self.options,
            prompts={
                step: given if isinstance(given, Prompt) else PROMPTS / f"{given}.prompt"
                for step, given in self.prompts.items()
            },
            reads=tuple(fields),
            display_name=self.display_name,
            definition=self.definition,
            formula=self.version,
            direction=self.direction,
            embedder=self.embedder,
            check=self.check,
            decide=partial(decided, reason=MEAN, minimize=self.direction == "minimize"),
            metadata={
                "formula": self.formula,
                "source": self.source,
                "calls": self.calls,
                "needs": [*self.needs],
            },
        )

    async def _read(self, point: DataPoint, options: BaseModel) -> Inputs:
        inputs = await inputs_of(point, answer=self.is_of_answer)
        inputs.require(self.needs)
        return inputs


def decided(
    score: float,
    options: JudgeOptions,
    *,
    reason: str,
    findings: Sequence[Finding] = (),
    details: Mapping[str, JsonValue] | None = None,
    minimize: bool = False,
) -> Score:
    """A score from 0 to 1 with PASS, FAIL or, between the bands, neither."""
    more: dict[str, Any] = {"findings": findings} if findings else {}
    if details:
        more["details"] = dict(details)
    good = 1 - score if minimize else score
    if options.bands:
        level = 1 + 9 * good
        if 3 + EDGE < level < 8 - EDGE:
            return Score.undecided(score, reason=f"{reason} (between the bands)", **more)
        passed = level >= 8 - EDGE
    elif options.threshold is None:
        return Score.scored(score, reason=reason, **more)
    else:
        passed = good >= (1 - options.threshold if minimize else options.threshold) - EDGE
    return Score.scored(score, reason=reason, status=Status.PASS if passed else Status.FAIL, **more)
