"""A G-Eval without steps, and what a judge replies who is asked for some."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from genkit_eval import GenkitEval
from genkit_eval.testing import Call, ScriptedModel
from genkit_eval_judges import GEval, judges

__all__ = ["CRITERION", "FIRST", "GIVEN", "OTHER", "asks_for_steps", "judging"]

CRITERION = "The sentences of {{response}} build on each other."
FIRST = {"steps": ["Read [response] once.", "Look at links between sentences.", "Rate from 1 to 5."]}
GIVEN = {"output": "It rained. So the game was off."}
OTHER = {"steps": ["Read.", "Rate."]}


def judging(replies: Any, root: Path, **said: Any) -> tuple[GenkitEval, ScriptedModel]:
    """An app with one G-Eval without steps, and the model that is asked."""
    model = ScriptedModel(replies)
    own = GEval(**{"name": "coherence", "criterion": CRITERION, **said})
    return GenkitEval(plugins=[judges(judge=model, own=[own])], root=root), model


def asks_for_steps(call: Call) -> bool:
    """Whether a call of the server is the one before the first case."""
    return "steps" in str(call.body["response_format"])
