"""The command line on a terminal: a pseudo-terminal of the size that is asked for."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine, environment, write_numbers

pty = pytest.importorskip("pty", reason="Windows has no pseudo-terminals")

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def on_terminal(*arguments: str, columns: int = 80, **env: str) -> tuple[int, str]:
    """Exit code and everything that the terminal got."""
    import fcntl
    import struct
    import termios

    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    running = subprocess.Popen(
        [sys.executable, "-m", "genkit_eval", *arguments],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env=environment(**{"TERM": "xterm-256color", **env}),
    )
    os.close(follower)
    received = b""
    try:
        while data := os.read(leader, 65536):
            received += data
    except OSError:
        # Linux says EIO when the last writer has gone
        pass
    os.close(leader)
    return running.wait(), received.decode("utf-8", "replace")


@pytest.fixture
def slow_run(app: Path) -> tuple[str, ...]:
    """A run of about half a second."""
    write_numbers(app / "numbers.jsonl", 60)
    return ("run", "numbers.jsonl", "-t", "slow", "-e", "my/below", "--max-concurrency", "2")


def test_a_bar_shows_rate_time_left_and_pass_rate(slow_run: tuple[str, ...]) -> None:
    code, text = on_terminal(*slow_run)

    assert code == 0
    assert "━" in text
    assert re.search(r"\d+ of 60 cases, [0-9.]+/s, [0-9.]+ s left, [0-9.]+ % PASS of \d+", ESCAPE.sub("", text))
    assert "\x1b[31mFAIL\x1b[0m" in text


def test_without_colour_there_is_none(slow_run: tuple[str, ...]) -> None:
    _, text = on_terminal(*slow_run, NO_COLOR="1")

    assert re.findall(r"\x1b\[[0-9;]*[1-9][0-9;]*m", text) == []


def test_a_dumb_terminal_gets_plain_lines(slow_run: tuple[str, ...]) -> None:
    _, text = on_terminal(*slow_run, TERM="dumb")

    assert "\x1b" not in text
    assert "\r" not in text.replace("\r\n", "\n")
    assert "60 of 60 cases in" in text


@pytest.mark.parametrize("columns", [40, 60, 120])
def test_reports_fit_the_terminal(genkit_eval: CommandLine, slow_run: tuple[str, ...], columns: int) -> None:
    genkit_eval(*slow_run)

    for arguments in (("show", "--all"), ("evaluator", "list")):
        _, text = on_terminal(*arguments, columns=columns)

        assert max(len(ESCAPE.sub("", line)) for line in text.splitlines() if "prints" not in line) <= columns


def test_what_is_said_breaks_between_words(genkit_eval: CommandLine, app: Path) -> None:
    _, text = on_terminal("run", "numbers.jsonl", "-t", "zzz", "-e", "my/yes", columns=40)

    lines = [line for line in text.splitlines() if "prints" not in line]
    assert lines[:2] == ["genkit-eval: unknown flow 'zzz': defined", "  are 'a/b:c', 'echo', 'fragile',"]


def test_what_a_run_comes_to_breaks_between_words(genkit_eval: CommandLine, app: Path) -> None:
    gates = ["--fail-under", "my/below=1", "--fail-under", "my/yes=1"]
    code, text = on_terminal("run", "numbers.jsonl", "-t", "echo", "-e", "my/yes", "-e", "my/below", *gates, columns=40)

    said = ESCAPE.sub("", text).replace("\r\n", "\n")
    assert code == 100
    assert said[said.index("gate") :].splitlines() == [
        "gate missed: my/below: pass rate 0.5 (2",
        "  of 4 judged) is not at least 1",
        "gate held: my/yes: pass rate 1 (4 of 4",
        "  judged) is at least 1",
    ]


@pytest.mark.case("security/terminal-escapes")
def test_nothing_but_colours_reaches_the_terminal(genkit_eval: CommandLine, app: Path) -> None:
    hostile = r"\u001b[2J\u001b]0;owned\u0007 ok \u001b]52;c;YQ==\u0007\u009b2J"
    (app / "hostile.jsonl").write_text(f'{{"testCaseId": "{hostile}", "input": "{hostile}"}}', encoding="utf-8")
    genkit_eval("run", "hostile.jsonl", "-t", "echo", "-e", "my/said")

    for arguments in (("show", "--all"), ("show", "--json"), ("list",)):
        _, text = on_terminal(*arguments)

        rest = re.sub(r"\x1b\[[0-9]+m", "", text.replace("\r\n", "\n"))
        assert all(line.isprintable() for line in rest.splitlines()), arguments
