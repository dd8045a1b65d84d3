"""Judges of what came of a task: `judge/task_completion`, `judge/task_alignment` and `judge/correctness`."""

from __future__ import annotations

from collections.abc import Mapping

from genkit_eval.judged import NONE, NothingToJudge
from genkit_eval.prompts import fenced
from genkit_eval_judges.inputs import INPUTS, Inputs
from genkit_eval_judges.rating import UNIT, ScaleOptions, as_it_is, rated, rated_on_scale
from genkit_eval_judges.recipe import Recipe

__all__ = ["JUDGES", "expected", "expected_or_task"]


def expected(inputs: Inputs) -> Mapping[str, str]:
    """What the work is held against: the reference, else the instructions."""
    for name in ("reference", "instructions"):
        text = INPUTS[name].text(inputs)
        if text.strip():
            return {"expected": fenced(text)}
    raise NothingToJudge("there are neither a reference nor instructions to judge by")


def expected_or_task(inputs: Inputs) -> Mapping[str, str]:
    """What the work is held against, else the task by itself."""
    try:
        return expected(inputs)
    except NothingToJudge:
        inputs.require(("request",))
        return {"expected": NONE}


JUDGES = (
    Recipe(
        name="judge/task_completion",
        ask=rated_on_scale(five=expected, unit=expected_or_task),
        prompts={"rating": "task_completion", "unit": "task_completion_unit"},
        needs=("response",),
        reads=("request", "reference", "instructions", "tools"),
        options=ScaleOptions,
        display_name="Task completion",
        definition="The work delivers what was expected: the reference, or else the instructions; with scale unit, or "
        "else the task.",
        formula="(s - 1) / 4, of a rating from 1 to 5; with scale unit, a rating from 0 to 1",
        source="TnsAI",
        calls="1",
        aliases={"tnsai/task_completion": {}},
    ),
    Recipe(
        name="judge/task_alignment",
        ask=rated(UNIT, to_unit=as_it_is),
        prompts={"rating": "task_alignment"},
        needs=("request", "response"),
        reads=("steps",),
        display_name="Task alignment",
        definition="What was done and answered achieves what the user was after, as the task alone shows it.",
        formula="a rating from 0 to 1",
        source="Akka evalkit",
        calls="1",
        aliases={"akka/TaskCompletion": {}},
    ),
    Recipe(
        name="judge/correctness",
        ask=rated(UNIT, to_unit=as_it_is),
        prompts={"rating": "correctness"},
        needs=("response", "reference"),
        reads=("request",),
        display_name="Correctness",
        definition="The answer states what the reference states, and nothing against it.",
        formula="a rating from 0 to 1",
        source="Akka evalkit",
        calls="1",
        aliases={"akka/Correctness": {}},
    ),
)
