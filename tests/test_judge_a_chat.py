"""The sample `judge_a_chat` runs as its README says: by its script, and through the client of OpenAI's protocol."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from genkit_eval import EvalMetric, EvalRun, GenkitEval, Message, Outcome, Status
from genkit_eval.testing import Answer, Call, OpenAIServer, error_answer

ROOT = Path(__file__).parents[1]
SAMPLE = ROOT / "samples" / "judge_a_chat"
(COMMAND,) = re.findall(
    r"^\$ genkit-eval (.+)$", (SAMPLE / "README.md").read_text(encoding="utf-8").replace("\\\n", ""), re.MULTILINE
)
FOUND: Mapping[str, Mapping[str, object]] = {
    "chat": {
        "judge/exchange_relevancy": 1.0,
        "judge/turn_faithfulness": 2 / 3,
        "judge/conversation_completeness": 0.75,
        "judge/knowledge_retention": 0.5,
        "quality/politeness": 0.8,
        "judge/step_efficiency": 1.0,
    },
    "trace": {
        "judge/exchange_relevancy": 1.0,
        "judge/turn_faithfulness": 1.0,
        "quality/politeness": 0.6,
        "judge/task_completion": 0.5,
        "judge/plan_adherence": 0.75,
        "judge/step_efficiency": 0.8,
        "judge/tool_correctness": 0.85,
        "judge/argument_correctness": 0.8,
    },
}
FAILING = {"judge/turn_faithfulness", "judge/knowledge_retention", "judge/argument_correctness"}


def ran(root: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """The command of the README, where nothing but these variables says which models there are."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "JUDGE_A_CHAT"))}
    return subprocess.run(
        [sys.executable, "-m", "genkit_eval", *shlex.split(COMMAND)],
        cwd=ROOT,
        env=ours | {"GENKIT_EVAL_HOME": str(root), "PYTHONIOENCODING": "utf-8", "COLUMNS": "100"} | variables,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )


def loaded(root: Path) -> EvalRun:
    ge = GenkitEval(root=root)
    return ge.runs.load(ge.runs.list()[0])


def by_name(run: EvalRun, case: str) -> Mapping[str, EvalMetric]:
    [result] = [result for result in run.results if result.test_case_id == case]
    return {metric.evaluator.removeprefix("/evaluator/"): metric for metric in result.metrics}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> EvalRun:
    root = tmp_path_factory.mktemp("scripted")
    done = ran(root, JUDGE_A_CHAT_MODEL="scripted")
    assert done.returncode == 0, done.stdout + done.stderr
    return loaded(root)


def test_ten_evaluators_judge_both_cases(run: EvalRun) -> None:
    assert len(run.summary()) == 10
    for case, expected in FOUND.items():
        metrics = by_name(run, case)
        scores = {name: metric.score for name, metric in metrics.items() if metric.score is not None}
        assert scores == pytest.approx(expected)
        assert all(metrics[name].outcome is Outcome.INCONCLUSIVE for name in metrics.keys() - expected.keys())


def test_what_is_wrong_is_found_and_named(run: EvalRun) -> None:
    chat, trace = by_name(run, "chat"), by_name(run, "trace")

    failing = {name for metrics in (chat, trace) for name, item in metrics.items() if item.status is Status.FAIL}
    assert failing == FAILING
    assert "voucher" in str(chat["judge/turn_faithfulness"].rationale)
    assert "1001" in str(chat["judge/knowledge_retention"].rationale)
    assert [finding.passed for finding in trace["judge/argument_correctness"].findings] == [True] * 3 + [False, True]
    assert trace["judge/task_completion"].outcome is Outcome.UNDECIDED


def scripted() -> Callable[[Sequence[Message]], Any]:
    """The function in `scripted.py`."""
    spec = importlib.util.spec_from_file_location("scripted_judge", SAMPLE / "scripted.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    reply: Callable[[Sequence[Message]], Any] = module.reply
    return reply


def test_three_models_of_a_server_are_a_panel(tmp_path: Path) -> None:
    reply = scripted()

    def says(call: Call) -> str | Answer:
        body: Any = call.body
        said = reply([Message(role=item["role"], content=item["content"]) for item in body["messages"]])
        return said if isinstance(said, str) else error_answer(400, str(said))

    with OpenAIServer(says) as server:
        done = ran(
            tmp_path,
            JUDGE_A_CHAT_MODEL="openai/a,openai/b,openai/c",
            OPENAI_BASE_URL=server.url,
            OPENAI_API_KEY="sk-test-NOTREAL",
        )
        models = [body["model"] for body in server.bodies()]

    assert done.returncode == 0, done.stdout + done.stderr
    trace = by_name(loaded(tmp_path), "trace")
    assert {name: metric.score for name, metric in trace.items() if metric.score is not None} == pytest.approx(
        FOUND["trace"]
    )
    panel = (trace["judge/argument_correctness"].details or {})["panel"]
    assert [item["judge"] for item in panel["judges"]] == ["openai/a", "openai/b", "openai/c"]
    assert panel["agreement"] == 1.0
    assert models.count("a") == models.count("b") == models.count("c")


def test_without_a_model_it_says_how_to_name_one(tmp_path: Path) -> None:
    done = ran(tmp_path)

    assert done.returncode == 2
    assert "JUDGE_A_CHAT_MODEL is not set: name a model, 'openai/NAME'" in done.stderr
