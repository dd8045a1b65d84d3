"""Each judge is shown the parts of a case that its row in the README says, no others, and nothing where one lacks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from pydantic import BaseModel, JsonValue

from genkit_eval import GenkitEval, Message, Outcome, Reply
from genkit_eval.testing import ScriptedModel, data_point
from genkit_eval.testing.forms import reply_in_form
from genkit_eval_judges import judges
from genkit_eval_judges.catalogue import JUDGES
from genkit_eval_judges.recipe import Recipe
from tests.plugins.judges.whole_case import CASE

OTHERWISE: dict[str, Any] = {"scale": "unit", "instructions_are_plan": True}
"""Options by which a judge is shown other parts."""
ALWAYS = {"system_prompt"}
"""What stands beside a request, a conversation or steps, whatever the prompt has places for."""


class Reader:
    """A judge that answers in the form asked for, and remembers the parts of a case that it was shown."""

    name = "reader"

    def __init__(self) -> None:
        self.seen: set[str] = set()

    async def generate(
        self,
        messages: Sequence[Message],
        *,
        output: type[BaseModel] | None = None,
        config: Mapping[str, JsonValue] | None = None,
    ) -> Reply:
        """A reply in that form."""
        for message in messages:
            self.seen.update(re.findall(r"Part:(\w+)", message.content))
        return Reply(text=reply_in_form(messages, output), finish_reason="stop")


@pytest.mark.anyio
@pytest.mark.parametrize("recipe", JUDGES, ids=lambda recipe: recipe.name)
async def test_a_judge_is_shown_what_its_row_says(recipe: Recipe) -> None:
    reader = Reader()
    ge = GenkitEval(plugins=[judges(judge=reader)])
    known = recipe.options.model_fields
    options = [{}, *({name: value} for name, value in OTHERWISE.items() if name in known)]

    # a part may stand in for another that is not there
    for without in ("", "turns", "plan", "reference"):
        for given in options:
            case = {name: value for name, value in CASE.items() if name != without}
            (metric,) = await ge.score(data_point(**case), ge.ref(recipe.name, **given))
            assert metric.error is None

    declared = {"tools" if part == "steps" else part for part in (*recipe.needs, *recipe.reads)}
    assert reader.seen - ALWAYS == declared - ALWAYS


BLANK: dict[str, Sequence[dict[str, Any]]] = {
    "request": [{"input": text, "turns": []} for text in ("", " \n", None)],
    "response": [{"output": text, "turns": []} for text in ("", " \n", None)],
    "reference": [{"reference": text} for text in ("", " \n", None)],
    "context": [{"context": documents} for documents in ([], ["", " \n"])],
    "turns": [
        {"output": "", "turns": turns}
        for turns in ([], [{"role": "user", "content": " "}, {"role": "assistant", "content": ""}])
    ],
    "steps": [
        {"tools": [], "output": "", "turns": turns}
        for turns in ([], [{"role": "user", "content": "Go."}, {"role": "assistant", "content": " "}])
    ],
    "tool_catalog": [{"tool_catalog": []}],
    "plan": [{"plan": plan} for plan in ("", " \n", [], ["", " "])],
    "goal": [{"goal": text} for text in ("", " ")],
}
"""Cases that lack a part."""
NEEDS = [(recipe, need) for recipe in JUDGES for need in recipe.needs]


@pytest.mark.anyio
@pytest.mark.parametrize(("recipe", "need"), NEEDS, ids=lambda value: getattr(value, "name", value))
async def test_without_what_it_needs_a_case_is_inconclusive_and_costs_no_call(recipe: Recipe, need: str) -> None:
    model = ScriptedModel([])
    ge = GenkitEval(plugins=[judges(judge=model)])

    for lacking in BLANK[need]:
        (metric,) = await ge.score(data_point(**{**CASE, **lacking}), recipe.name)
        assert (lacking, metric.outcome) == (lacking, Outcome.INCONCLUSIVE), metric.error
    assert model.calls == []
