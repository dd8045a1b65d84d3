"""Evaluators under attack: what they judge, and where somebody else may write."""

from __future__ import annotations

import json
from base64 import b64encode
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
    Criterion(name="by_policy", intent="The policy is kept to.", criterion="{{response}} keeps to {{policy}}."),
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
    "system_prompt": "You help guests of the hotel.",
    "custom": {"policy": "Be brief."},
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
    ("judge/tool_correctness", "tools/name"),
    ("judge/argument_correctness", "tools/arguments"),
    ("judge/task_alignment", "tools/error"),
    ("judge/plan_quality", "tool_catalog"),
    ("judge/knowledge_retention", "turns/role"),
    ("judge/turn_relevancy", "turns/pieces"),
    ("quality/helpfulness", "turns/pieces"),
    ("quality/confidentiality", "system_prompt"),
    ("judge/correctness", "attachments"),
    ("judge/faithfulness", "attachments"),
    ("judge/hallucination", "attachments/name"),
    ("by_policy", "custom"),
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
    point = POINT if place.startswith("turns") or "conversation" in evaluator else NO_TURNS
    fields = point if attack is None else {**point, **_placed(place, attack.value)}
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


def _placed(place: str, value: Any) -> dict[str, Any]:
    """The field with the attack in it."""
    field, _, inside = place.partition("/")
    match field:
        case "tools":
            return {field: [{**POINT[field][0], **_called(inside, value)}]}
        case "turns":
            return {field: [*POINT[field][:3], *_said(inside, value), POINT[field][3]]}
        case "tool_catalog":
            return {field: [*POINT[field], {"name": "map", "description": value}]}
        case "custom":
            return {field: {"policy": value}}
        case "attachments":
            return {field: [_attached(inside, json_text(value))]}
    whole = POINT[field]
    if isinstance(whole, list):
        # into the first document or step, as not all of them are shown to every judge
        return {field: [f"{whole[0]}\n\n{json_text(value)}", *whole[1:]]}
    # a goal is a text, whatever else may be JSON
    is_text = isinstance(value, str) or field in ("goal", "system_prompt")
    return {field: f"{whole}\n\n{json_text(value)}" if is_text else value}


def _called(inside: str, value: Any) -> dict[str, Any]:
    """What of a call of a tool is the attacker's: its name, arguments or error, or else what came back."""
    match inside:
        case "name" | "error":
            return {inside: json_text(value)}
        case "arguments":
            return {inside: {"what": value}}
    return {"output": value}


def _said(inside: str, value: Any) -> list[dict[str, Any]]:
    """Turns of the attacker: one whose role says it, several with a piece each, or what a tool gave."""
    match inside:
        case "role":
            return [{"role": json_text(value), "content": "Fine."}]
        case "pieces":
            words = json_text(value).split(" ")
            size = -(-len(words) // 3)
            pieces = [" ".join(words[start : start + size]) for start in range(0, len(words), size)]
            return [{"role": "user", "content": piece} for piece in pieces]
    return [{"role": "tool", "content": value, "toolCallId": "c1"}]


def _attached(inside: str, text: str) -> dict[str, str]:
    """A file that says it, in its text or by its name."""
    source = "<svg><text>behind the house</text></svg>" if inside == "name" else f"<svg><!-- {text} --></svg>"
    data = b64encode(source.encode(errors="replace")).decode()
    name = text if inside == "name" else "map"
    return {"url": f"data:image/svg+xml;base64,{data}", "name": f"{name}.svg"}
