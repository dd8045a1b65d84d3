"""`budget/…`: what answering took, against what it may take.

A budget is met up to and including its line: there the score is 0.5, just above it the case fails, at twice it the
score is 0. What was not recorded is inconclusive, never free.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, field_validator, model_serializer

from genkit_eval import DataPoint, Finding, Sample, Score
from genkit_eval.errors import DataError
from genkit_eval_heuristics.definition import Heuristic, Options, Thresholded, verdict

__all__ = [
    "EVALUATORS",
    "BudgetOptions",
    "CostEfficiencyOptions",
    "CostOptions",
    "LatencyOptions",
    "ModelCallsOptions",
    "TokensOptions",
    "efficiency",
    "left_of",
    "mean_efficiency",
]

Budget = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class BudgetOptions(Options):
    """A budget for all samples, for those that carry none of their own in `custom`."""

    @field_validator("*", mode="before")
    @classmethod
    def _is_given(cls, value: object) -> object:
        if value is None:
            raise ValueError("null is no budget: give a number above 0, or leave it out where every sample has its own")
        return value

    @model_serializer(mode="wrap")
    def _as_given(self, whole: SerializerFunctionWrapHandler) -> dict[str, object]:
        return {name: value for name, value in whole(self).items() if value is not None}


class LatencyOptions(BudgetOptions):
    """How long an answer may take."""

    budget_seconds: Budget | None = Field(default=None, description="How many seconds an answer may take.")


class CostOptions(BudgetOptions):
    """What an answer may cost."""

    budget_usd: Budget | None = Field(default=None, description="How many US dollars an answer may cost.")


class ModelCallsOptions(BudgetOptions):
    """How many calls of a model an answer may take."""

    budget_model_calls: Budget | None = Field(default=None, description="How many calls of a model it may take.")


class TokensOptions(BudgetOptions):
    """How many tokens an answer may take, and which ones count."""

    budget_tokens: Budget | None = Field(default=None, description="How many tokens an answer may take.")
    count: Literal["total", "input", "output"] = Field(default="total", description="Which tokens count.")


class CostEfficiencyOptions(Thresholded):
    """The budgets of the parts, and what becomes of a part that was not recorded."""

    budget_usd: Budget = Field(default=0.10, description="What an answer may cost, in US dollars.")
    budget_seconds: Budget = Field(default=30.0, description="How many seconds an answer may take.")
    budget_ratio: Budget = Field(default=2.0, description="How many output tokens there may be for an input token.")
    missing: Literal["leave_out", "one"] = Field(
        default="leave_out", description="A part that was not recorded is left out of the mean, or counts as 1."
    )


def left_of(budget: float, value: float) -> float:
    """max(0, 1 - value / (2 · budget)): 1 for nothing, 0.5 at the budget, 0 at twice it; higher is better.

    Source: Akka evalkit's latency budget.
    """
    return max(0.0, 1 - value / (2 * budget))


def efficiency(budget: float, value: float) -> float:
    """min(1, budget / value): 1 within the budget, 0.5 at twice it; higher is better. Source: TnsAI."""
    return 1.0 if value <= budget else budget / value


def mean_efficiency(parts: Sequence[Finding]) -> float:
    """The mean of the parts' efficiencies, at least one."""
    scores = [part.details["score"] for part in parts if part.details is not None]
    return float(sum(scores) / len(scores))


def _spent(value: float | None, what: str) -> float | None:
    if value is not None and value < 0:
        raise DataError(f"{what} is {value:g}: expected 0 or more")
    return value


def _against(options: BudgetOptions, name: str, value: float, unit: str) -> Score:
    budget = getattr(options, name)
    if budget is None:
        raise DataError(_lacking(name))
    within = value <= budget
    reason = f"{value:g} of {budget:g} {unit}" if within else f"{value:g} {unit}, over the budget of {budget:g}"
    make = Score.passed if within else Score.failed
    return make(left_of(budget, value), reason=reason)


def _lacking(name: str) -> str:
    return f"no budget was given: expected the option {name}, or custom.{name} of the sample"


def _check(name: str, _: Sample, options: BudgetOptions) -> str | None:
    return _lacking(name) if getattr(options, name) is None else None


def _latency(point: DataPoint, options: LatencyOptions) -> Score:
    value = _spent(point.latency, "latency")
    if value is None:
        return Score.inconclusive(reason="no latency was given")
    return _against(options, "budget_seconds", value, "seconds")


def _of_usage(point: DataPoint, name: str) -> float | None:
    return None if point.usage is None else _spent(getattr(point.usage, name), f"usage.{name}")


def _cost(point: DataPoint, options: CostOptions) -> Score:
    value = _of_usage(point, "cost_usd")
    if value is None:
        return Score.inconclusive(reason="the usage has no cost_usd")
    return _against(options, "budget_usd", value, "US dollars")


def _model_calls(point: DataPoint, options: ModelCallsOptions) -> Score:
    value = _of_usage(point, "model_calls")
    if value is None:
        return Score.inconclusive(reason="the usage has no model_calls")
    return _against(options, "budget_model_calls", value, "calls of a model")


def _tokens(point: DataPoint, options: TokensOptions) -> Score:
    names = ("input_tokens", "output_tokens") if options.count == "total" else (f"{options.count}_tokens",)
    total = 0.0
    for name in names:
        value = _of_usage(point, name)
        if value is None:
            # the other half alone would look cheap
            return Score.inconclusive(reason=f"the usage has no {name}")
        total += value
    unit = "tokens" if options.count == "total" else f"{options.count} tokens"
    return _against(options, "budget_tokens", total, unit)


def _cost_efficiency(point: DataPoint, options: CostEfficiencyOptions) -> Score:
    parts, lacking = [], []
    for name, value, budget in (
        ("cost", _of_usage(point, "cost_usd"), options.budget_usd),
        ("latency", _spent(point.latency, "latency"), options.budget_seconds),
        ("token ratio", _token_ratio(point), options.budget_ratio),
    ):
        if value is not None:
            parts.append(_part(name, value, budget))
            continue
        lacking.append(name)
        if options.missing == "one":
            parts.append(Finding.trusted({"text": name, "reason": "not recorded", "details": {"score": 1.0}}))
    if not parts:
        return Score.inconclusive(reason="neither cost nor latency nor tokens were recorded")
    reason = "; ".join(f"{part.text}: {part.reason}" for part in parts)
    if lacking and options.missing == "leave_out":
        reason += f"; not recorded: {', '.join(lacking)}"
    return verdict(mean_efficiency(parts), options, reason=reason, findings=parts)


def _token_ratio(point: DataPoint) -> float | None:
    into, out = _of_usage(point, "input_tokens"), _of_usage(point, "output_tokens")
    if into is None or out is None or into == out == 0:
        return None
    return out / into if into else float("inf")


def _part(name: str, value: float, budget: float) -> Finding:
    score, within = efficiency(budget, value), value <= budget
    reason = f"{value:.4g} of {budget:.4g}"
    return Finding.trusted({"text": name, "passed": within, "reason": reason, "details": {"score": score}})


def _budget(
    name: str,
    fn: Callable[[DataPoint, Any], Score],
    options: type[BudgetOptions],
    *,
    what: str,
    requires: str,
    akka: Sequence[str],
) -> Heuristic:
    [option] = [option for option in options.model_fields if option.startswith("budget_")]
    return Heuristic(
        name=f"budget/{name}",
        fn=fn,
        options=options,
        display_name=f"{name.replace('_', ' ').capitalize()} budget",
        definition=f"The answer took little of {what} it may take.",
        formula="max(0, 1 - value / (2 · budget)); PASS within the budget",
        source="Akka evalkit",
        kind="heuristic",
        requires=(requires,),
        custom=(option,),
        check=partial(_check, option),
        aliases={f"akka/{alias}": {} for alias in akka},
    )


EVALUATORS = (
    _budget(
        "latency", _latency, LatencyOptions, what="the time", requires="latency", akka=("LatencyBudget", "Latency")
    ),
    _budget("tokens", _tokens, TokensOptions, what="the tokens", requires="usage", akka=("TokenBudget",)),
    _budget(
        "model_calls",
        _model_calls,
        ModelCallsOptions,
        what="the model calls",
        requires="usage",
        akka=("ModelCallBudget",),
    ),
    _budget("cost", _cost, CostOptions, what="the money", requires="usage", akka=("Cost",)),
    Heuristic(
        name="budget/cost_efficiency",
        fn=_cost_efficiency,
        options=CostEfficiencyOptions,
        display_name="Cost efficiency",
        definition="Cost, latency and tokens written for tokens read stay within their budgets.",
        formula="mean of min(1, budget / value) over cost, latency and output / input tokens",
        source="TnsAI",
        kind="heuristic",
        reads=("usage", "latency"),
        custom=("budget_usd", "budget_seconds", "budget_ratio"),
        aliases={"tnsai/cost_efficiency": {"missing": "one"}},
    ),
)
"""The evaluators of this module."""
