"""Each judge of the catalogue is itself: no two say, ask or show the same."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from itertools import combinations
from typing import Any

import pytest

from genkit_eval import GenkitEval, Outcome, Status
from genkit_eval_judges import judges
from genkit_eval_judges.catalogue import JUDGES
from genkit_eval_judges.recipe import Recipe, decided
from tests.plugins.judges.replies import statements

REGISTRY = GenkitEval(plugins=[judges()]).registry
PROMPTS: Mapping[str, Mapping[str, str]] = {recipe.name: REGISTRY.evaluator(recipe.name).prompts for recipe in JUDGES}
COMMON = 5
"""A sentence in so many prompts is of those that all need: that data are data, and what form the reply has."""


def sentences(text: str) -> set[str]:
    return {" ".join(part.split()) for part in re.split(r"(?<=[.:;?!])\s|\n", text) if len(part.split()) > 3}


def test_no_two_judges_share_a_prompt() -> None:
    texts = [text for prompts in PROMPTS.values() for text in prompts.values()]

    assert [text[:200] for text, count in Counter(texts).items() if count > 1] == []


def test_no_two_prompts_are_the_same_in_other_words() -> None:
    said = {(name, step): sentences(text) for name, prompts in PROMPTS.items() for step, text in prompts.items()}
    count = Counter(sentence for found in said.values() for sentence in found)
    own = {place: {item for item in found if count[item] < COMMON} for place, found in said.items()}

    alike = [
        (one, other, f"{len(own[one] & own[other])} of {len(own[one] | own[other])}")
        for one, other in combinations(own, 2)
        # a judge may rate the same on another scale
        if one[0] != other[0] and len(own[one] & own[other]) > 0.3 * min(len(own[one]), len(own[other]))
    ]
    assert alike == []


def test_no_two_judges_say_that_they_are_the_same() -> None:
    for what in ("name", "display_name", "definition"):
        values = Counter(getattr(recipe, what) for recipe in JUDGES)
        assert [value for value, number in values.items() if number > 1] == []


@pytest.mark.parametrize("recipe", JUDGES, ids=lambda recipe: recipe.name)
def test_a_judge_says_what_it_is(recipe: Recipe) -> None:
    assert re.fullmatch(r"(judge|quality)/[a-z][a-z0-9_]*", recipe.name)
    for said in (recipe.display_name, recipe.definition, recipe.formula, recipe.source, recipe.calls):
        assert said
        assert "\n" not in said
    assert all(info.description for info in recipe.options.model_fields.values())


@pytest.mark.parametrize("recipe", JUDGES, ids=lambda recipe: recipe.name)
def test_the_options_of_its_aliases_are_options_it_takes(recipe: Recipe) -> None:
    for alias, presets in recipe.aliases.items():
        assert re.fullmatch(r"(tnsai|akka|scorable)/\w+", alias)
        recipe.options.model_validate(presets)


@pytest.mark.parametrize("recipe", JUDGES, ids=lambda recipe: recipe.name)
def test_each_prompt_says_that_data_give_no_orders_and_asks_for_the_reason_first(recipe: Recipe) -> None:
    for text in PROMPTS[recipe.name].values():
        assert re.search(r"cannot give you instructions", text)
        replies = re.findall(r'^\{"[^\n]*\}$', text, re.MULTILINE)
        assert replies
        for reply in replies:
            first = min(
                (reply.find(f'"{word}"') for word in ("verdict", "rating", "label") if f'"{word}"' in reply), default=-1
            )
            assert first < 0 or 0 <= reply.find('"reason"') < first


@pytest.mark.parametrize("recipe", JUDGES, ids=lambda recipe: recipe.name)
def test_each_judge_may_give_neither_pass_nor_fail_or_go_by_bands(recipe: Recipe) -> None:
    neither, bands = recipe.options(threshold=None), recipe.options(bands=True)

    assert decided(0.0, neither, reason="").status is Status.UNKNOWN
    assert decided(0.5, bands, reason="").outcome is Outcome.UNDECIDED


@pytest.mark.anyio
@pytest.mark.parametrize(
    "name", [recipe.name for recipe in JUDGES if "on_empty" in recipe.options.model_fields], ids=lambda name: name
)
async def test_what_an_option_says_of_nothing_to_count_is_heeded(judged: Any, name: str) -> None:
    turns = [{"role": role, "content": "Hello!"} for role in ("user", "assistant", "user", "assistant")]
    point: dict[str, Any] = {"output": "!?", "reference": "Hm.", "context": ["A document."], "turns": turns}
    point |= {"plan": [], "tools": [], "tool_catalog": [{"name": "forecast"}]}
    if name == "judge/exchange_relevancy":
        point = {"turns": turns[:1]}

    metric, model = await judged(name, statements(), options={"on_empty": 0.25}, **point)

    assert metric.score == 0.25, metric.error or metric.rationale
    assert all("statements" in str(call.output.model_fields) for call in model.calls)
