"""Ctrl-C: the prompt comes back at once, what is finished is kept, and the command to go on works."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine, Done, environment, write_numbers

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")


def journal_lines(folder: Path) -> int:
    return sum(path.read_bytes().count(b"\n") - 1 for path in (folder / ".genkit" / "evals").glob("*.journal.jsonl"))


def interrupted(arguments: Sequence[str], *, after: int) -> Done:
    """Start a command, send it SIGINT when the flow was called so many times, and wait until it ends."""
    command = [sys.executable, "-m", "genkit_eval", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        err, calls = b"", 0
        while calls < after and (line := running.stderr.readline()):
            err, calls = err + line, calls + (b"the flow prints" in line)
        running.send_signal(signal.SIGINT)
        err += running.stderr.read()
        out = running.stdout.read()
    return Done(running.returncode, out.decode(), err.decode())


@pytest.mark.case("run/ctrl-c-saves-partial")
def test_an_interrupted_run_is_kept_and_goes_on(genkit_eval: CommandLine, app: Path) -> None:
    write_numbers(app / "numbers.jsonl", 100)
    arguments = ["run", "numbers.jsonl", "-t", "slow", "-e", "my/below", "--max-concurrency", "1", "--app", "app.py:ge"]

    done = interrupted(arguments, after=31)

    assert done.code == 130
    assert done.out == ""
    assert "Traceback" not in done.err
    kept = journal_lines(app)
    assert kept >= 30
    assert f"interrupted; {kept} finished cases are kept in {app}" in done.err
    [listed] = genkit_eval("list", "--json").json["runs"]
    assert listed["state"] == "INCOMPLETE"
    assert "INCOMPLETE" in genkit_eval("show").out

    command = next(line for line in done.err.splitlines() if line.startswith("go on with: "))
    resumed = genkit_eval(*shlex.split(command.removeprefix("go on with: "))[1:], "--json")

    assert resumed.code == 0
    assert resumed.json["cases"] == resumed.json["summary"][0]["total"] == 100
    assert f"100 cases, {kept} of them done before" in resumed.err


@pytest.mark.case("run/ctrl-c-saves-partial")
def test_a_hanging_flow_does_not_hold_the_prompt(app: Path) -> None:
    """Its sleep of a thousand seconds would outlast the time that the test waits for the process."""
    write_numbers(app / "numbers.jsonl", 100)

    done = interrupted(["run", "numbers.jsonl", "-t", "hanging", "-e", "my/yes"], after=31)

    assert done.code == 130


def test_with_json_the_document_says_how_to_go_on(app: Path) -> None:
    write_numbers(app / "numbers.jsonl", 100)
    arguments = ["run", "numbers.jsonl", "-t", "slow", "-e", "my/below", "--max-concurrency", "1", "--json"]

    done = interrupted(arguments, after=3)

    document = json.loads(done.out)
    assert document["exitCode"] == done.code == 130
    assert document["state"] == "INCOMPLETE"
    assert document["resume"] == f"genkit-eval resume {document['evalRunId']}"


def test_a_file_of_a_named_format_goes_on_by_itself(genkit_eval: CommandLine, app: Path) -> None:
    write_numbers(app / "numbers.txt", 100)
    arguments = ["run", "numbers.txt", "--format", "jsonl", "-t", "slow", "-e", "my/yes", "--max-concurrency", "1"]

    done = interrupted(arguments, after=3)
    command = next(line for line in done.err.splitlines() if line.startswith("go on with: "))
    resumed = genkit_eval(*shlex.split(command.removeprefix("go on with: "))[1:], "--json")

    assert "--data" not in command
    assert resumed.json["cases"] == 100
