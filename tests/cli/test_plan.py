"""`genkit-eval plan`: what a run would take, said before anything is spent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine, run_files, write_numbers

JUDGED = """
from pathlib import Path

from genkit_eval import DataPoint, GenkitEval, Judge, Message, Price, Reply, Usage
from genkit_eval.testing import ScriptedModel

def answer(messages):
    # what is asked is noted outside: the app is loaded anew for each command
    with Path("asked.txt").open("a", encoding="utf-8") as file:
        file.write("x")
    return Reply(text="yes", finish_reason="stop", usage=Usage(input_tokens=60, output_tokens=4))

ge = GenkitEval(prices={"house/judge": Price(100, 1_000)})
ge.define_models("house", {"judge": ScriptedModel(answer, name="house/judge")})
judge = Judge(ge.registry.model("house/judge"))

@ge.define_evaluator("my/judge", metadata={"models": {"judge": "house/judge"}})
async def judged(point: DataPoint):
    for question in ("first", "second"):
        await judge.choose([Message(role="user", content=f"{question}: {point.output}")], ["yes", "no"])
    return True

@ge.define_evaluator("my/cheap")
def cheap(point: DataPoint):
    return True

@ge.flow("echo")
def echo(value):
    return value
"""

PLAN = ("numbers.jsonl", "-t", "echo", "-e", "my/judge", "-e", "my/cheap")


@pytest.fixture(autouse=True)
def judged(folder: Path) -> Path:
    """An app whose judge is asked twice about each output, and a hundred samples."""
    (folder / "app.py").write_text(JUDGED, encoding="utf-8")
    (folder / "genkit-eval.toml").write_text('app = "app.py:ge"\n', encoding="utf-8")
    write_numbers(folder / "numbers.jsonl", 100)
    return folder


def asked(folder: Path) -> int:
    path = folder / "asked.txt"
    return len(path.read_text(encoding="utf-8")) if path.exists() else 0


def keep_replies(folder: Path) -> None:
    """From now on what the judge says is kept for other runs, as it is for a model that can be told from others."""
    known = JUDGED.replace(
        "ge = GenkitEval", 'class Known(ScriptedModel):\n    identity = "on this desk"\n\nge = GenkitEval'
    )
    (folder / "app.py").write_text(known.replace("ScriptedModel(answer", "Known(answer"), encoding="utf-8")


def test_without_a_probe_nothing_is_asked_and_what_is_not_known_is_said(genkit_eval: CommandLine, judged: Path) -> None:
    done = genkit_eval("plan", *PLAN)
    document = genkit_eval("plan", *PLAN, "--json").json

    assert done.code == 0
    lines = [" ".join(text.split()) for text in done.out.splitlines()]
    assert lines[:2] == ["flow echo on numbers.jsonl", "100 cases, judged by my/judge, my/cheap"]
    assert "my/judge house/judge ? ? ? ?" in lines
    assert "nothing was run, so how often models are asked is not known: --probe N" in done.out
    assert document["cases"] == 100
    assert document["usage"] == [{"model": "house/judge", "usedBy": "/evaluator/my/judge"}]
    assert document["costUsd"] is document["seconds"] is document["basis"] is None
    assert asked(judged) == 0
    assert not (judged / ".genkit").exists()


def test_a_probe_runs_a_few_cases_and_tells_what_all_would_take(genkit_eval: CommandLine, judged: Path) -> None:
    """Two calls a case of 60 tokens at 100 dollars a million, and 4 at 1,000: 0.01 dollars each."""
    done = genkit_eval("plan", *PLAN, "--probe", "4")
    document = genkit_eval("plan", *PLAN, "--probe", "4", "--json").json

    lines = [" ".join(text.split()) for text in done.out.splitlines()]
    assert "my/judge house/judge 200 12000 800 2.00" in lines
    assert "estimated from 4 probe cases" in lines
    assert document["costUsd"] == pytest.approx(2.0)
    assert document["seconds"] > 0
    assert asked(judged) == 16
    assert run_files(judged) == []


def test_replies_of_the_cache_do_not_make_the_estimate_lower(genkit_eval: CommandLine, judged: Path) -> None:
    """What one probe has paid for is kept; the next knows the calls, but neither their tokens nor their time."""
    keep_replies(judged)

    first = genkit_eval("plan", *PLAN, "--probe", "4", "--json").json
    again = genkit_eval("plan", *PLAN, "--probe", "4", "--json").json
    more = genkit_eval("plan", *PLAN, "--probe", "5", "--json").json

    assert [told["usage"][0]["modelCalls"] for told in (first, again, more)] == [200, 200, 200]
    assert [told["costUsd"] for told in (first, again, more)] == [pytest.approx(2.0), None, pytest.approx(2.0)]
    assert [told["seconds"] is None for told in (first, again, more)] == [False, True, True]
    assert (first["basis"], again["basis"]) == ("4 probe cases", "4 probe cases, as if the cache had answered none")
    assert asked(judged) == 16


def test_the_time_of_a_run_that_the_cache_answered_is_no_estimate(genkit_eval: CommandLine, judged: Path) -> None:
    keep_replies(judged)

    genkit_eval("run", *PLAN, "--limit", "10")
    paid = genkit_eval("plan", *PLAN, "--json").json
    genkit_eval("run", *PLAN, "--limit", "10")
    cached = genkit_eval("plan", *PLAN, "--json").json

    assert [told["usage"][0]["modelCalls"] for told in (paid, cached)] == [200, 200]
    assert [told["seconds"] is None for told in (paid, cached)] == [False, True]


def test_what_only_the_cache_is_asked_costs_nothing(genkit_eval: CommandLine, judged: Path) -> None:
    keep_replies(judged)
    genkit_eval("plan", *PLAN, "--probe", "4")

    told = genkit_eval("plan", *PLAN, "--probe", "4", "--cache-only", "--json").json

    assert (told["usage"][0]["modelCalls"], told["costUsd"]) == (0, 0)


def test_a_probe_of_more_cases_than_there_are_runs_all(genkit_eval: CommandLine, judged: Path) -> None:
    write_numbers(judged / "numbers.jsonl", 2)

    document = genkit_eval("plan", *PLAN, "--probe", "10", "--json").json

    assert document["basis"] == "2 probe cases"
    assert document["usage"][0]["modelCalls"] == 4


def test_a_finished_run_alike_is_as_good_as_a_probe(genkit_eval: CommandLine, judged: Path) -> None:
    run = genkit_eval("run", *PLAN, "--limit", "10", "--json").json
    before = asked(judged)

    alike = genkit_eval("plan", *PLAN, "--json").json
    fewer = genkit_eval("plan", *PLAN[:5], "--json").json
    other = genkit_eval("plan", "numbers.jsonl", "--no-target", "-e", "my/judge", "--json").json

    assert alike["basis"] == fewer["basis"] == f"run {run['evalRunId']}"
    assert alike["usage"][0]["modelCalls"] == 200
    assert other["basis"] is None
    assert asked(judged) == before


def test_repeats_are_cases_too(genkit_eval: CommandLine) -> None:
    document = genkit_eval("plan", *PLAN, "--repeats", "3", "--probe", "2", "--json").json

    assert document["cases"] == 300
    assert document["usage"][0]["modelCalls"] == 600


def test_repeats_are_said_as_after_the_run(genkit_eval: CommandLine) -> None:
    done = genkit_eval("plan", *PLAN, "--repeats", "3")

    assert "100 cases, 3 times each, judged by my/judge, my/cheap" in " ".join(done.out.split())


def test_an_earlier_run_is_reckoned_at_the_prices_of_today(genkit_eval: CommandLine, judged: Path) -> None:
    genkit_eval("run", *PLAN, "--limit", "10")

    app = judged / "app.py"
    app.write_text(JUDGED.replace("Price(100, 1_000)", "Price(1_000, 10_000)"), encoding="utf-8")
    dearer = genkit_eval("plan", *PLAN, "--json").json
    app.write_text(JUDGED.replace('"house/judge": Price(100, 1_000)', ""), encoding="utf-8")
    unknown = genkit_eval("plan", *PLAN, "--json").json

    assert dearer["costUsd"] == pytest.approx(20.0)
    assert unknown["costUsd"] is None
    assert unknown["usage"][0]["inputTokens"] == 12_000


def test_a_probe_that_fails_says_so(genkit_eval: CommandLine, judged: Path) -> None:
    app = judged / "app.py"
    app.write_text(JUDGED.replace("    return value", "    raise ValueError(value)"), encoding="utf-8")

    document = genkit_eval("plan", *PLAN, "--probe", "4", "--json").json

    assert document["basis"] == "4 probe cases, of which 4 FAILED"


def test_what_cannot_run_is_refused_as_run_would(genkit_eval: CommandLine) -> None:
    done = genkit_eval("plan", "numbers.jsonl", "-t", "eko", "-e", "my/judge")

    assert done.code == 2
    assert "unknown flow 'eko': did you mean 'echo'?" in done.err


def test_a_plan_without_models_says_so(genkit_eval: CommandLine) -> None:
    done = genkit_eval("plan", "numbers.jsonl", "-t", "echo", "-e", "my/cheap")

    assert "no model is asked by what is known of the target and the evaluators" in done.out
    assert "nothing was run, so what it takes is not known" in done.out


def test_the_budget_holds_for_the_probe(genkit_eval: CommandLine, judged: Path) -> None:
    done = genkit_eval("plan", *PLAN, "--probe", "50", "--budget-calls", "6")

    assert done.code == 0
    assert asked(judged) == 6


def test_a_probe_that_was_stopped_is_no_estimate(genkit_eval: CommandLine) -> None:
    done = genkit_eval("plan", *PLAN, "--probe", "50", "--budget-calls", "6")
    document = genkit_eval("plan", *PLAN, "--probe", "50", "--budget-calls", "6", "--json").json

    said = "the probe was stopped (the budget is spent: 6 of 6 calls), so there is no estimate"
    assert said in " ".join(done.out.split())
    assert document["stopped"] == "the budget is spent: 6 of 6 calls"
    assert document["costUsd"] is document["basis"] is None


def test_json_is_one_document(genkit_eval: CommandLine) -> None:
    assert json.loads(genkit_eval("plan", *PLAN, "--json").out)["exitCode"] == 0
