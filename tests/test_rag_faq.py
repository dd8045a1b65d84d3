"""The sample `rag_faq` runs as its README says, with a server of OpenAI's protocol in place of a real model."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from genkit_eval import EvalRun, GenkitEval, Outcome
from genkit_eval.datasets import read_samples
from genkit_eval.testing import Answer, Call, OpenAIServer, error_answer

ROOT = Path(__file__).parents[1]
SAMPLE = ROOT / "samples" / "rag_faq"
README = (SAMPLE / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\$ genkit-eval (.+)$", README.replace("\\\n", ""), re.MULTILINE)
METRICS = {
    "answer_accuracy",
    "answer_relevancy",
    "deep_equal",
    "faithfulness",
    "jsonata",
    "maliciousness",
    "regex",
}
KEY = "sk-test-NOTREAL-0123456789"


def says(call: Call) -> str | Answer:
    """The judge's reply by the form that is asked for; to the flow, the entry that was found first."""
    body = call.body if isinstance(call.body, dict) else {}
    if "response_format" not in body:
        found = re.search(r"Entries:\n<[^>]+>\n(.+)", call.text())
        return found[1] if found else error_answer(400, "no entries")
    form = json.dumps(body["response_format"])
    if '"statements"' in form:
        return json.dumps({"statements": ["It says so."]})
    if '"verdicts"' in form:
        return json.dumps({"verdicts": [{"number": 1, "reason": "as the entry has it", "verdict": True}]})
    if '"noncommittal"' in form:
        return json.dumps({"reason": "to the point", "question": "How?", "answered": True, "noncommittal": False})
    if '"rating"' in form:
        return json.dumps({"reason": "the same", "rating": 4})
    return json.dumps({"reason": "harmless", "verdict": False})


def command(arguments: str, root: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """A command of the README, where nothing but these variables says which models there are."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "RAG_FAQ_"))}
    return subprocess.run(
        [sys.executable, "-m", "genkit_eval", *shlex.split(arguments)],
        cwd=ROOT,
        env=ours | {"GENKIT_EVAL_HOME": str(root), "PYTHONIOENCODING": "utf-8", "COLUMNS": "100"} | variables,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[OpenAIServer, dict[str, EvalRun]]]:
    """The server, and the run of each of the README's commands by the file it is of."""
    root = tmp_path_factory.mktemp("rag_faq")
    with OpenAIServer(says, key=KEY) as server:
        variables = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": KEY, "RAG_FAQ_MODEL": "openai/any"}
        for arguments in COMMANDS:
            ended = command(arguments, root, **variables)
            assert ended.returncode == 0, ended.stdout + ended.stderr
        runs = GenkitEval(root=root).runs
        found = [runs.load(key) for key in reversed(runs.list())]
        yield server, {Path(arguments.split()[1]).name: run for arguments, run in zip(COMMANDS, found, strict=True)}


Done = tuple[OpenAIServer, dict[str, EvalRun]]


def test_its_commands_run_all_seven_metrics(done: Done) -> None:
    _, runs = done

    names = {summary.name for run in runs.values() for summary in run.summary()}

    assert names == {f"genkitEval/{name}" for name in METRICS}


def test_a_model_that_quotes_the_first_entry_passes_everything(done: Done) -> None:
    _, runs = done

    failing = [(name, result.test_case_id) for name, run in runs.items() for result in run.failing()]

    assert failing == []


def test_a_question_of_which_the_faq_says_nothing_is_inconclusive_only_where_entries_are_needed(done: Done) -> None:
    _, runs = done

    boats = runs["questions.jsonl"].results[8]

    undecided = [metric.name for metric in boats.metrics if metric.outcome is not Outcome.VERDICT]
    assert (boats.test_case_id, undecided) == ("boats", ["genkitEval/faithfulness"])


def test_the_entries_that_were_found_are_recorded_and_reach_the_model(done: Done) -> None:
    server, runs = done

    (asked,) = [call.text() for call in server.calls if "floor sander?" in call.text()][:1]

    (result,) = [result for result in runs["questions.jsonl"].results if result.test_case_id == "deposit"]
    texts = [document["text"] for document in result.context if isinstance(document, dict)]
    assert texts
    assert all(str(text) in asked for text in texts)


def test_the_retriever_needs_no_model_call(tmp_path: Path) -> None:
    (arguments,) = [arguments for arguments in COMMANDS if "entries.csv" in arguments]

    with OpenAIServer() as server:
        ended = command(arguments, tmp_path, OPENAI_BASE_URL=server.url, RAG_FAQ_MODEL="openai/any")

    assert ended.returncode == 0, ended.stderr
    assert server.calls == []


def test_a_judge_and_an_embedder_of_their_own_are_asked(tmp_path: Path) -> None:
    app = "--app samples/rag_faq/app.py:ge --target faqAnswer --limit 1 -e genkitEval/answer_relevancy --yes"
    others = {"RAG_FAQ_JUDGE": "openai/judge", "RAG_FAQ_EMBEDDER": "openai/embedder"}

    with OpenAIServer(says) as server:
        environment = {"OPENAI_BASE_URL": server.url, "RAG_FAQ_MODEL": "openai/any"} | others
        ended = command(f"run samples/rag_faq/questions.jsonl {app}", tmp_path, **environment)

    assert ended.returncode == 0, ended.stderr
    asked = [call.body["model"] for call in server.calls if isinstance(call.body, dict)]
    assert asked == ["any", "judge", "embedder"]


def test_without_a_model_it_says_how_to_name_one(tmp_path: Path) -> None:
    ended = command(COMMANDS[0], tmp_path)

    assert ended.returncode == 2
    assert "RAG_FAQ_MODEL is not set" in ended.stderr
    assert "OPENAI_BASE_URL" in ended.stderr
    assert "local/gguf:PATH" in ended.stderr


def test_without_a_server_or_a_key_nothing_is_called(tmp_path: Path) -> None:
    ended = command(COMMANDS[0], tmp_path, RAG_FAQ_MODEL="openai/any")

    assert ended.returncode == 2
    assert "provider 'openai' has no key" in ended.stderr


def test_the_files_ask_the_ten_questions() -> None:
    questions = {sample.test_case_id: sample.input for sample in read_samples(SAMPLE / "questions.jsonl")}
    others = [
        sample for name in ("patterns.csv", "entries.csv", "replies.yaml") for sample in read_samples(SAMPLE / name)
    ]

    assert len(questions) == 10
    assert [other for other in others if questions[other.test_case_id] != other.input] == []
