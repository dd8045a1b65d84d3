"""G-Eval: a judge follows the steps of a criterion and rates from 1 to 5.

Source: Liu et al. 2023, "G-Eval: NLG Evaluation using GPT-4 with Better Human Alignment". There the score is the sum of
p(s) x s over the scale; p is that of the rating's token among those that the server names, scaled to sum to 1.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from typing import Annotated

from pydantic import AfterValidator, JsonValue

from genkit_eval import Judge, JudgeError, Prompt, Score
from genkit_eval.answers import Rating
from genkit_eval.claims import numbered
from genkit_eval.judged import Answer, Instruments, JudgedMetric, NothingToJudge
from genkit_eval.model_calls import settle
from genkit_eval_judges.criterion import GEval
from genkit_eval_judges.criterion_prompt import own_prompt, spoken
from genkit_eval_judges.nearest import Entries, found_entries
from genkit_eval_judges.own_judge import Sight, bound_to_entries, fields_of, identity_of, options_of, read_own
from genkit_eval_judges.rating import from_five
from genkit_eval_judges.recipe import MEAN, PROMPTS, JudgeOptions, decided
from genkit_eval_judges.token_weights import rating_weights

__all__ = ["generated_steps", "geval_metric", "steps_key"]

FORMULA = "1"
"""To be raised whenever the same replies may come to another score."""
STEP = "rating"
SCALE = (1, 2, 3, 4, 5)
AS_RATED, WEIGHTED = "as rated", "weighted by token probabilities"
ASKED_FOR: Mapping[str, JsonValue] = {"logprobs": True, "top_logprobs": 5}


def _some(steps: list[str]) -> list[str]:
    if len(steps) < 2 or not all(step.strip() for step in steps):
        raise ValueError("expected three to seven steps")
    return steps


class _Steps(Answer):
    steps: Annotated[list[str], AfterValidator(_some)]


class _Rated(Answer):
    reason: str = ""
    rating: Annotated[int | None, Rating(*SCALE)]


def geval_metric(own: GEval) -> JudgedMetric:
    """The metric that the core defines; its steps are there."""
    return bound_to_entries(own, partial(_metric, own))


def _metric(own: GEval, entries: Mapping[str, Entries]) -> JudgedMetric:
    steps = numbered([spoken(step) for step in own.steps])
    return JudgedMetric(
        name=own.evaluator,
        read=partial(read_own, own),
        score=partial(_score, own, entries),
        options=options_of(own),
        prompts={STEP: own_prompt(own, "geval", {"criterion": spoken(own.criterion), "steps": steps})},
        reads=fields_of(own),
        display_name=own.title or own.evaluator,
        definition=" ".join(own.criterion.split()),
        formula=f"geval{FORMULA}-{identity_of(own)}",
        check=partial(_check, own),
        decide=partial(decided, reason=MEAN),
        metadata={"calls": "1", "formula": "(s - 1) / 4"},
    )


def _check(own: GEval, options: JudgeOptions, use: Instruments) -> str | None:
    """Why ratings could not be weighted as they are to be, whatever the server gives."""
    silent = [judge.name for judge in use.judges if not _asks_for_weights(judge)]
    if own.weighting != "on" or not silent:
        return None
    return f"weighting is 'on', and the parameters of {', '.join(silent)} switch logprobs off: leave one of the two out"


def _asks_for_weights(judge: Judge) -> bool:
    return bool((judge.config or {}).get("logprobs", True))


async def generated_steps(own: GEval, judge: Judge) -> Sequence[str]:
    """The steps that a judge makes of the criterion, by one call."""
    answer = await judge.ask(_steps_prompt().render(_asked(own)), _Steps)
    # a place that the judge made up is none, and would be asked for of every case
    return [" ".join(spoken(step).split()) for step in answer.steps]


def steps_key(own: GEval) -> str:
    """What the steps are kept under: they depend on the words of the criterion and what the judge will see."""
    asked = "\n".join((_steps_prompt().digest, *_asked(own).values()))
    name = re.sub(r"[^A-Za-z0-9_-]+", ".", own.evaluator)
    return f"{name}-{blake2b(asked.encode(), digest_size=6).hexdigest()}"


def _steps_prompt() -> Prompt:
    return Prompt.load(PROMPTS / "geval_steps.prompt")


def _asked(own: GEval) -> dict[str, str]:
    parts = [f"[{item.name}]" + (f" ({item.meaning})" if item.meaning else "") for item in own.shown]
    return {"criterion": spoken(own.criterion), "parts": ", ".join(parts)}


async def _score(
    own: GEval,
    entries: Mapping[str, Entries],
    seen: Sight,
    options: JudgeOptions,
    use: Instruments,
) -> Score:
    judge = use.judge
    if own.weighting != "off" and _asks_for_weights(judge):
        judge = replace(judge, config={**ASKED_FOR, **(judge.config or {})})
    values, told = await found_entries(own, entries, seen.inputs, use)
    messages = seen.inputs.render(use.prompts[STEP], **seen.values, **values)
    answer, reply = await judge.ask_whole(messages, _Rated)
    if answer.rating is None:
        raise NothingToJudge(answer.reason)
    weights = rating_weights(reply, answer.rating, SCALE)
    raw, details = _rated(answer.rating, weights if _is_weighted(own, judge.name, weights) else None)
    if told:
        details["shown"] = told
    return decided(from_five(raw), options, reason=answer.reason, details=details)


def _is_weighted(own: GEval, judge: str, weights: Mapping[int, float] | None) -> bool:
    """Whether ratings count as weighted: said, or told by the judge's first reply of a run, as they are two rulers.

    Raises:
        JudgeError: they do, and this reply shows no probabilities.
    """
    form = WEIGHTED if own.weighting == "on" else AS_RATED
    if own.weighting == "auto":
        form = str(settle(f"{own.evaluator} by {judge}", AS_RATED if weights is None else WEIGHTED))
    if form == WEIGHTED and weights is None:
        raise JudgeError(
            "the reply shows no probabilities of its rating, by which the others are weighted: set weighting to "
            "'off' if the server does not give them always"
        )
    return form == WEIGHTED


def _rated(rating: int, weights: Mapping[int, float] | None) -> tuple[float, dict[str, JsonValue]]:
    """The rating that counts, and how it came about."""
    details: dict[str, JsonValue] = {"rating": rating}
    raw: float = rating
    if weights is not None:
        raw = math.fsum(number * share for number, share in weights.items())
        details["probabilities"] = {str(number): share for number, share in weights.items()}
    details |= {
        "raw_score": raw,
        "normalized_score": from_five(raw),
        "form": AS_RATED if weights is None else WEIGHTED,
    }
    return raw, details
