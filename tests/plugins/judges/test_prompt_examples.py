"""The examples in prompts are replies of the form that the prompt asks for: a judge does as they do."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from pydantic import BaseModel, JsonValue

from genkit_eval import GenkitEval, Message, Reply
from genkit_eval.testing import data_point
from genkit_eval.testing.forms import reply_in_form
from genkit_eval_judges import judges
from genkit_eval_judges.catalogue import JUDGES
from genkit_eval_judges.recipe import Recipe

EXAMPLE = re.compile(r'^Example\n((?:.+\n)+?)(\{".*\})$', re.MULTILINE)
THINGS = re.compile(
    "^(?:Claims|Statements|Pieces|Markers|Facts|Documents|Exchanges|Calls|Assertions|Sentences|Points|Steps): (.*)$",
    re.MULTILINE,
)
NUMBER = re.compile(r'(?:^|(?<=[.:?!\]")>} ]))(\d+)\. (?=[A-Za-z\["])')
TURNS = [{"role": role, "content": "Hello!"} for role in ("user", "assistant", "user", "assistant")]
WHOLE: Mapping[str, Any] = {
    "output": "At seven [1].",
    "reference": "At seven.",
    "context": ["From 7."],
    "turns": TURNS,
    "tools": [{"name": "hours"}],
    "tool_catalog": [{"name": "hours"}],
    "plan": ["Look."],
    "goal": "The hours are known.",
}


class InForm:
    """A model that replies in the form asked for, and remembers which form each prompt asks for."""

    name = "in form"

    def __init__(self) -> None:
        self.forms: dict[str, type[BaseModel]] = {}

    async def generate(
        self,
        messages: Sequence[Message],
        *,
        output: type[BaseModel] | None = None,
        config: Mapping[str, JsonValue] | None = None,
    ) -> Reply:
        """A reply in that form."""
        assert output is not None
        self.forms[messages[0].content] = output
        return Reply(text=reply_in_form(messages, output), finish_reason="stop")


async def forms_of(recipe: Recipe) -> Mapping[str, type[BaseModel]]:
    """The instructions of each of its prompts, with the form of the reply."""
    model = InForm()
    ge = GenkitEval(plugins=[judges(judge=model)])
    unit = [{"scale": "unit"}] if "scale" in recipe.options.model_fields else []
    for options in ({}, *unit):
        for context in (["From 7."], []):
            await ge.score(data_point(**{**WHOLE, "context": context}), ge.ref(recipe.name, **options))
    return model.forms


@pytest.mark.anyio
@pytest.mark.parametrize("recipe", JUDGES, ids=lambda recipe: recipe.name)
async def test_a_prompt_has_examples_in_the_form_that_it_asks_for(recipe: Recipe) -> None:
    forms = await forms_of(recipe)

    assert len(forms) == len(recipe.prompts)
    for text, form in forms.items():
        examples = EXAMPLE.findall(text)
        assert len(examples) >= 2
        for given, reply in examples:
            name, said = next(iter(json.loads(reply).items()))
            items = said if name in ("verdicts", "ratings", "grades") else []
            # the form is that of a case with fewer things
            for item in items:
                form.model_validate({name: [{**item, "number": 1}]})
            if items:
                things = NUMBER.findall(THINGS.findall(given)[0])
                assert [item["number"] for item in items] == [int(number) for number in things]
            else:
                form.model_validate_json(reply)
