"""`evaluator show`: what its options take, in the words and the form of the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field

from genkit_eval.cli.option_lines import option_lines, taken_by
from genkit_eval.loading import app_of_plugins, installed_plugins
from genkit_eval.report.lines import rendered
from tests.cli.conftest import CommandLine


class Options(BaseModel):
    share: float = Field(default=0.5, ge=0, le=1)
    above: float = Field(default=1.0, gt=0)
    count: int | None = Field(default=None, ge=1)
    strict: bool = False
    match: Literal["anywhere", "in_order"] = "anywhere"
    most: Literal["all"] = "all"
    names: Sequence[Annotated[str, Field(min_length=1)]] = ()
    kinds: tuple[Literal["a", "b"], ...] = ("a",)
    grades: Mapping[str, Annotated[float, Field(ge=0)]] | None = None
    schema_: Mapping[str, object] | None = None
    inner: Inner | None = None
    anything: object = None


class Inner(BaseModel):
    size: int = 1


Options.model_rebuild()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("share", "number, 0 to 1"),
        ("above", "number, above 0"),
        ("count", "whole number, at least 1"),
        ("strict", "true or false"),
        ("match", "anywhere or in_order"),
        ("most", "all"),
        ("names", "list: text"),
        ("kinds", "list: a or b"),
        ("grades", "object: number, at least 0"),
        ("schema_", "object"),
        ("inner", "object"),
        ("anything", "any value"),
    ],
)
def test_what_an_option_takes_is_said_in_words(name: str, words: str) -> None:
    schema = Options.model_json_schema()

    assert taken_by(schema["properties"][name], schema["$defs"]) == words


def test_everything_about_an_option_is_shown_whole(genkit_eval: CommandLine) -> None:
    shown = genkit_eval("evaluator", "show", "rule/tool_correctness").out

    assert max(map(len, shown.splitlines())) <= 80
    assert "formula    credit of the expected calls / expected calls" in shown
    assert "source     Akka evalkit\n" in shown
    assert "  match=anywhere  anywhere or in_order or exactly\n" in shown
    assert "in the expected order, others may come between; exactly: the same calls" in " ".join(shown.split())
    assert "  strict=false  true or false\n" in shown


def test_what_a_sample_may_say_itself_is_marked(genkit_eval: CommandLine) -> None:
    shown = genkit_eval("evaluator", "show", "rule/tool_permission").out

    assert "  allow=[]  list: text; a sample may carry its own in custom.allow\n" in shown
    assert "  strict=false  true or false\n" in shown


def test_a_default_is_written_as_the_command_line_takes_it(genkit_eval: CommandLine) -> None:
    shown = genkit_eval("evaluator", "show", "heuristic/number_within").out

    assert "  relative=1e-09  number, at least 0" in shown
    assert "  decimal=point  point or comma\n" in shown


def test_every_evaluator_there_is_can_be_explained() -> None:
    ge, _ = app_of_plugins(installed_plugins(), root=None)

    for evaluator in ge.registry.evaluators.values():
        shown = "\n".join(rendered(option_lines(evaluator, 80), colour=False))
        assert "Undefined" not in shown
        assert "any value" not in shown.replace("object: any value", "")
