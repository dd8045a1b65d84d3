"""The program as a whole: help, errors, logging, start-up."""

from __future__ import annotations

import json
import logging
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click
import pytest

from genkit_eval import __version__
from genkit_eval.cli.program import VERBS
from tests.cli.conftest import CommandLine, environment, process


def found() -> Iterator[tuple[str, click.Command]]:
    """Every verb, and every verb of a group, with what one types."""
    for name in VERBS:
        command = import_module(f"genkit_eval.cli.{name.replace(':', '_')}").command
        yield name, command
        if isinstance(command, click.Group):
            for inner, subcommand in command.commands.items():
                yield f"{name} {inner}", subcommand


COMMANDS = list(found())


@pytest.mark.parametrize(("name", "command"), COMMANDS)
def test_every_verb_says_what_it_does_with_an_example(name: str, command: click.Command) -> None:
    text = command.get_help(click.Context(command, info_name=f"genkit-eval {name}"))

    assert "Example" in text
    assert f"genkit-eval {name}" in text.partition("Example")[2]


@pytest.mark.parametrize(("name", "command"), COMMANDS)
def test_every_option_of_a_verb_says_what_it_is_for(name: str, command: click.Command) -> None:
    options = [param for param in command.params if isinstance(param, click.Option) and not param.hidden]

    assert [option.name for option in options if not option.help] == []
    if not isinstance(command, click.Group):
        assert {"as_json", "debug"} <= {option.name for option in options}


def test_the_lines_of_help_fit_80_columns(genkit_eval: CommandLine) -> None:
    for name, _ in [("", None), *COMMANDS]:
        out = genkit_eval(*name.split(), "--help").out

        assert max(map(len, out.splitlines())) <= 80, name


@pytest.mark.parametrize("name", ["run", "plan", "resume", "rescore", "eval:run", "eval:flow"])
def test_many_options_stand_under_headings(genkit_eval: CommandLine, name: str) -> None:
    out = genkit_eval(name, "--help").out

    assert "\nEvaluators:\n" in out or "\nJudges:\n" in out
    assert "\nSpending:\n" in out
    assert set(re.findall(r"^  (-\S+)", out.partition("\nOthers:\n")[2], re.MULTILINE)) == {
        "--json",
        "--debug",
        "--help",
    }


def test_no_sentence_is_cut_where_a_group_lists_its_verbs(genkit_eval: CommandLine) -> None:
    for name in ("dataset", "evaluator", "cache"):
        assert "..." not in genkit_eval(name, "--help").out.partition("\nVerbs:\n")[2]


def test_without_a_verb_there_is_help(genkit_eval: CommandLine) -> None:
    done = genkit_eval()

    assert done.code == 0
    assert "doctor" in done.out


def test_without_a_verb_a_group_prints_its_help(genkit_eval: CommandLine) -> None:
    for name in ("dataset", "evaluator", "cache"):
        done = genkit_eval(name)

        assert (done.code, done.err) == (0, "")
        assert done.out == genkit_eval(name, "--help").out


def test_an_unknown_verb_is_refused_with_the_nearest(genkit_eval: CommandLine) -> None:
    done = genkit_eval("rnu")

    assert done.code == 2
    assert "did you mean 'run'" in done.err


def test_debug_shows_the_traceback(genkit_eval: CommandLine) -> None:
    assert "Traceback" not in genkit_eval("show", "nowhere").err
    assert "Traceback" in genkit_eval("show", "nowhere", "--debug").err
    assert "Traceback" in genkit_eval("--debug", "show", "nowhere").err


def test_debug_shows_where_an_app_breaks(genkit_eval: CommandLine, folder: Path) -> None:
    (folder / "app.py").write_text("def load():\n    raise KeyError('key')\n\nload()\n", encoding="utf-8")

    plain = genkit_eval("evaluator", "list", "--app", "app.py:ge").err
    debug = genkit_eval("evaluator", "list", "--app", "app.py:ge", "--debug").err

    assert plain == f"genkit-eval: app 'app.py:ge' cannot be imported: KeyError: 'key' ({folder / 'app.py'}, line 2)\n"
    assert "in load" in debug
    assert debug.endswith(plain)


@pytest.mark.case("security/log-forging")
def test_a_log_record_is_one_line(genkit_eval: CommandLine, folder: Path) -> None:
    runs = folder / ".genkit" / "evals"
    runs.mkdir(parents=True)
    key = {"evalRunId": "a", "createdAt": "t1\nINFO run finished: 100% passed"}
    (runs / "a.journal.jsonl").write_text(json.dumps({"key": key}) + "\n", encoding="utf-8")

    done = genkit_eval("list")

    assert "warning: " in done.err
    assert not any(line.startswith("INFO") for line in done.err.splitlines())


def test_logging_is_as_before_after_a_command(genkit_eval: CommandLine) -> None:
    logger = logging.getLogger("genkit_eval")
    before = logger.handlers[:], logger.level, logger.propagate

    genkit_eval("list")

    assert (logger.handlers[:], logger.level, logger.propagate) == before


@pytest.mark.case("cli-ci/help-without-network")
@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("run", "--help"), ("list",), ("dataset", "list")])
def test_it_starts_without_network_key_or_heavy_libraries(folder: Path, arguments: tuple[str, ...]) -> None:
    guard = (
        "import socket, sys\n"
        "def refuse(*args, **kwargs): raise SystemExit('it opened a connection')\n"
        "socket.socket.connect = socket.create_connection = refuse\n"
        "from genkit_eval.cli.program import invoke\n"
        "code = invoke(sys.argv[1:])\n"
        "heavy = {'openai', 'jsonata', 'deepdiff', 'rich', 'numpy', 'jsonschema'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "sys.exit(code)\n"
    )
    env = {name: value for name, value in environment().items() if not name.endswith("_KEY")}

    done = subprocess.run([sys.executable, "-c", guard, *arguments], capture_output=True, text=True, env=env)

    assert (done.returncode, done.stderr) == (0, "")


def test_the_version_is_the_packages_own() -> None:
    assert process("--version").out.strip() == f"genkit-eval {__version__}"
