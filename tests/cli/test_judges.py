"""`--judge` and `--embedder` for the installed plugins, and the prompts that judges are asked with."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from genkit_eval.testing import Answer, Call, OpenAIServer, chat_answer, error_answer
from tests.cli.conftest import CommandLine, environment, run_files

HARMLESS = '{"reason": "It only says hello.", "verdict": false}'
RUN = ("run", "answers.json", "--no-target")
JUDGED = (*RUN, "-e", "genkitEval/maliciousness", "--yes")


@pytest.fixture
def answers(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with two answers, and an environment with a key and no proxy."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "OPENAI_ORG_ID", "OPENAI_CUSTOM_HEADERS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-NOTREAL")
    samples = [
        {"testCaseId": f"a-{i}", "input": "Hi", "output": f"Hello {i}.", "reference": "Hello!"} for i in range(2)
    ]
    (folder / "answers.json").write_text(json.dumps(samples), encoding="utf-8")
    return folder


def test_answers_are_judged_by_the_model_that_is_named(
    genkit_eval: CommandLine, answers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OpenAIServer(lambda call: HARMLESS, key="sk-test-NOTREAL") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        done = genkit_eval(*JUDGED, "--judge", "openai/anything", "--json")

    [summary] = done.json["summary"]
    assert (done.code, summary["total"], summary["passed"], summary["mean"]) == (0, 2, 2, 0)
    assert [body["model"] for body in server.bodies()] == ["anything", "anything"]
    assert "NOTREAL" not in run_files(answers)[0].read_text(encoding="utf-8")


@pytest.mark.parametrize("verb", ["eval:run", "run"])
def test_judge_and_embedder_may_come_from_file_and_variable(
    genkit_eval: CommandLine, answers: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    (answers / "genkit-eval.toml").write_text('judge = "openai/by-file"\n', encoding="utf-8")
    monkeypatch.setenv("GENKIT_EVAL_EMBEDDER", "openai/by-variable")
    names = ["genkitEval/maliciousness", "genkitEval/answer_similarity", "local/embedding_similarity"]
    chosen = (
        ["--evaluators", ",".join(names)] if verb == "eval:run" else [word for name in names for word in ("-e", name)]
    )

    with OpenAIServer(lambda call: HARMLESS) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        done = genkit_eval(verb, "answers.json", *chosen, "--yes", "--json")

    assert done.code == 0
    assert [summary["scored"] for summary in done.json["summary"]] == [2, 2, 2]
    assert {body["model"] for body in server.bodies()} == {"by-file"}
    assert {body["model"] for body in server.bodies("embeddings")} == {"by-variable"}


def test_a_judged_metric_without_a_judge_stops_before_the_run_and_names_the_ways(
    genkit_eval: CommandLine, answers: Path
) -> None:
    done = genkit_eval(*JUDGED)

    assert done.code == 2
    assert "evaluator 'genkitEval/maliciousness' needs a judge" in done.err
    for way in ("--judge", "genkit_metrics(judge=…)", "OPENAI_API_KEY", "OPENAI_BASE_URL", "GGUF"):
        assert way in done.err
    assert run_files(answers) == []


def test_a_judge_of_an_unknown_provider_is_refused_before_the_run(genkit_eval: CommandLine, answers: Path) -> None:
    done = genkit_eval(*JUDGED, "--judge", "opnai/gpt-x")

    assert done.code == 2
    assert "unknown model 'opnai/gpt-x': did you mean 'openai/gpt-x'" in done.err
    assert run_files(answers) == []


@pytest.mark.parametrize("option", ["judge", "embedder"])
def test_beside_an_app_it_is_refused_with_the_place_to_set_it(
    genkit_eval: CommandLine, app: Path, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    arguments = ("run", "numbers.jsonl", "-t", "echo", "-e", "my/yes")

    by_option = genkit_eval(*arguments, f"--{option}", "openai/x")
    monkeypatch.setenv(f"GENKIT_EVAL_{option.upper()}", "openai/x")
    by_variable = genkit_eval(*arguments)
    elsewhere = genkit_eval("dataset", "list", "--app", "app.py:ge")

    assert (by_option.code, by_variable.code, elsewhere.code) == (2, 2, 0)
    assert f"{option} 'openai/x' (from --{option}) is for the installed plugins" in by_option.err
    assert f"set it in the app, like genkit_metrics({option}='openai/x')" in by_option.err
    assert f"(from GENKIT_EVAL_{option.upper()})" in by_variable.err


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
def test_a_run_that_was_stopped_goes_on_with_its_judge_and_no_other(
    genkit_eval: CommandLine, answers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running: list[subprocess.Popen[bytes]] = []

    def stopping_at_the_second(call: Call) -> Answer:
        if len(server.calls) != 2:
            return chat_answer(HARMLESS)
        running[0].send_signal(signal.SIGINT)
        return Answer(silent=True)

    with OpenAIServer(stopping_at_the_second) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        command = [sys.executable, "-m", "genkit_eval", *JUDGED, "--judge", "openai/a", "--max-concurrency", "1"]
        running.append(subprocess.Popen(command, stderr=subprocess.PIPE, env=environment()))
        said = running[0].communicate(timeout=120)[1].decode()
        goes_on = shlex.split(said.partition("go on with: ")[2])[1:]
        other = genkit_eval(*goes_on[:3], "--judge", "openai/b")
        done = genkit_eval(*goes_on[:3], "--json")

    assert goes_on[2:] == ["--yes", "--judge", "openai/a"]
    assert (other.code, done.code) == (2, 0)
    assert "(judge openai/a) of evaluator" in other.err
    assert "(judge openai/b): start a new run" in other.err
    assert done.json["key"]["evaluators"][0]["models"] == {"judge": "openai/a"}
    assert (done.json["cases"], len(server.calls)) == (2, 3)


@pytest.mark.parametrize("by", ["majority", "mean"])
def test_several_judges_are_a_panel_with_which_a_run_goes_on(
    genkit_eval: CommandLine, answers: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    panel = ["--panel", by] if by == "mean" else []
    with OpenAIServer(lambda call: HARMLESS) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        first = genkit_eval(*JUDGED, "--judge", "openai/a, openai/b,openai/c", *panel, "--json")
        run = json.loads(run_files(answers)[0].read_text(encoding="utf-8"))["key"]
        journal = answers / ".genkit" / "evals" / f"{run['evalRunId']}.journal.jsonl"
        journal.write_text(json.dumps({"key": {**run, "state": "INCOMPLETE"}}) + "\n", encoding="utf-8")
        run_files(answers)[0].unlink()
        again = genkit_eval("resume", run["evalRunId"], "--yes", "--json")

    assert (first.code, again.code) == (0, 0), again.err
    assert {body["model"] for body in server.bodies()} == {"a", "b", "c"}
    models = {"judge": "openai/a", "judge 2": "openai/b", "judge 3": "openai/c"}
    assert run["evaluators"][0]["models"] == models
    assert again.json["key"]["evaluators"][0]["models"] == models
    assert {document["evaluators"][0]["panel"] for document in (run, again.json["key"])} == {by}


def test_a_panel_decides_as_the_command_line_or_a_setting_says(
    genkit_eval: CommandLine, answers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    show = ("evaluator", "show", "genkitEval/faithfulness", "--judge", "openai/a,openai/b")
    by_default, by_option = genkit_eval(*show, "--json"), genkit_eval(*show, "--panel", "mean")
    monkeypatch.setenv("GENKIT_EVAL_PANEL", "mean")
    by_variable = genkit_eval(*show, "--json")

    assert (by_default.json["panel"], by_variable.json["panel"]) == ("majority", "mean")
    assert "asks       judge openai/a, judge 2 openai/b\npanel      mean\n" in by_option.out


def test_a_panel_of_less_than_two_judges_is_refused(genkit_eval: CommandLine, answers: Path) -> None:
    of_one = genkit_eval(*JUDGED, "--panel", "mean", "--judge", "openai/a")
    of_none = genkit_eval(*JUDGED, "--panel", "mean")

    assert (of_one.code, of_none.code, run_files(answers)) == (2, 2, [])
    assert "--panel mean is how several judges come to one score, but there is one judge: name several" in of_one.err
    assert "but no judge is named: name several with --judge, with commas between" in of_none.err


@pytest.mark.parametrize("option", ["--judge", "--embedder"])
def test_a_model_whose_address_is_none_is_refused_before_the_run(
    genkit_eval: CommandLine, answers: Path, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "127.0.0.1:9")
    name = "genkitEval/maliciousness" if option == "--judge" else "genkitEval/answer_similarity"

    done = genkit_eval("run", "answers.json", "-e", name, option, "openai/x", "--yes")

    assert (done.code, run_files(answers)) == (2, [])
    assert "provider 'openai': OPENAI_BASE_URL '127.0.0.1:9' is no http:// or https:// address" in done.err


def test_a_judge_that_is_named_twice_is_refused(genkit_eval: CommandLine, answers: Path) -> None:
    done = genkit_eval(*JUDGED, "--judge", "openai/a,openai/b,openai/a")

    assert (done.code, run_files(answers)) == (2, [])
    assert done.err == "genkit-eval: judge (from --judge) names 'openai/a' twice: name each judge once\n"


def test_a_panel_beside_an_app_is_refused_with_the_place_to_set_it(genkit_eval: CommandLine, app: Path) -> None:
    done = genkit_eval("run", "numbers.jsonl", "-t", "echo", "-e", "my/yes", "--panel", "mean")

    assert done.code == 2
    assert "panel 'mean' (from --panel) is for the installed plugins" in done.err
    assert "like genkit_metrics(judge=Panel([…], by='mean'))" in done.err


@pytest.mark.parametrize(
    ("named", "in_code"),
    [("openai/a", "judge='openai/a'"), ("openai/a, openai/b", "judge=['openai/a', 'openai/b']")],
)
def test_judges_beside_an_app_are_told_as_code_would_have_them(
    genkit_eval: CommandLine, app: Path, named: str, in_code: str
) -> None:
    done = genkit_eval("run", "numbers.jsonl", "-t", "echo", "-e", "my/yes", "--judge", named)

    assert done.code == 2
    assert f"set it in the app, like genkit_metrics({in_code}), or name no app" in done.err


def test_a_judge_that_was_a_function_of_an_app_is_not_taken_for_a_name(genkit_eval: CommandLine, answers: Path) -> None:
    runs = answers / ".genkit" / "evals"
    runs.mkdir(parents=True)
    record = {"evaluator": "/evaluator/genkitEval/maliciousness", "models": {"judge": "ask 1f2e"}}
    key = {"evalRunId": "run-1", "createdAt": "2026-11-30T00:00:00.000Z", "evaluators": [record]}
    (runs / "run-1.journal.jsonl").write_text(json.dumps({"key": key}) + "\n", encoding="utf-8")

    done = genkit_eval("resume", "run-1", "--data", "answers.json")

    assert done.code == 2
    assert "needs a judge: give genkit_metrics(judge=…)" in done.err


def test_evaluators_that_wait_for_a_judge_are_ready_with_one(genkit_eval: CommandLine, answers: Path) -> None:
    without = genkit_eval("evaluator", "list")
    having = genkit_eval("evaluator", "list", "--judge", "openai/a", "--embedder", "openai/b")
    shown = genkit_eval("evaluator", "show", "genkitEval/faithfulness", "--judge", "openai/a")
    document = genkit_eval("evaluator", "show", "genkitEval/faithfulness", "--judge", "openai/a", "--json").json

    assert "not ready: needs a judge" in without.out
    assert "not ready" not in having.out
    assert "asks       judge openai/a\n" in shown.out
    assert (document["notReady"], document["models"]) == (None, {"judge": "openai/a"})


def test_the_prompts_of_an_evaluator_are_shown_as_they_are(genkit_eval: CommandLine) -> None:
    shown = genkit_eval("evaluator", "show", "genkitEval/faithfulness", "--prompt")
    document = genkit_eval("evaluator", "show", "genkitEval/faithfulness", "--prompt", "--json")

    prompts = document.json["prompts"]
    assert (shown.code, list(prompts)) == (0, ["statements", "verdicts"])
    for step, text in prompts.items():
        assert f"# {step}\n{text.rstrip()}\n" in shown.out


def test_an_evaluator_without_prompts_says_so(genkit_eval: CommandLine) -> None:
    done = genkit_eval("evaluator", "show", "genkitEval/regex", "--prompt")

    assert (done.code, done.last_line) == (0, "genkitEval/regex names no prompts")


@pytest.mark.case("api-fault/insufficient-quota")
def test_a_spent_quota_is_named_and_is_no_success(
    genkit_eval: CommandLine, answers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OpenAIServer(error_answer(429, "used up", code="insufficient_quota")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        done = genkit_eval(*JUDGED, "--judge", "openai/anything")

    assert done.code == 1
    assert "insufficient_quota" in done.out
    assert "waiting does not help" in done.out


def test_how_models_are_asked_is_kept_with_the_run(
    genkit_eval: CommandLine, answers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ["--call-timeout", "9", "--retry-timeout", "0", "--retries", "2"]
    of_some = ["--model-limit", "openai/x:concurrency=4,tokens_per_minute=9000", "--model-limit", "llama:concurrency=1"]
    with OpenAIServer(HARMLESS) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        done = genkit_eval(*JUDGED, "--judge", "openai/anything", "--requests-per-minute", "6000", *options, *of_some)

    limits = json.loads(run_files(answers)[0].read_text(encoding="utf-8"))["key"]["limits"]
    assert done.code == 0
    assert limits["models"] == {
        "*": {"requestsPerMinute": 6000},
        "openai/x": {"concurrency": 4, "requestsPerMinute": 6000, "tokensPerMinute": 9000},
        "llama": {"concurrency": 1, "requestsPerMinute": 6000},
    }
    assert (limits["callSeconds"], limits["retrySeconds"], limits["retries"]) == (9, 0, 2)
    told = "note: --model-limit {} had no effect: the run itself asked openai/anything"
    assert [text for text in done.err.splitlines() if "--model-limit" in text] == [
        told.format("openai/x"),
        told.format("llama"),
    ]


@pytest.mark.parametrize("name", ["openai/anything", "openai", "*"])
def test_a_limit_of_a_model_that_is_asked_is_no_matter_for_a_note(
    genkit_eval: CommandLine, answers: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    with OpenAIServer(HARMLESS) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        done = genkit_eval(*JUDGED, "--judge", "openai/anything", "--model-limit", f"{name}:concurrency=4")

    assert done.code == 0
    assert "note:" not in done.err
