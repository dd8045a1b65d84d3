"""Commands as targets: real processes, what they are given, and what comes of what they print."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from genkit_eval import CommandTarget, ConfigError, EvalResult, GenkitEval, Limits, Usage, run_sync
from tests.processes import wait_for_end

ECHO = "import sys; sys.stdout.write(sys.stdin.read())"


def python(code: str) -> CommandTarget:
    """A command that runs this code."""
    return CommandTarget([sys.executable, "-c", code])


def result_of(ge: GenkitEval, target: CommandTarget, given: Any) -> EvalResult:
    """The one result of a run over the one input."""
    run = run_sync(ge.evaluate([{"input": given}], target=target, evaluators=[]))
    return run.results[0]


@pytest.mark.parametrize("given", ["why?", {"q": ["why", None]}, 0, False, None, "Größe 🎈", "x" * 1_000_000])
def test_the_input_is_on_stdin_and_the_output_is_what_is_printed(ge: GenkitEval, given: Any) -> None:
    result = result_of(ge, python(ECHO), given)

    assert (result.output, result.error) == (given, None)
    assert result.has("output")


def test_every_sample_has_a_process_of_its_own_and_results_keep_their_order(ge: GenkitEval) -> None:
    target = python("import json, os, sys; print(json.dumps([json.load(sys.stdin), os.getpid()]))")

    run = run_sync(ge.evaluate([{"input": n} for n in range(20)], target=target, evaluators=[]))

    outputs: list[Any] = [result.output for result in run.results]
    assert [number for number, _ in outputs] == list(range(20))
    assert len({pid for _, pid in outputs}) == 20


def test_a_command_may_report_more_than_its_output(ge: GenkitEval) -> None:
    target = python(
        """print('{"output": "Paris", "usage": {"inputTokens": 7}, "context": ["France"], "latency": 0.5}')"""
    )

    result = result_of(ge, target, "?")

    assert (result.output, result.context, result.latency) == ("Paris", ["France"], 0.5)
    assert result.usage == Usage(input_tokens=7)


def test_a_command_need_not_read_its_input(ge: GenkitEval) -> None:
    result = result_of(ge, python("print('[1]')"), "x" * 1_000_000)

    assert result.output == [1]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import sys; sys.exit('cannot find the index')", "ended with exit code 1: cannot find the index"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("import os; os.kill(os.getpid(), 11)", "was ended by signal 11"),
        ("print('Paris')", "char 0)), 'Paris': expected one JSON value"),
        ("print('[1]\\n[2]')", "printed what is no JSON"),
        ("print('NaN')", "printed what is no JSON"),
        ("print('1e999')", "printed what is no JSON (number is infinity"),
        (
            "import sys; sys.stdout.buffer.write(b'\"\\xff\"')",
            "printed what is no JSON ('utf-8' codec can't decode byte",
        ),
        ("import sys; print('why', file=sys.stderr)", "printed nothing: expected one JSON value"),
        ("import sys; sys.exit('key sk-' + 'abcdefghijklmnop')", "key [hidden]"),
    ],
)
def test_no_good_output_is_the_targets_error(ge: GenkitEval, code: str, said: str) -> None:
    result = result_of(ge, python(code), "?")

    assert not result.has("output")
    assert said in str(result.error)


@pytest.mark.case("security/key-in-files-and-logs")
def test_a_secret_of_the_environment_is_kept_nowhere(ge: GenkitEval, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "notreal-0123456789-secret"
    monkeypatch.setenv("ANSWER_TOKEN", secret)
    says = "import os, sys; said = os.environ['ANSWER_TOKEN']; "

    results = [
        result_of(ge, python(says + code), "?")
        for code in ("sys.exit('with ' + said)", "print('with', said)", "print('{\"with\": \"' + said + '\"}')")
    ]

    assert str(results[0].error).endswith("ended with exit code 1: with [hidden]")
    assert "'with [hidden]'" in str(results[1].error)
    assert results[2].output == {"with": "[hidden]"}
    assert not any(secret in path.read_text("utf-8") for path in ge.root.rglob("*") if path.is_file())


def test_only_the_end_of_long_words_is_shown(ge: GenkitEval) -> None:
    result = result_of(ge, python("import sys; sys.exit('x' * 1_000_000 + 'the end')"), "?")

    assert len(str(result.error)) < 1000
    assert str(result.error).endswith("the end")


def test_an_output_without_end_is_stopped(ge: GenkitEval, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("genkit_eval.engine.targets.processes.LARGEST_OUTPUT", 3 << 20)

    result = result_of(ge, python("while True: print('x' * 1000)"), "?")

    assert "printed more than 3 MiB" in str(result.error)


def test_at_the_deadline_all_that_the_command_started_is_killed(ge: GenkitEval, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    target = python(f"""
import os, pathlib, subprocess, sys, threading
child = subprocess.Popen([sys.executable, "-c", "import threading; threading.Event().wait()"])
pathlib.Path({str(pids)!r}).write_text(f"{{os.getpid()}} {{child.pid}}")
threading.Event().wait()
""")

    limits = Limits(target_seconds=2)
    run = run_sync(ge.evaluate([{"input": 1}], target=target, evaluators=[], limits=limits))

    assert run.results[0].error == "timeout: the target took longer than 2 s"
    command, child = map(int, pids.read_text("utf-8").split())
    assert wait_for_end(command)
    assert wait_for_end(child)


def test_what_a_command_leaves_behind_does_not_hold_up_its_case(ge: GenkitEval, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    target = python(f"""
import pathlib, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import threading; threading.Event().wait()"])
pathlib.Path({str(pids)!r}).write_text(str(child.pid))
print('"done"')
""")

    result = result_of(ge, target, "?")

    assert result.output == "done"
    assert wait_for_end(int(pids.read_text("utf-8")))


def test_a_run_that_is_cancelled_leaves_no_process(ge: GenkitEval, tmp_path: Path) -> None:
    target = python(f"""
import os, pathlib, threading
pathlib.Path({str(tmp_path)!r}, f"{{os.getpid()}}.pid").touch()
threading.Event().wait()
""")

    async def main() -> None:
        with anyio.CancelScope() as scope:

            def seen(progress: Any) -> None:
                if len(list(tmp_path.glob("*.pid"))) == 3:
                    scope.cancel()

            samples = [{"input": n} for n in range(3)]
            await ge.evaluate(samples, target=target, evaluators=[], progress=seen)

    run_sync(main())

    assert all(wait_for_end(int(path.stem)) for path in tmp_path.glob("*.pid"))


def test_a_run_that_was_cancelled_goes_on_with_the_same_command(
    ge: GenkitEval, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "answer"
    script.write_text(f"#!{sys.executable}\nimport sys; print(sys.argv[1] + sys.stdin.read())\n", "utf-8")
    script.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    samples = [{"input": n} for n in range(6)]

    async def interrupted() -> str:
        ids: list[str] = []
        with anyio.CancelScope() as scope:

            def seen(progress: Any) -> None:
                ids.append(progress.run_id)
                if progress.done:
                    scope.cancel()

            await ge.evaluate(
                samples,
                target=CommandTarget(["./answer", "1"]),
                evaluators=[],
                limits=Limits(max_concurrency=1),
                progress=seen,
            )
        return ids[0]

    run_id = run_sync(interrupted())
    monkeypatch.chdir("/")
    run = run_sync(ge.evaluate(samples, resume=run_id))

    assert [result.output for result in run.results] == [10, 11, 12, 13, 14, 15]
    assert run.key.action_ref == "command:./answer 1"
    assert run.key.action_config == {"command": ["./answer", "1"], "folder": str(tmp_path)}


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (CommandTarget(["./nowhere"]), "'./nowhere' is no program that can be run in"),
        (CommandTarget(["no-such-program-anywhere"]), "'no-such-program-anywhere' is no program"),
        (CommandTarget([sys.executable], folder="/nowhere"), "there is no folder /nowhere to run it in"),
    ],
)
def test_what_cannot_be_started_is_refused_before_anything_runs(
    ge: GenkitEval, target: CommandTarget, said: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        result_of(ge, target, "?")

    assert said in str(caught.value)
    assert ge.runs.list() == []


@pytest.mark.parametrize("command", [[], "./answer --x", [""], ["./answer", 1]])
def test_a_command_is_a_list_of_texts(command: Any) -> None:
    with pytest.raises(ConfigError, match="give the program and its arguments"):
        CommandTarget(command)


@pytest.mark.parametrize(
    "command", [["./answer", "--api-key", "sk-test-NOTREAL-0123"], ["curl", "-H", "Authorization: Bearer 0123456789"]]
)
def test_a_command_that_would_put_a_key_into_the_run_file_is_refused(command: list[str]) -> None:
    with pytest.raises(ConfigError, match="hold what looks like a key") as caught:
        CommandTarget(command)

    assert "0123" not in str(caught.value)


def test_a_program_that_is_none_is_the_targets_error(ge: GenkitEval, tmp_path: Path) -> None:
    (tmp_path / "broken").write_text("#!/nowhere/python\n", "utf-8")
    (tmp_path / "broken").chmod(0o755)

    result = result_of(ge, CommandTarget(["./broken"], folder=tmp_path), "?")

    assert "command:./broken could not be started" in str(result.error)


@pytest.mark.case("security/dataset-does-not-run-code")
def test_a_dataset_starts_no_command(ge: GenkitEval, tmp_path: Path) -> None:
    started = tmp_path / "started"
    ge.datasets.create("sly", [{"input": 1}], target=f"command:touch {started}")

    with pytest.raises(ConfigError, match="is a command: give it yourself"):
        run_sync(ge.evaluate("sly", evaluators=[]))

    assert not started.exists()


def test_commands_run_on_any_loop(ge: GenkitEval, anyio_backend: str) -> None:
    async def main() -> Any:
        return await ge.evaluate([{"input": n} for n in range(3)], target=python(ECHO), evaluators=[])

    run = anyio.run(main, backend=anyio_backend)

    assert [result.output for result in run.results] == [0, 1, 2]
