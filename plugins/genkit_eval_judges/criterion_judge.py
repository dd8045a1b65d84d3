"""The evaluator that a criterion is: one call, and what its answer is worth on the criterion's scale."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any

from pydantic import JsonValue, create_model

from genkit_eval import Score
from genkit_eval.answers import Choice, Scale, Verdict
from genkit_eval.judged import Answer, Instruments, JudgedMetric, NothingToJudge
from genkit_eval_judges.criterion import Criterion
from genkit_eval_judges.criterion_prompt import criterion_prompt
from genkit_eval_judges.nearest import Entries, found_entries
from genkit_eval_judges.own_judge import Sight, bound_to_entries, fields_of, identity_of, options_of, read_own
from genkit_eval_judges.recipe import MEAN, JudgeOptions, decided

__all__ = ["criterion_metric", "worth"]

FORMULA = "1"
"""To be raised whenever the same replies may come to another score."""
STEP = "judgement"


def criterion_metric(own: Criterion) -> JudgedMetric:
    """The metric that the core defines."""
    return bound_to_entries(own, partial(_metric, own))


def _metric(own: Criterion, entries: Mapping[str, Entries]) -> JudgedMetric:
    return JudgedMetric(
        name=own.evaluator,
        read=partial(read_own, own),
        score=partial(_score, own, entries, _form(own)),
        options=options_of(own, minimize=own.direction == "minimize"),
        prompts={STEP: criterion_prompt(own)},
        reads=fields_of(own),
        display_name=own.title or own.evaluator,
        definition=" ".join(own.intent.split()),
        formula=f"criterion{FORMULA}-{identity_of(own)}",
        direction=own.direction,
        decide=partial(decided, reason=MEAN, minimize=own.direction == "minimize"),
        metadata={"calls": "1"},
    )


def _form(own: Criterion) -> type[Any]:
    """What the judge's reply must be like."""
    if isinstance(own.scale, tuple):
        choice: Any = Annotated[str | None, Choice(*(category.label for category in own.scale))]
        return create_model("Labelled", __base__=Answer, reason=(str, ""), label=(choice, ...))
    if own.range is None:
        return create_model("Decided", __base__=Answer, reason=(str, ""), verdict=(Verdict | None, ...))
    number: Any = Annotated[float | None, Scale(own.range.low, own.range.high)]
    return create_model("Scored", __base__=Answer, reason=(str, ""), score=(number, ...))


async def _score(
    own: Criterion,
    entries: Mapping[str, Entries],
    form: type[Any],
    seen: Sight,
    options: JudgeOptions,
    use: Instruments,
) -> Score:
    values, told = await found_entries(own, entries, seen.inputs, use)
    answer = await use.judge.ask(seen.inputs.render(use.prompts[STEP], **seen.values, **values), form)
    (name,) = form.model_fields.keys() - {"reason"}
    said = getattr(answer, name)
    if said is None:
        raise NothingToJudge(answer.reason)
    details: dict[str, JsonValue] = {name if name != "score" else "rating": said}
    if told:
        details["shown"] = told
    return decided(
        worth(own, said), options, reason=answer.reason, details=details, minimize=own.direction == "minimize"
    )


def worth(own: Criterion, said: bool | float | str) -> float:
    """What a judgement on the criterion's scale is on 0 to 1."""
    if isinstance(own.scale, tuple):
        return next(category.score for category in own.scale if category.label == said)
    if own.range is None:
        return 1.0 if said else 0.0
    return (float(said) - own.range.low) / (own.range.high - own.range.low)
