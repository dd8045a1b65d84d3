"""The schema of evaluators in files says what the reader does: an editor marks what would be refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from pydantic import ValidationError

from genkit_eval import ConfigError
from genkit_eval_judges import Criterion, GEval, Range
from genkit_eval_judges.criterion_prompt import criterion_prompt
from genkit_eval_judges.documents import document_schema, own_of
from tests.replacing import with_one_value_replaced

SCHEMA = jsonschema.Draft202012Validator(document_schema())
BARE: dict[str, Any] = {"name": "a", "intent": "i", "criterion": "c"}
NEAREST = {"dataset": "d", "by": "request", "k": 2, "version": 1, "show": ["input", "output"]}
WHOLE: list[dict[str, Any]] = [
    {
        **BARE,
        "kind": "criterion",
        "title": "t",
        "variables": ["response", "policy", {"name": "n", "meaning": "m", "required": False, "nearest": NEAREST}],
        "scale": [{"label": "a", "score": 1, "meaning": "m"}, {"label": "b", "score": 0}],
        "model": "openai/x",
        "parameters": {"t": 0, "s": ["a", None]},
        "threshold": 0.5,
        "direction": "minimize",
    },
    {**BARE, "scale": "binary", "anchors": {"low": "a", "high": "b"}},
    {**BARE, "scale": "continuous", "anchors": {"low": "a", "middle": "x", "high": "b"}},
    {**BARE, "scale": {"low": 1, "high": 5}, "demonstrations": [{"request": "q", "response": "r", "score": 3}]},
    {"kind": "geval", "name": "b", "criterion": "c", "steps": ["a", "b"], "weighting": "on", "variables": ["response"]},
]
PUT = [
    *(None, True, False, 0, 1, 2, -1, 0.5, 1.0, 3.7, 10**30, "", " ", "a", "no", "true", "1", "0.5", "x y", "1abc"),
    *("geval/x", "geval_x", "../a", "a//b", "é", "x" * 101, [], ["a"], ["response"], [1], {}, {"name": "response"}),
    *("binary", "criterion", "geval", "auto", "maximize", [{"label": "a", "score": 1}], {"low": 0, "high": 9}),
]
ONLY_THE_READER_TELLS = ("which is not on the scale", "listed twice", "the scale is empty", "labels that differ")


def changed(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The document with something else in one place, or without a key."""
    yield from with_one_value_replaced(document, PUT)
    for gone in document:
        yield {key: value for key, value in document.items() if key != gone}


def refusal(document: dict[str, Any]) -> str:
    try:
        own_of(document)
    except ConfigError as problem:
        return str(problem)
    return ""


@pytest.mark.parametrize("document", WHOLE, ids=lambda document: str(document.get("scale", "geval"))[:12])
def test_what_the_schema_takes_is_read_and_what_is_read_it_takes(document: dict[str, Any]) -> None:
    assert SCHEMA.is_valid(document)
    assert refusal(document) == ""

    for other in changed(document):
        refused = refusal(other)
        if not any(words in refused for words in ONLY_THE_READER_TELLS):
            assert SCHEMA.is_valid(other) == (not refused), (other, refused)


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"threshold": True}, "threshold: expected a number, found true"),
        ({"threshold": "0.5"}, "threshold: expected a number, found '0.5'"),
        ({"scale": {"low": False, "high": 2}}, "scale.low: expected a number, found false"),
        ({"scale": [{"label": "a", "score": "1"}, {"label": "b", "score": 0}]}, "scale[0].score: expected a number"),
        ({"variables": ["response", {"name": "p", "required": "no"}]}, "required: expected true or false, found 'no'"),
        ({"variables": ["response", {"name": "p", "nearest": {"dataset": "d", "k": True}}]}, "expected a whole number"),
        ({"model": ""}, "model: is empty"),
        ({"name": "x" * 101}, "name: expected at most 100 characters"),
    ],
)
def test_what_only_looks_like_a_value_is_refused(said: dict[str, Any], problem: str) -> None:
    assert problem in refusal({**BARE, **said})


def test_a_whole_number_may_be_written_with_a_point() -> None:
    nearest = {"dataset": "d", "k": 5.0}

    assert refusal({**BARE, "variables": ["response", {"name": "p", "nearest": nearest}]}) == ""


@pytest.mark.parametrize("name", ["refund-policy", "größe", "user.name", "1st", "x" * 61])
def test_what_is_spoken_of_by_an_impossible_name_is_refused(name: str) -> None:
    """Else the judge would read the braces, and see no such part."""
    said = refusal({**BARE, "criterion": f"{{{{response}}}} keeps to {{{{ {name} }}}}"})

    assert f"the text speaks of {{{{{name}}}}}: the name of a variable has at most 60 letters (a to z)" in said


@pytest.mark.parametrize(
    "said",
    [
        {"anchors": {"low": "It breaks {{policy}}."}},
        {"scale": [{"label": "a", "score": 1, "meaning": "as {{policy}} says"}, {"label": "b", "score": 0}]},
    ],
)
def test_what_anchors_and_meanings_speak_of_is_shown_too(said: dict[str, Any]) -> None:
    own = own_of({**BARE, **said})

    assert [variable.name for variable in own.shown] == ["policy", "response"]


def test_a_geval_has_a_name_after_its_prefix() -> None:
    with pytest.raises(ValidationError, match="expected a name after 'geval_'"):
        GEval(name="geval_", criterion="c")


def test_a_range_is_as_wide_as_numbers_can_tell() -> None:
    with pytest.raises(ValidationError, match="too wide"):
        Range(low=-1.7e308, high=1.7e308)


@pytest.mark.parametrize(
    ("scale", "said"),
    [
        (Range(low=0, high=1234567), "a number from 0 to 1234567;"),
        (Range(low=0.1, high=0.2), '"score": 0.15}'),
        (Range(low=1e308, high=1.7e308), '"score": 1.35e+308}'),
    ],
)
def test_the_judge_is_told_the_ends_and_the_middle_as_they_are(scale: Range, said: str) -> None:
    prompt = criterion_prompt(Criterion(name="a", intent="i", criterion="c", scale=scale))

    assert said in prompt.text
