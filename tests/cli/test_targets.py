"""Targets on the command line: endpoints, commands, models with parameters."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine, run_files
from tests.engine.endpoints import Answer, Endpoint

pytestmark = pytest.mark.usefixtures("no_proxy")

SECRET = "sk-test-NOTREAL-0123456789"
RUN = ("run", "numbers.jsonl", "-e", "my/said")


def test_an_endpoint_is_named_by_its_address(genkit_eval: CommandLine, app: Path) -> None:
    with Endpoint(lambda asked: Answer(json=asked.json)) as endpoint:
        done = genkit_eval(*RUN, "--target", endpoint.url)

    assert done.code == 0
    assert f"{endpoint.url} on numbers.jsonl" in done.out
    assert sorted(asked.json for asked in endpoint.asked) == [0, 1, 2, 3]


def test_an_endpoint_takes_expressions_headers_and_a_method(
    genkit_eval: CommandLine, app: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANSWER_TOKEN", SECRET)
    with Endpoint(lambda asked: Answer(json={"answer": {"n": asked.json["n"] * 2}})) as endpoint:
        done = genkit_eval(
            *RUN,
            *("-t", endpoint.url, "--target-request", '{"n": $}', "--target-response", "answer.n"),
            *("--target-header", "Authorization: Bearer ${ANSWER_TOKEN}", "--target-method", "put", "--json"),
        )

    [file] = run_files(app)
    outputs = [result["output"] for result in json.loads(file.read_text("utf-8"))["results"]]
    assert outputs == [0, 2, 4, 6]
    assert {(asked.method, asked.headers["authorization"]) for asked in endpoint.asked} == {("PUT", f"Bearer {SECRET}")}
    assert SECRET not in file.read_text("utf-8") + done.out + done.err


@pytest.mark.case("security/key-in-files-and-logs")
def test_a_secret_that_is_written_out_is_refused_without_being_said(genkit_eval: CommandLine, app: Path) -> None:
    done = genkit_eval(*RUN, "-t", "http://127.0.0.1:1/", "--target-header", f"Authorization: Bearer {SECRET}")

    assert done.code == 2
    assert "like ${NAME} (in a shell within single quotes)" in done.err
    assert SECRET not in done.out + done.err


def test_a_command_is_named_with_its_arguments(genkit_eval: CommandLine, app: Path) -> None:
    (app / "double it.py").write_text("import json, sys; print(json.load(sys.stdin) * int(sys.argv[1]))", "utf-8")
    command = shlex.join([sys.executable, "double it.py", "2"])

    done = genkit_eval(*RUN, "--target", f"command:{command}", "--json")

    [file] = run_files(app)
    assert done.code == 0
    assert [result["output"] for result in json.loads(file.read_text("utf-8"))["results"]] == [0, 2, 4, 6]
    assert done.json["key"]["actionRef"] == f"command:{command}"


def test_runs_are_listed_by_their_endpoint(genkit_eval: CommandLine, app: Path) -> None:
    with Endpoint(lambda asked: Answer(json=asked.json)) as endpoint:
        genkit_eval(*RUN, "-t", endpoint.url)
    genkit_eval(*RUN, "-t", "echo")

    found = genkit_eval("list", "--target", endpoint.url, "--json").json["runs"]

    assert [run["actionRef"] for run in found] == [endpoint.url]


def test_a_dataset_may_name_an_endpoint(genkit_eval: CommandLine, app: Path) -> None:
    with Endpoint(lambda asked: Answer(json=asked.json)) as endpoint:
        genkit_eval("dataset", "add", "numbers", "numbers.jsonl", "-t", endpoint.url, "-e", "my/yes")
        done = genkit_eval("run", "numbers")

    assert done.code == 0
    assert len(endpoint.asked) == 4


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--no-target", "-t", "echo"), "exclude each other"),
        (("-t", "echo", "--target-request", "$"), "--target-request is for an endpoint"),
        (("--no-target", "--target-header", f"A: {SECRET}"), "--target-header is for an endpoint"),
        (("-t", "http://h/", "--target-header", SECRET), "--target-header has no colon"),
        (("-t", "http://h/", "--target-request", "foo("), "the request expression 'foo('"),
        (("-t", "echo", "--target-config", "{}"), "--target-config is for a model"),
        (("-t", "/model/openai/x", "--target-config", "{"), "--target-config is no JSON"),
        (("-t", "/model/openai/x", "--target-config", "[" * 50_000), "--target-config is no JSON"),
        (("-t", "/model/openai/x", "--target-config", "[1]"), "give an object of parameters"),
        (("-t", "http://h/", "--target-header", "A: 1", "--target-header", "a: 2"), "--target-header a is given twice"),
        (("-t", "localhost:8000/answer"), "an endpoint's begins with http://"),
        (("-t", "ws://h/"), "an endpoint's begins with http://"),
        (("-t", "./answer --x"), "a command's with command:"),
        (("-t", "command:"), "names no program"),
        (("-t", "command:'./answer"), "No closing quotation"),
        (("-t", "command:./nowhere"), "'./nowhere' is no program"),
    ],
)
def test_what_does_not_fit_is_a_usage_error(
    genkit_eval: CommandLine, app: Path, options: tuple[str, ...], said: str
) -> None:
    done = genkit_eval(*RUN, *options)

    assert done.code == 2
    assert said in done.err
    assert SECRET not in done.err
    assert run_files(app) == []


@pytest.mark.case("security/dataset-does-not-run-code")
def test_a_dataset_names_no_command(genkit_eval: CommandLine, app: Path) -> None:
    done = genkit_eval("dataset", "add", "numbers", "numbers.jsonl", "-t", "command:./answer")

    assert done.code == 2
    assert "starts no command" in done.err
