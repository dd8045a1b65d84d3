"""The command line as a process whose output goes into a pipe, a full disk, or an old encoding."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine, environment, process, run_files, write_numbers

RUN = ("run", "numbers.jsonl", "-t", "echo", "-e", "my/below")


@pytest.mark.case("cli-ci/not-a-terminal")
@pytest.mark.parametrize("env", [{}, {"NO_COLOR": "1"}, {"FORCE_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_pipe_gets_lines_and_no_animation(app: Path, env: dict[str, str]) -> None:
    done = process(*RUN, env=env)

    assert done.code == 0
    assert "\r" not in done.out + done.err
    assert ("\x1b[31mFAIL\x1b[0m" in done.out) == ("FORCE_COLOR" in env)
    assert re.sub("\x1b\\[[0-9]+m", "", done.out).isprintable() or "\x1b" not in re.sub("\x1b\\[[0-9]+m", "", done.out)
    assert "4 of 4 cases in" in done.err
    assert "\x1b" not in done.err


def test_no_colour_wins_over_forced_colour(app: Path) -> None:
    done = process(*RUN, env={"NO_COLOR": "1", "FORCE_COLOR": "1"})

    assert "\x1b" not in done.out + done.err


def test_a_pipe_is_80_columns_wide(app: Path) -> None:
    process(*RUN)

    done = process("show", "--all", env={"COLUMNS": "200"})

    assert max(map(len, done.out.splitlines())) <= 80


@pytest.mark.case("cli-ci/non-utf8-stdout")
@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "latin-1"])
def test_an_old_encoding_replaces_letters_and_nothing_else(app: Path, encoding: str) -> None:
    text = "\u2714 東京 🚀"
    (app / "texts.jsonl").write_text(json.dumps({"testCaseId": text, "input": text}), encoding="utf-8")
    env = {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}

    done = process("run", "texts.jsonl", "-t", "echo", "-e", "my/said", env=env)
    shown = process("show", "--all", env=env)
    document = process("show", "--json", env=env)

    assert (done.code, shown.code, document.code) == (0, 0, 0)
    assert "Traceback" not in done.err + shown.err
    [file] = run_files(app)
    assert json.loads(file.read_text(encoding="utf-8"))["results"][0]["output"] == text
    assert document.json["results"][0]["output"] == text


@pytest.mark.case("cli-ci/broken-pipe")
@pytest.mark.parametrize("arguments", [("show", "--all"), ("show", "--json"), ("list",), ("--help",), RUN])
def test_a_reader_that_leaves_is_no_error(genkit_eval: CommandLine, app: Path, arguments: tuple[str, ...]) -> None:
    write_numbers(app / "numbers.jsonl", 2000)
    genkit_eval("run", "numbers.jsonl", "-t", "a/b:c", "-e", "my/below")
    command = [sys.executable, "-m", "genkit_eval", *arguments]

    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        errors = running.stderr.read().decode()

    assert running.returncode == 0
    assert "Traceback" not in errors
    assert "Exception ignored" not in errors
    assert "Broken" not in errors


def test_a_reader_of_stderr_that_leaves_is_no_error(app: Path) -> None:
    command = [sys.executable, "-m", "genkit_eval", *RUN]

    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stderr.close()
        out = running.stdout.read().decode()

    assert running.returncode == 0
    assert "50 % of 4" in out


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a full device")
def test_a_full_disk_under_stdout_is_one_line_and_exit_code_2(app: Path) -> None:
    process(*RUN)

    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "genkit_eval", "show"], stdout=full, stderr=subprocess.PIPE, env=environment()
        )

    assert done.returncode == 2
    assert done.stderr.decode().splitlines() == [
        f"genkit-eval: the output cannot be written: {os.strerror(28)}",
    ]


def test_a_broken_plugin_is_named_and_the_others_work(folder: Path) -> None:
    info = folder / "broken_plugin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-plugin\nVersion: 1.0\n", encoding="utf-8")
    points = "[genkit_eval.plugins]\nbroken = broken_app:nothing\nsound = sound_app:plugin\n"
    (info / "entry_points.txt").write_text(points, encoding="utf-8")
    (folder / "broken_app.py").write_text("raise RuntimeError('no\\nlicence')\n", encoding="utf-8")
    (folder / "sound_app.py").write_text(
        "from genkit_eval import Plugin\n"
        "def plugin(): return Plugin('sound', lambda r: r.define_evaluator('sound/yes', lambda p: True))\n",
        encoding="utf-8",
    )
    path = os.pathsep.join([str(folder), environment()["PYTHONPATH"]])

    listed = process("evaluator", "list", env={"PYTHONPATH": path})
    doctor = process("doctor", env={"PYTHONPATH": path})

    assert listed.code == 0
    assert "sound/yes" in listed.out
    assert (
        r"plugin 'broken' of broken-plugin 1.0 (broken_app:nothing) is left out: RuntimeError: no\nlicence"
        in listed.err
    )
    assert doctor.code == 2
    assert "! broken" in doctor.out


PRINTS_BY_DESCRIPTOR = """
import os, subprocess, sys
from genkit_eval import GenkitEval
ge = GenkitEval()

@ge.flow("loud")
def loud(x):
    os.write(1, b"by descriptor\\n")
    subprocess.run([sys.executable, "-c", "print('by a child')"], check=True)
    return x

ge.define_evaluator("my/yes", lambda point: True)
"""


def test_what_a_flow_writes_to_descriptor_1_does_not_reach_the_document(folder: Path) -> None:
    (folder / "loud.py").write_text(PRINTS_BY_DESCRIPTOR.replace("\\\\", "\\"), encoding="utf-8")
    (folder / "one.jsonl").write_text('{"input": 1}\n', encoding="utf-8")
    arguments = ["run", "one.jsonl", "--app", "loud.py:ge", "-t", "loud", "-e", "my/yes", "--json"]

    done = subprocess.run(
        [sys.executable, "-m", "genkit_eval", *arguments], capture_output=True, env=environment(), check=False
    )

    assert json.loads(done.stdout)["exitCode"] == 0
    assert b"by descriptor" in done.stderr
    assert b"by a child" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="closing descriptors is a Unix shell's")
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams_change_no_exit_code(app: Path, closed: str) -> None:
    command = f"{shlex.quote(sys.executable)} -m genkit_eval run numbers.jsonl -t echo -e my/yes {closed}"

    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, env=environment(), check=False)

    assert done.returncode == 0
    assert b"Traceback" not in done.stderr
