"""The plugin's README says what its evaluators say about themselves."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest
from pydantic import JsonValue, ValidationError

from genkit_eval_heuristics.catalogue import HEURISTICS
from genkit_eval_heuristics.definition import Heuristic
from tests.plugins.heuristics.catalogue_table import README, catalogue_table
from tests.plugins.readme_table import with_table


def test_the_table_is_that_of_the_catalogue() -> None:
    text = README.read_text(encoding="utf-8")

    assert text == with_table(text, catalogue_table()), (
        "write it anew: python -m tests.plugins.heuristics.catalogue_table"
    )


@pytest.mark.parametrize("heuristic", HEURISTICS, ids=lambda heuristic: heuristic.name)
def test_an_evaluator_says_what_it_is(heuristic: Heuristic) -> None:
    assert re.fullmatch(r"(rule|heuristic|budget|retrieval)/[a-z][a-z0-9_]*", heuristic.name)
    for said in (heuristic.display_name, heuristic.definition, heuristic.formula, heuristic.source):
        assert said
        assert "\n" not in said
    assert all(name in heuristic.options.model_fields for name in heuristic.custom)
    assert all(info.description for info in heuristic.options.model_fields.values())


@pytest.mark.parametrize("heuristic", HEURISTICS, ids=lambda heuristic: heuristic.name)
def test_the_options_of_its_aliases_are_options_it_takes(heuristic: Heuristic) -> None:
    for alias, presets in heuristic.aliases.items():
        assert re.fullmatch(r"(tnsai|akka|scorable)/\w+", alias)
        assert set(presets) <= set(heuristic.options.model_fields)
        assert _wrong(heuristic, presets) == []


def _wrong(heuristic: Heuristic, presets: Mapping[str, JsonValue]) -> list[str]:
    """The presets that are no values for their options; what only a user can give may be lacking."""
    try:
        heuristic.options.model_validate(presets)
    except ValidationError as problem:
        return [str(error["loc"][0]) for error in problem.errors() if error["loc"] and error["type"] != "missing"]
    return []
