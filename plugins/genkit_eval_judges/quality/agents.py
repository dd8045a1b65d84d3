"""What an agent does, thing by thing: the tools that it chose, the steps that it planned, the facts that it kept."""

from __future__ import annotations

import re
from collections.abc import Sequence

from genkit_eval import Score
from genkit_eval.claims import statements
from genkit_eval.judged import Instruments, NothingToJudge
from genkit_eval_judges.counting import CountOptions, nothing_counted
from genkit_eval_judges.inputs import INPUTS, Inputs
from genkit_eval_judges.quality.grading import Worths, grade, graded
from genkit_eval_judges.quality.rubric import scorable
from genkit_eval_judges.recipe import Recipe

__all__ = ["JUDGES", "knowledge_retention", "plan_steps", "planning_efficiency", "tool_selection"]

TOOL: Worths = {"right": 1, "second best": 0.5, "wrong": 0}
STEP: Worths = {"needed": 1, "roundabout": 0.5, "needless": 0}
FACT: Worths = {"lost": 0, "used": 1, "no occasion": None}

NO_CALL = "no tool was called"

_MARK = re.compile(r"^\s*(?:[-*•]|\(?\d+[.)])\s+")


async def tool_selection(inputs: Inputs, options: CountOptions, use: Instruments) -> Score:
    """The mean over the calls of tools: the right tool 1, one that will do 0.5, a wrong one 0."""
    if not inputs.calls:
        return nothing_counted(options, NO_CALL)
    shown = inputs.shown(("request", "turns", "tool_catalog"))
    found = await grade(use.judge, use.prompts["grades"], inputs.calls, TOOL, shown=shown, in_order=True)
    return graded(found, TOOL, options, what="choices of tools", nothing=NO_CALL)


async def planning_efficiency(inputs: Inputs, options: CountOptions, use: Instruments) -> Score:
    """The mean over the steps planned (else, those taken): needed 1, roundabout 0.5, needless 0."""
    steps = plan_steps(inputs)
    if not steps:
        return nothing_counted(options, "there is no step: the plan has none, or without a plan none was taken")
    shown = inputs.shown(("request", "goal", "instructions", "tool_catalog"))
    found = await grade(use.judge, use.prompts["grades"], steps, STEP, shown=shown, in_order=True)
    return graded(found, STEP, options, what="steps", nothing="there is no step")


def plan_steps(inputs: Inputs) -> Sequence[str]:
    """The steps of the plan, one a line where it is a text; without a plan, what the agent did."""
    plan = inputs.point.plan
    if plan is None:
        return [step for step in inputs.steps if step.strip()]
    lines = plan.splitlines() if isinstance(plan, str) else plan
    return [step for line in lines if (step := _MARK.sub("", line).strip())]


async def knowledge_retention(inputs: Inputs, options: CountOptions, use: Instruments) -> Score:
    """The share of the facts told that were used, of those for which a later reply had occasion."""
    answered = [exchange for exchange in inputs.exchanges if exchange.answer]
    if len(answered) < 2:
        raise NothingToJudge("there are not two exchanges: no later reply could have kept anything in mind")
    facts = await statements(use.judge, use.prompts["statements"], {"turns": INPUTS["turns"].text(inputs)})
    if not facts:
        return nothing_counted(options, "the user told nothing that could be kept in mind")
    found = await grade(use.judge, use.prompts["grades"], facts, FACT, shown=inputs.shown(("turns",)))
    return graded(found, FACT, options, what="facts told", nothing="no reply had occasion for what had been told")


JUDGES = (
    Recipe(
        name="quality/tool_selection",
        ask=tool_selection,
        prompts={"grades": "quality_tool_selection"},
        needs=("request", "tool_catalog"),
        reads=("tools", "turns"),
        options=CountOptions,
        display_name="Tool selection",
        definition="Each tool that was called is the one of the catalogue to reach for. A tool that should have been "
        "called and was not is not counted.",
        formula="mean over calls: right 1, second best 0.5, wrong 0",
        source="Scorable",
        calls="1 for every 20 calls of tools",
        aliases=scorable("Tool Selection"),
    ),
    Recipe(
        name="quality/planning_efficiency",
        ask=planning_efficiency,
        prompts={"grades": "quality_planning_efficiency"},
        needs=("request",),
        reads=("plan", "steps", "goal", "instructions", "tool_catalog"),
        options=CountOptions,
        display_name="Planning efficiency",
        definition="No step of the plan could be spared or shortened. Without a plan, the steps taken are judged.",
        formula="mean over steps: needed 1, roundabout 0.5, needless 0",
        source="Scorable",
        calls="1 for every 20 steps",
        aliases=scorable("Planning Efficiency"),
    ),
    Recipe(
        name="quality/knowledge_retention",
        ask=knowledge_retention,
        prompts={"statements": "quality_knowledge_retention_facts", "grades": "quality_knowledge_retention_grades"},
        needs=("turns",),
        options=CountOptions,
        display_name="Knowledge retention, by use",
        definition="What the user told is put to use wherever a later reply has occasion for it. Needs two exchanges.",
        formula="facts used / facts for which a later reply had occasion",
        source="Scorable",
        calls="1 + 1 for every 20 facts",
        aliases=scorable("Knowledge Retention"),
    ),
)
