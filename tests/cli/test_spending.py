"""What a run may spend, from the command line: budgets, and the prices that one of dollars needs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine, write_numbers

JUDGED = """
from genkit_eval import DataPoint, GenkitEval, Judge, Message, Reply, Usage
from genkit_eval.testing import ScriptedModel

usage = Usage(input_tokens=6, output_tokens=4)
model = ScriptedModel(Reply(text="yes", finish_reason="stop", usage=usage), name="house/judge")
ge = GenkitEval()
ge.define_models("house", {"judge": model})
judge = Judge(model)

@ge.define_evaluator("my/judge", metadata={"models": {"judge": "house/judge"}})
async def judged(point: DataPoint):
    return await judge.choose([Message(role="user", content=str(point.output))], ["yes", "no"]) == "yes"

@ge.flow("echo")
def echo(value):
    return value
"""

RUN = ("run", "numbers.jsonl", "-t", "echo", "-e", "my/judge", "--max-concurrency", "1", "--no-cache")


@pytest.fixture(autouse=True)
def judged(folder: Path) -> Path:
    """An app with a judge that takes ten tokens a call, and twenty samples."""
    (folder / "app.py").write_text(JUDGED, encoding="utf-8")
    (folder / "genkit-eval.toml").write_text('app = "app.py:ge"\n', encoding="utf-8")
    write_numbers(folder / "numbers.jsonl", 20)
    return folder


def test_a_budget_stops_a_run_and_another_one_goes_on(genkit_eval: CommandLine) -> None:
    done = genkit_eval(*RUN, "--budget-calls", "5")
    run_id = done.out.splitlines()[0]
    stopped = genkit_eval("resume", run_id, "--budget-tokens", "80", "--json")
    resumed = genkit_eval("resume", run_id, "--json")

    assert done.code == 3
    assert "INCOMPLETE: 5 of 20 cases so far" in done.out
    assert done.last_line == "stopped early: the budget is spent: 5 of 5 calls"
    assert f"what is finished is kept; go on with: genkit-eval resume {run_id}" in done.err
    assert stopped.code == stopped.json["exitCode"] == 3
    assert stopped.json["key"]["stopped"] == {"cause": "budget", "reason": "the budget is spent: 80 of 80 tokens"}
    assert stopped.json["key"]["budget"] == {"tokens": 80}
    assert stopped.json["resume"] == f"genkit-eval resume {run_id}"
    assert resumed.code == 0
    assert resumed.json["cases"] == 20
    assert resumed.json["summary"][0]["passed"] == 20


def test_a_budget_of_time(genkit_eval: CommandLine) -> None:
    done = genkit_eval(*RUN, "--budget-seconds", "0.000001")

    assert done.code == 3
    assert "of 1e-06 seconds" in done.last_line


def test_a_budget_of_dollars_without_a_price_is_refused_before_anything_runs(
    genkit_eval: CommandLine, judged: Path
) -> None:
    done = genkit_eval(*RUN, "--budget-usd", "1")

    assert done.code == 2
    assert "what house/judge costs is not known" in done.err
    assert "name a file of prices by the setting 'prices' (in code GenkitEval(prices=…)), or give a budget" in done.err
    assert not (judged / ".genkit").exists()


@pytest.mark.parametrize("by", ["file", "variable"])
def test_prices_may_be_set(genkit_eval: CommandLine, judged: Path, by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Six tokens at 50,000 dollars a million, and four at 25,000: 0.4 dollars a call."""
    prices = {"house/*": {"input": 50_000, "output": 25_000}}
    (judged / "prices.json").write_text(json.dumps(prices), encoding="utf-8")
    if by == "file":
        (judged / "genkit-eval.toml").write_text('app = "app.py:ge"\nprices = "prices.json"\n', encoding="utf-8")
    else:
        monkeypatch.setenv("GENKIT_EVAL_PRICES", "prices.json")

    done = genkit_eval(*RUN, "--budget-usd", "1.2")

    assert done.code == 3
    assert done.last_line == "stopped early: the budget is spent: 1.2 of 1.2 US dollars"


@pytest.mark.parametrize("verb", ["run", "resume", "rescore", "eval:run", "eval:flow"])
def test_every_verb_that_runs_takes_a_budget(genkit_eval: CommandLine, verb: str) -> None:
    text = genkit_eval(verb, "--help").out

    assert all(f"--budget-{kind}" in text for kind in ("usd", "tokens", "calls", "seconds"))


@pytest.mark.parametrize("given", ["0", "-1", "much"])
def test_a_budget_that_cannot_be_is_refused(genkit_eval: CommandLine, given: str) -> None:
    assert genkit_eval(*RUN, "--budget-tokens", given).code == 2


def test_doctor_says_where_the_prices_come_from(genkit_eval: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GENKIT_EVAL_PRICES", "prices.json")

    lines = [line.split() for line in genkit_eval("doctor").out.splitlines()]

    assert ["prices", "prices.json", "(from", "GENKIT_EVAL_PRICES)"] in lines
