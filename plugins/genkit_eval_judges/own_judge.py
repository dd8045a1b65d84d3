"""What evaluators of one's own have in common: what they are shown, their options, and the version of their text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from hashlib import blake2b
from typing import Any

from pydantic import Field, create_model

from genkit_eval import DataPoint, Sample, json_text
from genkit_eval.judged import NONE, JudgedMetric, NothingToJudge
from genkit_eval.prompts import fenced
from genkit_eval.text import text_of
from genkit_eval_judges.criterion import Own, Variable
from genkit_eval_judges.inputs import INPUTS, Inputs, inputs_of
from genkit_eval_judges.nearest import Entries, entries_of
from genkit_eval_judges.recipe import JudgeOptions

__all__ = ["Sight", "bound_to_entries", "fields_of", "identity_of", "options_of", "read_own", "shows_nothing"]

MEANT: Mapping[str, str] = {
    "output": "response",
    "answer": "response",
    "input": "request",
    "question": "request",
    "query": "request",
    "expected": "reference",
    "documents": "context",
    "conversation": "turns",
    "messages": "turns",
}
"""What else parts of a case are called, by samples and by others."""
NO_IDENTITY = frozenset({"title", "model", "parameters"})
"""What is said about an evaluator, or is counted into its version by others already."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What a judge is shown of a case, by the prompt's places: all but entries of a dataset."""

    inputs: Inputs
    values: Mapping[str, str]


async def read_own(own: Own, point: DataPoint, options: JudgeOptions) -> Sight:
    """What is shown of a data point.

    Raises:
        NothingToJudge: a variable that is required has no value.
    """
    inputs = await inputs_of(point)
    return Sight(inputs, _values(own, inputs))


def shows_nothing(own: Own, point: Sample) -> bool:
    """Whether a variable that is required has no value in a sample that will not get any further ones."""
    if point.attachments or point.output_attachments:
        # what they hold is known once they are read
        return False
    try:
        _values(own, Inputs(DataPoint.model_validate(point.to_json())))
    except NothingToJudge:
        return True
    return False


def bound_to_entries(own: Own, metric: Callable[[Mapping[str, Entries]], JudgedMetric]) -> JudgedMetric:
    """The metric that `metric` makes of the datasets whose entries it shows; they are looked up when a run is planned.

    Their versions are in the version of the evaluator: other entries may lead a judge to other scores.
    """
    if all(item.nearest is None for item in own.shown):
        return metric({})

    def bound() -> JudgedMetric:
        entries = entries_of(own)
        made = metric(entries)
        read = "".join(f"+{item.nearest.dataset}@{item.version}" for item in entries.values())
        return replace(made, formula=f"{made.formula}{read}", embedder="required")

    return replace(metric({}), bound=bound, embedder="required")


def _values(own: Own, inputs: Inputs) -> Mapping[str, str]:
    """What stands in each place of the prompt, but for entries of a dataset.

    Raises:
        NothingToJudge: a variable that is required has no value.
    """
    inputs.require([item.name for item in own.shown if item.name in INPUTS and item.required and not item.nearest])
    custom = {item.name: _custom(item, inputs) for item in own.shown if item.name not in INPUTS and not item.nearest}
    parts = [item.name for item in own.shown if item.name in INPUTS and not item.nearest]
    return {**inputs.values(parts), **custom}


def _custom(variable: Variable, inputs: Inputs) -> str:
    text = text_of(inputs.point.custom.get(variable.name))
    if variable.required and not text.strip():
        near = MEANT.get(variable.name) or next(iter(get_close_matches(variable.name, INPUTS, n=1, cutoff=0.8)), None)
        advice = f" (for the part of the case write '{near}')" if near else ""
        raise NothingToJudge(f"there is no '{variable.name}' in the sample's custom values to judge by{advice}")
    return fenced(text or NONE)


def fields_of(own: Own) -> tuple[str, ...]:
    """The fields of a data point that its variables come from."""
    parts = [item.nearest.by if item.nearest else item.name for item in own.shown]
    return tuple(dict.fromkeys(name for part in parts for name in _fields(part)))


def _fields(part: str) -> tuple[str, ...]:
    return INPUTS[part].fields if part in INPUTS else ("custom",)


def options_of(own: Own, *, minimize: bool = False) -> type[JudgeOptions]:
    """The options of judges, with the threshold that it says."""
    passes = "Up to which score a case passes" if minimize else "From which score on a case passes"
    threshold: Any = (float | None, Field(default=own.threshold, ge=0, le=1, description=f"{passes}; null: neither."))
    return create_model("OwnOptions", __base__=JudgeOptions, threshold=threshold)


def identity_of(own: Own) -> str:
    """A digest that changes with whatever a score depends on: the words, the scale, the demonstrations."""
    said = own.model_dump(mode="json", exclude_defaults=True, exclude={*NO_IDENTITY})
    return blake2b(json_text(said).encode(), digest_size=4).hexdigest()
