"""A criterion in the user's own words, as code and files have it: data that says all of an evaluator."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from genkit_eval.answers import label_key
from genkit_eval.errors import UnknownName

__all__ = [
    "MENTION",
    "Anchors",
    "Category",
    "Criterion",
    "Demonstration",
    "GEval",
    "Nearest",
    "Own",
    "Part",
    "Range",
    "Variable",
    "number_text",
]

MENTION = re.compile(r"\{\{\s*([\w.-]+)\s*\}\}")
"""How the text of a criterion speaks of a variable."""
LONGEST_NAME = 60


def _whole(value: object) -> object:
    """5.0 as 5: to JSON they are one number."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _on_the_scale_of_scores(value: object) -> object:
    """Whoever has a scale from 1 to 10 may write 7 as the threshold."""
    if isinstance(value, int | float) and not 0 <= value <= 1:
        raise ValueError("expected a number from 0 to 1, as scores are on every scale")
    return value


def _matching(pattern: str, expected: str) -> AfterValidator:
    """Refuses a text in words, as a pattern is none to those who write YAML."""

    def matching(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(f"expected {expected}")
        return text

    return AfterValidator(matching)


PLACE_NAME = r"^[A-Za-z_][A-Za-z0-9_]*$"
EVALUATOR_NAME = r"^[A-Za-z0-9_][A-Za-z0-9_.:-]*(/[A-Za-z0-9_][A-Za-z0-9_.:-]*)*$"

Text = Annotated[str, Field(min_length=1, pattern=r"\S")]
PlaceName = Annotated[
    str,
    Field(max_length=LONGEST_NAME, json_schema_extra={"pattern": PLACE_NAME}),
    _matching(PLACE_NAME, "letters, digits and _, no digit first"),
]
# strict: neither true nor "1" is a number, and "no" is no boolean, just as the schema of files says
Number = Annotated[float, Field(strict=True)]
Share = Annotated[Number, Field(ge=0, le=1)]
Truth = Annotated[bool, Field(strict=True)]


def number_text(number: float) -> str:
    """A number as people write it: 5, 0.15, 1234567."""
    return f"{number:.12g}"


class Part(BaseModel):
    """What such data have in common: frozen, and no key beside those that are known."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _is_said_by_its_keys(cls, given: object) -> object:
        fields = cls.model_fields
        if isinstance(given, Mapping):
            for key in given:
                if key not in fields:
                    raise ValueError(str(UnknownName("key", str(key), fields)))
        elif not isinstance(given, cls):
            *keys, last = [name for name, field in fields.items() if field.is_required()] or [*fields]
            named = " and ".join([*([", ".join(keys)] if keys else []), last])
            raise PydanticCustomError("object_type", "expected an object with {named}", {"named": named})
        return given


class Nearest(Part):
    """The entries of a dataset that are nearest in meaning to a part of the case."""

    dataset: Annotated[Text, Field(description="Its id.")]
    by: Annotated[PlaceName, Field(description="The part of the case that the entries' inputs are compared with.")] = (
        "request"
    )
    k: Annotated[
        int, Field(strict=True, ge=1, le=50, description="How many entries the judge sees."), BeforeValidator(_whole)
    ] = 3
    version: Annotated[
        int | None,
        Field(strict=True, ge=1, description="Of the dataset; without it the newest."),
        BeforeValidator(_whole),
    ] = None
    show: Annotated[
        tuple[Literal["input", "reference", "output", "context"], ...],
        Field(min_length=1, description="Which fields of an entry the judge sees."),
    ] = ("input", "reference")


class Variable(Part):
    """What the judge is shown, by the name under which it is shown."""

    name: Annotated[
        PlaceName,
        Field(
            description="A part of the case (response, request, context, reference, turns, tools …), else the key of a "
            "value in its 'custom'."
        ),
    ]
    meaning: Annotated[str | None, Field(description="What it is, as the judge is told.")] = None
    required: Annotated[Truth, Field(description="Whether a case without it is inconclusive.")] = True
    nearest: Annotated[Nearest | None, Field(description="Entries of a dataset, in place of a value of the case.")] = (
        None
    )


class Range(Part):
    """Numbers that the judge gives, ends included; the score is where between the ends they lie, 0 to 1."""

    low: Number
    high: Number

    @property
    def middle(self) -> float:
        """The number halfway between the ends."""
        return self.low + (self.high - self.low) / 2

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if self.low >= self.high:
            raise ValueError(f"the scale is empty: low is {number_text(self.low)}, high is {number_text(self.high)}")
        if not math.isfinite(self.high - self.low):
            raise ValueError("the scale is too wide to be measured: choose ends that are nearer")
        return self


class Category(Part):
    """A word that the judge may choose, and the score that it stands for."""

    label: Text
    score: Share
    meaning: Annotated[str | None, Field(description="When it applies, as the judge is told.")] = None


class Anchors(Part):
    """What answers at the ends of the scale, and in its middle, are like."""

    low: str | None = None
    middle: str | None = None
    high: str | None = None


class Demonstration(Part):
    """A judgement that the judge can learn from: what was asked and answered, and what it is worth."""

    request: str | None = None
    response: str
    score: Annotated[bool | float | str, Field(description="As the judge would give it: number, true/false or label.")]
    justification: str | None = None


class Own(Part):
    """What every evaluator of one's own says: its name, the criterion, what the judge sees, and who judges."""

    name: Annotated[
        str,
        Field(
            max_length=100,
            description="By which runs refer to it, like custom/window.",
            json_schema_extra={"pattern": EVALUATOR_NAME},
        ),
        _matching(EVALUATOR_NAME, "letters, digits and _ . : - with / between them"),
    ]
    title: Annotated[str | None, Field(description="What tables call it.")] = None
    criterion: Annotated[
        Text, Field(description="What the judge is told to judge by; speaks of a variable as {{response}}.")
    ]
    variables: Annotated[
        tuple[PlaceName | Variable, ...],
        Field(
            description="What the judge is shown. Default: the variables that the text speaks of, and the response; if "
            "it speaks of none, also the request and the system prompt where there are any."
        ),
    ] = ()
    model: Annotated[Text | None, Field(description="Who judges, like openai/NAME. Default: the judge set.")] = None
    parameters: Annotated[
        Mapping[str, JsonValue] | None, Field(description="Of each call of the judge, like temperature.")
    ] = None
    threshold: Annotated[
        Share | None,
        Field(description="What passes, on 0 to 1; null: nothing passes or fails."),
        BeforeValidator(_on_the_scale_of_scores),
    ] = 0.5

    @property
    def evaluator(self) -> str:
        """The name of the evaluator, with its namespace."""
        return self.name

    @cached_property
    def shown(self) -> tuple[Variable, ...]:
        """What the judge is shown, in order."""
        if self.variables:
            return tuple(Variable(name=item) if isinstance(item, str) else item for item in self.variables)
        named = dict.fromkeys(name for text in self._texts for name in MENTION.findall(text))
        if not named:
            request, system = (Variable(name=name, required=False) for name in ("request", "system_prompt"))
            return request, Variable(name="response"), system
        return tuple(Variable(name=name) for name in {**named, "response": None})

    @property
    def _texts(self) -> tuple[str, ...]:
        return (self.criterion,)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        spoken_of = [name for text in self._texts for name in MENTION.findall(text)]
        for name in spoken_of:
            if len(name) > LONGEST_NAME or not re.fullmatch(PLACE_NAME, name):
                raise ValueError(
                    f"the text speaks of {{{{{name}}}}}: the name of a variable has at most {LONGEST_NAME} letters (a "
                    "to z), digits and _, no digit first; rename it, or leave the braces out if it is none"
                )
        names = [variable.name for variable in self.shown]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise ValueError(f"variable '{min(twice)}' is listed twice")
        if not any(item.name == "response" and item.required and item.nearest is None for item in self.shown):
            raise ValueError("the variables lack 'response': there is nothing to judge without it")
        for name in spoken_of:
            if name not in names:
                raise ValueError(f"the text speaks of {{{{{name}}}}}, which is none of the variables: list it")
        return self


class Criterion(Own):
    """An evaluator of one's own: a judge scores each answer by a criterion, on a scale, 0 to 1.

    Criterion(
        name="custom/refund_window",
        intent="Customers learn how long they can send a parcel back.",
        criterion="The answer names the refund window of {{policy}}, and names no other.",
        scale="binary",
    )
    """

    kind: Literal["criterion"] = "criterion"
    intent: Annotated[Text, Field(description="What the evaluator is for.")]
    scale: Annotated[
        Literal["continuous", "binary"] | Range | tuple[Category, ...],
        Field(description="continuous: 0 to 1; binary: true is 1; a range of numbers; or categories with scores."),
    ] = "continuous"
    anchors: Annotated[Anchors | None, Field(description="What low, middle and high on the scale mean.")] = None
    demonstrations: tuple[Demonstration, ...] = ()
    direction: Annotated[
        Literal["maximize", "minimize"], Field(description="minimize: a high score is bad, and low ones pass.")
    ] = "maximize"

    @field_validator("name", mode="after")
    @classmethod
    def _is_no_geval(cls, name: str) -> str:
        if name.startswith(("geval/", "geval_")):
            raise ValueError(f"'{name}' is a name of kind geval: choose another one, or that kind")
        return name

    @property
    def _texts(self) -> tuple[str, ...]:
        meanings = [category.meaning for category in self.scale] if isinstance(self.scale, tuple) else []
        anchors = self.anchors or Anchors()
        said = (self.intent, self.criterion, anchors.low, anchors.middle, anchors.high, *meanings)
        return tuple(text for text in said if text is not None)

    @property
    def range(self) -> Range | None:
        """The numbers of a scale of numbers."""
        if isinstance(self.scale, Range):
            return self.scale
        return Range(low=0, high=1) if self.scale == "continuous" else None

    @model_validator(mode="after")
    def _scale_fits(self) -> Self:
        if isinstance(self.scale, tuple):
            labels = {label_key(category.label) for category in self.scale} - {""}
            if len(labels) < len(self.scale) or len(labels) < 2:
                raise ValueError("categories: expected two or more, with labels that differ in more than punctuation")
            if self.anchors is not None:
                raise ValueError("categories take no anchors: say in 'meaning' when each applies")
        if self.scale == "binary" and self.anchors is not None and self.anchors.middle is not None:
            raise ValueError("a binary scale has no middle: leave that anchor out")
        for place, item in enumerate(self.demonstrations, 1):
            if not self._on_scale(item.score):
                found = json.dumps(item.score, ensure_ascii=False).removesuffix(".0")
                raise ValueError(
                    f"demonstration {place} has the score {found}, which is not on the scale: expected "
                    f"{self._scale_in_words}"
                )
        return self

    @property
    def _scale_in_words(self) -> str:
        if isinstance(self.scale, tuple):
            return "one of " + ", ".join(f"'{category.label}'" for category in self.scale)
        return (
            "true or false"
            if self.range is None
            else f"a number from {number_text(self.range.low)} to {number_text(self.range.high)}"
        )

    def _on_scale(self, score: bool | float | str) -> bool:
        if isinstance(self.scale, tuple):
            return any(category.label == score for category in self.scale)
        if self.range is None:
            return isinstance(score, bool)
        number = isinstance(score, int | float) and not isinstance(score, bool)
        return number and self.range.low <= float(score) <= self.range.high


class GEval(Own):
    """An evaluator after G-Eval: a judge follows steps, made once from the criterion, and rates from 1 to 5.

    GEval(name="coherence", criterion="The sentences of {{response}} build on each other.")

    Without steps, the judge is asked for them before the first run, and they are kept in the folder of the runs. It is
    `geval/coherence`, and `geval_coherence` too.
    """

    kind: Literal["geval"] = "geval"
    steps: Annotated[
        tuple[Text, ...], Field(description="How to judge. Default: what the judge makes of it, once.")
    ] = ()
    weighting: Annotated[
        Literal["auto", "on", "off"],
        Field(
            description="Whether ratings are weighted by the probabilities of their tokens. auto: if the judge's first "
            "reply has them; on: always, and a reply without them is a failure."
        ),
    ] = "auto"

    @property
    def evaluator(self) -> str:
        """The name of the evaluator, with its namespace."""
        return f"geval/{self.name}"

    @property
    def _texts(self) -> tuple[str, ...]:
        return (self.criterion, *self.steps)

    @field_validator("name", mode="after")
    @classmethod
    def _bare(cls, name: str) -> str:
        bare = name.removeprefix("geval/").removeprefix("geval_")
        if not bare:
            raise ValueError(f"expected a name after '{name}'")
        return bare
