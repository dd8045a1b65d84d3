"""Judges of plans and steps: `judge/plan_quality`, `judge/plan_adherence` and `judge/step_efficiency`."""

from __future__ import annotations

from pydantic import Field

from genkit_eval import Score
from genkit_eval.judged import Instruments, NothingToJudge
from genkit_eval.prompts import fenced
from genkit_eval_judges.inputs import INPUTS, Inputs
from genkit_eval_judges.rating import UNIT, ScaleOptions, as_it_is, rated, rated_on_scale
from genkit_eval_judges.recipe import Recipe

__all__ = ["JUDGES", "PlanOptions", "plan_adherence"]


class PlanOptions(ScaleOptions):
    """Where the plan stands."""

    instructions_are_plan: bool = Field(default=False, description="Where there is no plan, the instructions are it.")


async def plan_adherence(inputs: Inputs, options: PlanOptions, use: Instruments) -> Score:
    """How closely what was done keeps to the plan: from 1 to 5, or from 0 to 1 with the task beside it."""
    plan = INPUTS["plan"].text(inputs)
    if not plan.strip() and options.instructions_are_plan:
        plan = INPUTS["instructions"].text(inputs)
    if not plan.strip():
        raise NothingToJudge("there is no plan to judge by")
    if options.scale == "unit":
        inputs.require(("request", "steps"))
    elif not inputs.steps and not inputs.response.strip():
        raise NothingToJudge("there are neither steps nor an answer to judge")

    def places(_: Inputs) -> dict[str, str]:
        return {"plan": fenced(plan)}

    return await rated_on_scale(five=places, unit=places)(inputs, options, use)


JUDGES = (
    Recipe(
        name="judge/plan_quality",
        ask=rated(UNIT, to_unit=as_it_is),
        prompts={"rating": "plan_quality"},
        needs=("request", "plan"),
        reads=("tool_catalog",),
        display_name="Plan quality",
        definition="Carried out as it is, the plan does the task, with nothing missing and nothing superfluous.",
        formula="a rating from 0 to 1",
        source="Akka evalkit",
        calls="1",
        aliases={"akka/PlanQuality": {}},
    ),
    Recipe(
        name="judge/plan_adherence",
        ask=plan_adherence,
        prompts={"rating": "plan_adherence", "unit": "plan_adherence_unit"},
        needs=(),
        reads=("request", "plan", "instructions", "steps", "response"),
        options=PlanOptions,
        display_name="Plan adherence",
        definition="What was done is the plan, carried out. Needs a plan, and steps or an answer; with scale unit, a "
        "request, a plan and steps.",
        formula="(s - 1) / 4, of a rating from 1 to 5; with scale unit, a rating from 0 to 1",
        source="TnsAI, Akka evalkit",
        calls="1",
        aliases={
            "tnsai/plan_adherence": {"instructions_are_plan": True},
            "akka/PlanAdherence": {"scale": "unit"},
        },
    ),
    Recipe(
        name="judge/step_efficiency",
        ask=rated(UNIT, to_unit=as_it_is),
        prompts={"rating": "step_efficiency"},
        needs=("request", "steps"),
        display_name="Step efficiency",
        definition="The steps that were taken were needed for the task.",
        formula="a rating from 0 to 1",
        source="Akka evalkit",
        calls="1",
        aliases={"akka/StepEfficiency": {}},
    ),
)
