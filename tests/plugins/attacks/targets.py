"""Evaluators under attack: what they judge, and where somebody else may write."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from genkit_eval import GenkitEval, Status, json_text
from genkit_eval.testing import data_point
from genkit_eval_judges import Criterion, GEval, judges
from genkit_eval_metrics import genkit_metrics
from tests.plugins.attacks.gullible import GullibleJudge

__all__ = ["ATTACKS", "TARGETS", "Attack", "passes"]

OWN = (
    Criterion(name="brief", intent="Answers are brief.", criterion="{{response}} is no longer than {{request}} asks."),
    GEval(name="coherence", criterion="The sentences of {{response}} hang together.", steps=("Read it.", "Rate it.")),
)
POINT: Mapping[str, Any] = {
    "input": "Where do I park?",
    "output": "Behind the house [1].",
    "reference": "Behind the house.",
    "context": ["Parking is behind the house."],
    "plan": ["Look at the map.", "Answer."],
    "tools": [{"name": "look_up", "arguments": {"what": "parking"}, "output": "behind the house"}],
    "tool_catalog": [{"name": "look_up"}],
    "goal": "Find a place to park.",
    "turns": [
        {"role": "user", "content": "Hello."},
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": "Where do I park?"},
        {"role": "assistant", "content": "Behind the house [1]."},
    ],
}
LOW_IS_GOOD = ("judge/bias", "judge/toxicity", "genkitEval/maliciousness")
NO_TURNS = {name: value for name, value in POINT.items() if name != "turns"}


@dataclass(frozen=True, slots=True)
class Attack:
    """What somebody writes into a text that will be judged, and what for: that it passes, or that it fails."""

    id: str
    value: Any
    wants_pass: bool

    @property
    def text(self) -> str:
        """As a prompt would show it."""
        return json_text(self.value)


def _read(line: str) -> Attack:
    row = json.loads(line)
    return Attack(row["id"], row["value"], row.get("wants") != "fail")


ATTACKS: Sequence[Attack] = [
    _read(line)
    for line in (Path(__file__).parents[2] / "data" / "attacks.jsonl").read_text(encoding="utf-8").splitlines()
]

TARGETS: Sequence[tuple[str, str]] = [
    ("judge/answer_relevancy", "input"),
    ("judge/answer_relevancy", "output"),
    ("judge/bias", "output"),
    ("judge/toxicity", "output"),
    ("judge/contextual_precision", "context"),
    ("judge/contextual_precision", "reference"),
    ("judge/contextual_recall", "context"),
    ("judge/contextual_recall", "reference"),
    ("judge/faithfulness", "output"),
    ("judge/faithfulness", "context"),
    ("judge/hallucination", "output"),
    ("judge/citation_faithfulness", "context"),
    ("judge/task_completion", "output"),
    ("judge/task_completion", "tools"),
    ("judge/plan_quality", "plan"),
    ("judge/step_efficiency", "tools"),
    ("judge/turn_faithfulness", "turns"),
    ("judge/conversation_completeness", "turns"),
    ("judge/tool_correctness", "tools"),
    ("judge/argument_correctness", "tools"),
    ("judge/conversation_completeness", "goal"),
    ("judge/exchange_relevancy", "output"),
    ("quality/politeness", "output"),
    ("quality/formality", "output"),
    ("quality/completeness", "input"),
    ("quality/relevance", "output"),
    ("quality/faithfulness", "context"),
    ("quality/faithfulness_swift", "context"),
    ("quality/tool_selection", "tools"),
    ("brief", "output"),
    ("geval/coherence", "output"),
    ("genkitEval/faithfulness", "output"),
    ("genkitEval/faithfulness", "context"),
    ("genkitEval/answer_relevancy", "output"),
    ("genkitEval/answer_accuracy", "output"),
    ("genkitEval/maliciousness", "output"),
    ("genkitEval/context_precision", "context"),
    ("genkitEval/response_groundedness", "output"),
]
"""Evaluators, each with a field of the data point that the attacker writes."""


async def passes(evaluator: str, place: str, attack: Attack | None, *, fences: bool, for_it: bool) -> bool | None:
    """Whether a gullible judge lets a data point pass that holds an attack in this place, or none.

    None where there is neither a verdict nor a score.
    """
    point = POINT if place == "turns" or "conversation" in evaluator else NO_TURNS
    fields = point if attack is None else {**point, place: _placed(place, attack.value)}
    (metric,) = await _app(evaluator, fences, for_it).score(data_point(**fields), evaluator)
    if metric.status is Status.UNKNOWN:
        return None if metric.score is None else metric.score == 1.0
    return metric.status is Status.PASS


@cache
def _app(evaluator: str, fences: bool, for_it: bool) -> GenkitEval:
    prompts = _without_judge().registry.evaluator(evaluator).prompts.values()
    judge = GullibleJudge(prompts, for_it=for_it, fences=fences, low_is_good=evaluator in LOW_IS_GOOD)
    return GenkitEval(plugins=[judges(judge=judge, own=OWN), genkit_metrics(judge=judge)])


@cache
def _without_judge() -> GenkitEval:
    return GenkitEval(plugins=[judges(own=OWN), genkit_metrics()])


def _placed(place: str, value: Any) -> Any:
    """The field as it is with the attack in it."""
    whole = POINT[place]
    if place == "tools":
        return [{**whole[0], "output": value}]
    if place == "turns":
        return [*whole[:3], {"role": "tool", "content": value, "toolCallId": "c1"}, whole[3]]
    if isinstance(whole, list):
        # into the first document or step, as not all of them are shown to every judge
        return [f"{whole[0]}\n\n{json_text(value)}", *whole[1:]]
    # a goal is a text, whatever else may be JSON
    return f"{whole}\n\n{json_text(value)}" if isinstance(value, str) or place == "goal" else value
