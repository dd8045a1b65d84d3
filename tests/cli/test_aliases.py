"""Other names of evaluators, on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine

APP = """
from genkit_eval import DataPoint, GenkitEval
from pydantic import BaseModel

class Options(BaseModel):
    most: int = 3

ge = GenkitEval()

@ge.define_evaluator("my/short")
def short(point: DataPoint, options: Options) -> bool:
    return len(point.output) <= options.most

ge.define_alias("other/Short", "my/short", most=5)
"""


@pytest.fixture
def app(genkit_eval: CommandLine) -> str:
    Path("aliased.py").write_text(APP, encoding="utf-8")
    Path("aliased.json").write_text('[{"input": 1, "output": "four"}]', encoding="utf-8")
    return "aliased.py:ge"


def test_aliases_are_listed_under_their_evaluator(genkit_eval: CommandLine, app: str) -> None:
    listed = genkit_eval("evaluator", "list", "--app", app)
    documents = genkit_eval("evaluator", "list", "--app", app, "--json").json["evaluators"]

    assert "also other/Short" in listed.out
    assert [(item["name"], item["aliasOf"], item["presets"]) for item in documents] == [
        ("my/short", None, {}),
        ("route", None, {}),
        ("other/Short", "my/short", {"most": 5}),
    ]


def test_an_alias_is_shown_with_its_presets(genkit_eval: CommandLine, app: str) -> None:
    shown = genkit_eval("evaluator", "show", "other/Short", "--app", app).out

    assert "alias of   my/short\n" in shown
    assert "most=5  whole number\n" in shown


def test_a_run_keeps_what_is_judged_by_an_alias_under_its_name(genkit_eval: CommandLine, app: str) -> None:
    done = genkit_eval("run", "aliased.json", "--app", app, "-e", "other/Short", "-e", "my/short", "--json").json

    own, other = done["key"]["evaluators"]
    assert (own["evaluator"], own["options"]) == ("/evaluator/other/Short", {"most": 5})
    assert (other["evaluator"], other["options"]) == ("/evaluator/my/short", {"most": 3})
    assert own["version"] != other["version"]
