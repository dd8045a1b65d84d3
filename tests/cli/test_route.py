"""`--route`: one evaluator settles each case, and the report says which one decided how many."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine

APP = """
from genkit_eval import GenkitEval
from genkit_eval_heuristics import heuristics

ge = GenkitEval(plugins=[heuristics()])
ge.define_evaluator("my/judge", lambda point: len(point.output) < 8)
"""
SAMPLES = [
    {"testCaseId": "a", "input": 1, "output": "shipped", "expect": {"label": "shipped"}},
    {"testCaseId": "b", "input": 2, "output": "lost", "expect": {"label": "shipped"}},
    {"testCaseId": "c", "input": 3, "output": "We are sorry.", "expect": {"phrases": ["sorry"]}},
    {"testCaseId": "d", "input": 4, "output": "hello"},
]


@pytest.fixture(autouse=True)
def app(folder: Path) -> None:
    (folder / "routed.py").write_text(APP, encoding="utf-8")
    (folder / "genkit-eval.toml").write_text('app = "routed.py:ge"\n', encoding="utf-8")
    (folder / "cases.json").write_text(json.dumps(SAMPLES), encoding="utf-8")


def test_the_report_says_who_decided_what(genkit_eval: CommandLine) -> None:
    done = genkit_eval("run", "cases.json", "--route", "--route-judge", "my/judge")

    assert done.code == 0
    assert [line.split() for line in done.out.splitlines() if line.startswith(("rule/", "my/", "decided"))] == [
        ["decided", "by", "cases", "PASS", "FAIL", "not", "judged"],
        ["rule/label_match", "2", "1", "1", "0"],
        ["my/judge", "1", "1", "0", "0"],
        ["rule/contains_all", "1", "1", "0", "0"],
    ]


def test_a_judge_for_the_rest_asks_for_the_route(genkit_eval: CommandLine) -> None:
    done = genkit_eval("run", "cases.json", "--route-judge", "my/judge", "-e", "heuristic/json_validity", "--json")

    names = [record["evaluator"] for record in done.json["key"]["evaluators"]]
    assert names == ["/evaluator/heuristic/json_validity", "/evaluator/route"]


def test_what_nobody_decides_is_counted_last(genkit_eval: CommandLine) -> None:
    document = genkit_eval("run", "cases.json", "--route", "--json").json

    assert document["decidedBy"] == [
        {"evaluator": "rule/label_match", "cases": 2, "passed": 1, "failed": 1, "notJudged": 0},
        {"evaluator": "rule/contains_all", "cases": 1, "passed": 1, "failed": 0, "notJudged": 0},
        {"evaluator": "nobody", "cases": 1, "passed": 0, "failed": 0, "notJudged": 1},
    ]


def test_a_stored_run_says_it_too(genkit_eval: CommandLine) -> None:
    run_id = genkit_eval("run", "cases.json", "--route", "--json").json["evalRunId"]

    shown = genkit_eval("show", run_id)

    assert "decided by" in shown.out
    assert "rule/contains_all: every phrase is there" in genkit_eval("show", run_id, "--all").out


def test_a_run_without_a_route_says_nothing_of_deciders(genkit_eval: CommandLine) -> None:
    done = genkit_eval("run", "cases.json", "-e", "my/judge", "--json")

    assert "decidedBy" not in done.json


def test_an_unknown_judge_is_refused(genkit_eval: CommandLine) -> None:
    done = genkit_eval("run", "cases.json", "--route-judge", "my/juge")

    assert done.code == 2
    assert "did you mean 'my/judge'" in done.err
