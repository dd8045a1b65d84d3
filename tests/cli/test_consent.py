"""Before models are paid for, somebody says so: at a terminal, by --yes, or by a budget; never by waiting for ever."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine, environment, write_numbers

JUDGED = """
from genkit_eval import DataPoint, GenkitEval, Judge, Message, Price, Reply
from genkit_eval.testing import ScriptedModel

ge = GenkitEval(prices={"free/*": Price(0, 0)})
model = ScriptedModel(Reply(text="yes", finish_reason="stop"), name="house/judge")
ge.define_models("house", {"judge": model})
ge.define_models("free", {"judge": ScriptedModel(Reply(text="yes", finish_reason="stop"), name="free/judge")})

def define(name, model_name, **more):
    @ge.define_evaluator(name, is_billed=True, metadata={"models": {"judge": model_name}}, **more)
    async def judged(point: DataPoint):
        judge = Judge(ge.registry.model(model_name))
        return await judge.choose([Message(role="user", content=str(point.output))], ["yes", "no"]) == "yes"

define("my/billed", "house/judge")
define("my/free", "free/judge")

@ge.define_evaluator("my/yes")
def yes(point: DataPoint):
    return True

@ge.flow("echo")
def echo(value):
    return value
"""

RUN = ("run", "numbers.jsonl", "-t", "echo")
REFUSED = "may cost money, and nobody can be asked here: give --yes, or a budget like --budget-usd 1"


@pytest.fixture(autouse=True)
def judged(folder: Path) -> Path:
    """An app with a judge that may cost something, and one that is free."""
    (folder / "app.py").write_text(JUDGED, encoding="utf-8")
    (folder / "genkit-eval.toml").write_text('app = "app.py:ge"\n', encoding="utf-8")
    write_numbers(folder / "numbers.jsonl", 3)
    return folder


def test_where_nobody_can_be_asked_a_judge_is_refused_before_anything_runs(
    genkit_eval: CommandLine, judged: Path
) -> None:
    done = genkit_eval(*RUN, "-e", "my/billed", "-e", "my/yes")

    assert done.code == 2
    assert f"my/billed (house/judge) {REFUSED}" in done.err
    assert not (judged / ".genkit").exists()


@pytest.mark.parametrize("said", [["--yes"], ["-y"], ["--budget-calls", "99"]])
def test_what_was_said_before_is_enough(genkit_eval: CommandLine, said: list[str]) -> None:
    assert genkit_eval(*RUN, "-e", "my/billed", *said).code == 0


@pytest.mark.parametrize("metric", ["my/free", "my/yes"])
def test_what_is_free_runs_unasked(genkit_eval: CommandLine, metric: str) -> None:
    assert genkit_eval(*RUN, "-e", metric).code == 0


@pytest.mark.parametrize(
    "target", [("-t", "/model/house/judge"), ("-t", "/model/house/judge", "--target-config", "{}")]
)
def test_a_target_that_is_a_model_may_cost_something_too(genkit_eval: CommandLine, target: tuple[str, ...]) -> None:
    done = genkit_eval("run", "numbers.jsonl", *target, "-e", "my/yes")

    assert done.code == 2
    assert f"target house/judge {REFUSED}" in done.err


def test_what_cannot_run_is_refused_for_that(genkit_eval: CommandLine) -> None:
    done = genkit_eval("run", "numbers.jsonl", "-t", "eko", "-e", "my/billed")

    assert "unknown flow 'eko'" in done.err


def test_a_run_that_goes_on_or_is_scored_again_pays_as_well(genkit_eval: CommandLine) -> None:
    stopped = genkit_eval(*RUN, "-e", "my/billed", "--budget-calls", "1", "--max-concurrency", "1", "--json").json
    resumed = genkit_eval("resume", stopped["evalRunId"])
    complete = genkit_eval("resume", stopped["evalRunId"], "--yes", "--json").json
    reported = genkit_eval("resume", stopped["evalRunId"])
    rescored = genkit_eval("rescore", complete["evalRunId"])

    assert resumed.code == rescored.code == 2
    assert REFUSED in resumed.err
    assert REFUSED in rescored.err
    assert complete["state"] == "COMPLETE"
    assert reported.code == 0


def test_only_the_cache_costs_nothing(genkit_eval: CommandLine) -> None:
    done = genkit_eval(*RUN, "-e", "my/billed", "--cache-only")

    assert done.code == 1
    assert "may cost money" not in done.err


def test_with_json_the_refusal_is_a_document(genkit_eval: CommandLine) -> None:
    done = genkit_eval(*RUN, "-e", "my/billed", "--json")

    document = json.loads(done.out)
    assert document["exitCode"] == 2
    assert REFUSED in document["error"]


def at_a_terminal(answer: str | signal.Signals, *arguments: str) -> tuple[int, str]:
    """Run a command at a terminal, where somebody answers, or ends it; its exit code, and all that was shown."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "genkit_eval", *arguments]
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment(COLUMNS="100")
    ) as running:
        os.close(theirs)
        shown = b""
        while b"Run it?" not in shown and (piece := read(ours)):
            shown += piece
        if isinstance(answer, str):
            os.write(ours, answer.encode())
        else:
            end(running, by=answer)
        while piece := read(ours):
            shown += piece
    os.close(ours)
    return running.returncode, shown.decode()


def end(running: subprocess.Popen[bytes], *, by: signal.Signals) -> None:
    """Send a signal; again where it came in the moment before Python reads, which then does not see it."""
    while True:
        running.send_signal(by)
        try:
            running.wait(5)
        except subprocess.TimeoutExpired:
            continue
        return


def read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:
        # Linux says so when the other end is closed
        return b""


def test_at_a_terminal_one_is_asked_and_told_what_it_is_about() -> None:
    code, shown = at_a_terminal("y\n", *RUN, "-e", "my/billed")

    assert code == 0
    assert "3 cases, judged by my/billed" in shown
    assert "my/billed (house/judge) may cost money. Run it? [y/N]" in shown


@pytest.mark.parametrize("answer", ["n\n", "\n"])
def test_at_a_terminal_no_means_no(judged: Path, answer: str) -> None:
    code, shown = at_a_terminal(answer, *RUN, "-e", "my/billed")

    assert code == 130
    assert "nothing was run" in shown
    assert not list((judged / ".genkit").glob("evals/*.jsonl"))


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_whoever_ends_it_before_the_answer_ends_it(judged: Path, by: signal.Signals) -> None:
    code, shown = at_a_terminal(by, *RUN, "-e", "my/billed")

    assert code == 130
    assert "interrupted" in shown
    assert not list((judged / ".genkit").glob("evals/*.jsonl"))


@pytest.mark.parametrize("answer", ["n\n", signal.SIGINT])
def test_with_json_that_nothing_was_run_is_a_document_too(answer: str | signal.Signals) -> None:
    _, shown = at_a_terminal(answer, *RUN, "-e", "my/billed", "--json")

    assert '"exitCode": 130' in shown
