"""The sample with the support agent: its commands run, and its evaluators tell the careful agent from the hasty one."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from genkit_eval import EvalRun, GenkitEval, MetricSummary, json_text
from genkit_eval.datasets import read_samples

ROOT = Path(__file__).parents[1]
SAMPLE = ROOT / "samples" / "support_agent"
COMMANDS = re.findall(
    r"^\$ genkit-eval (.+)$", (SAMPLE / "README.md").read_text(encoding="utf-8").replace("\\\n", ""), re.MULTILINE
)


def measured(arguments: str, root: Path) -> tuple[str, EvalRun]:
    """What a command of the README printed, and the run it left."""
    environment = {**os.environ, "GENKIT_EVAL_HOME": str(root), "PYTHONIOENCODING": "utf-8", "COLUMNS": "120"}
    command = [sys.executable, "-m", "genkit_eval", *shlex.split(arguments)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, encoding="utf-8", timeout=120)
    assert done.returncode == 0, done.stderr
    ge = GenkitEval(root=root)
    return done.stdout, ge.runs.load(ge.runs.list()[0])


@pytest.fixture(scope="module")
def careful(tmp_path_factory: pytest.TempPathFactory) -> EvalRun:
    return measured(COMMANDS[-1], tmp_path_factory.mktemp("careful"))[1]


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> EvalRun:
    return measured(COMMANDS[-1].replace("--target support ", "--target supportHasty "), tmp_path_factory.mktemp("h"))[
        1
    ]


def by_name(run: EvalRun) -> Mapping[str, MetricSummary]:
    return {summary.name: summary for summary in run.summary()}


def test_each_ticket_is_settled_by_what_it_expects(tmp_path: Path) -> None:
    printed, run = measured(COMMANDS[0], tmp_path)

    deciders = re.findall(r"^(\S+) +(\d+) +\d+ +\d+ +0$", printed, re.MULTILINE)
    assert deciders == [
        ("rule/label_match", "16"),
        ("rule/contains_all", "12"),
        ("heuristic/json_validity", "1"),
        ("support/helpful", "1"),
    ]
    assert by_name(run)["route"].verdict == 30


def test_the_careful_agent_fails_on_the_three_tickets_that_are_said(careful: EvalRun) -> None:
    failing = [result.test_case_id for result in careful.results if result.fails]

    assert failing == ["invoice", "abroad", "german-1001"]


def test_the_run_file_holds_what_the_agent_did(careful: EvalRun) -> None:
    [refund] = [result for result in careful.results if result.test_case_id == "refund-1003"]
    [talk] = [result for result in careful.results if result.test_case_id == "hello"]

    assert [call.name for call in refund.tools or ()] == ["find_order", "search_rules", "refund"]
    assert refund.tools is not None
    assert refund.tools[2].arguments == {"order": "1003", "amount": 24.0}
    assert refund.retrieved_ids is not None
    assert refund.retrieved_ids[0] in ("returns", "damaged")
    assert refund.usage is not None
    assert refund.usage.input_tokens == 8
    assert talk.tools == []


@pytest.mark.parametrize(
    ("metric", "least_good", "most_bad"),
    [
        ("route", 0.9, 0.5),
        ("rule/tool_correctness", 0.95, 0.5),
        ("rule/tool_permission", 1.0, 0.9),
        ("heuristic/step_efficiency", 1.0, 0.9),
        ("support/safe", 1.0, 0.5),
    ],
)
def test_the_hasty_agent_is_found_out(
    careful: EvalRun, hasty: EvalRun, metric: str, least_good: float, most_bad: float
) -> None:
    good, bad = by_name(careful)[metric].pass_rate, by_name(hasty)[metric].pass_rate

    assert good is not None
    assert bad is not None
    assert good >= least_good
    assert bad <= most_bad


def test_what_the_hasty_agent_gives_away_is_found_but_not_repeated(hasty: EvalRun) -> None:
    [refund] = [result for result in hasty.results if result.test_case_id == "refund-1003"]
    [safe] = [metric for metric in refund.metrics if metric.name == "support/safe"]

    found = {finding.category: finding for finding in safe.findings if finding.span is not None}

    assert set(found) == {"EMAIL", "PHONE"}
    start, end = found["EMAIL"].span or (0, 0)
    assert json_text(refund.output)[start:end] == "lena.brandt@example.net"
    assert "lena.brandt" not in safe.model_dump_json()


def test_all_stay_within_their_budgets(careful: EvalRun, hasty: EvalRun) -> None:
    for run in (careful, hasty):
        assert [by_name(run)[name].pass_rate for name in ("budget/latency", "budget/tokens")] == [1.0, 1.0]


def test_thirty_tickets_name_their_calls_and_the_rules_that_there_are() -> None:
    tickets = list(read_samples(SAMPLE / "tickets.jsonl"))
    rules = set(re.findall(r"^([a-z-]+): ", (SAMPLE / "rules.txt").read_text(encoding="utf-8"), re.MULTILINE))

    assert len(tickets) == 30
    assert all(ticket.has("expected_tools") for ticket in tickets)
    assert {name for ticket in tickets for name in ticket.relevant_ids or ()} <= rules
