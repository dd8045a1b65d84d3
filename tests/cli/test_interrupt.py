"""Ctrl-C, and SIGTERM: the prompt comes back at once, what is finished is kept, and the command to go on works."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine, Done, environment, process, write_numbers

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")


def journal_lines(folder: Path) -> int:
    return sum(path.read_bytes().count(b"\n") - 1 for path in (folder / ".genkit" / "evals").glob("*.journal.jsonl"))


def interrupted(
    arguments: Sequence[str], *, after: int, by: signal.Signals = signal.SIGINT, prefix: Sequence[str] = ()
) -> Done:
    """Start a command, send it a signal when the flow was called so many times, and wait until it ends."""
    command = [*prefix, sys.executable, "-m", "genkit_eval", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        err, calls = b"", 0
        while calls < after and (line := running.stderr.readline()):
            err, calls = err + line, calls + (b"the flow prints" in line)
        running.send_signal(by)
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


@pytest.mark.case("run/ctrl-c-saves-partial")
@pytest.mark.parametrize("ctrl_c_ignored", [False, True])
def test_sigterm_ends_a_run_as_ctrl_c_does(genkit_eval: CommandLine, app: Path, ctrl_c_ignored: bool) -> None:
    """A shell starts what it puts into the background with Ctrl-C ignored."""
    write_numbers(app / "numbers.jsonl", 100)
    prefix = ["sh", "-c", 'trap "" INT; exec "$@"', "sh"] if ctrl_c_ignored else []

    done = interrupted(
        ["run", "numbers.jsonl", "-t", "slow", "-e", "my/below", "--max-concurrency", "1"],
        after=11,
        by=signal.SIGTERM,
        prefix=prefix,
    )
    command = next(line for line in done.err.splitlines() if line.startswith("go on with: "))
    resumed = genkit_eval(*shlex.split(command.removeprefix("go on with: "))[1:], "--json")

    assert done.code == 130
    assert "Traceback" not in done.err
    assert resumed.json["cases"] == 100


INTERRUPTING_IMPORT = """
import os, signal, sys

class Interrupting:
    def find_spec(self, name, *more):
        if name == os.environ["INTERRUPT_AT"]:
            sys.meta_path.remove(self)
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
"""


@pytest.mark.case("run/ctrl-c-saves-partial")
@pytest.mark.parametrize(
    "module",
    ["click", "genkit_eval.cli.evaluation", "pydantic", "genkit_eval.loading", "anyio", "anyio._backends._asyncio"],
)
def test_ctrl_c_while_the_program_starts_leaves_no_traceback(app: Path, tmp_path: Path, module: str) -> None:
    (tmp_path / "sitecustomize.py").write_text(INTERRUPTING_IMPORT, encoding="utf-8")
    path = os.pathsep.join([str(tmp_path), environment()["PYTHONPATH"]])

    done = process(
        "run", "numbers.jsonl", "-t", "echo", "-e", "my/yes", env={"INTERRUPT_AT": module, "PYTHONPATH": path}
    )

    assert done.code == 130
    assert "interrupted" in done.err
    assert "Traceback" not in done.err
    assert "Warning" not in done.err
    assert done.out == ""
