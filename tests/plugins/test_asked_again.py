"""Every judged evaluator asks the same each time, whatever its fences: its judge is paid once for the same case."""

from __future__ import annotations

from pathlib import Path

import pytest

from genkit_eval import EvalRun, GenkitEval
from genkit_eval.testing import OpenAIServer, in_form
from genkit_eval_judges import judges
from genkit_eval_metrics import genkit_metrics
from genkit_eval_openai import openai_models

JUDGE, EMBEDDER = "openai/judge", "openai/embedder"
SAMPLE = {
    "testCaseId": "s1",
    "input": "How long is the Nile, and where does it end?",
    "output": "The Nile is 6,650 km long [1]. It ends in the Mediterranean Sea [2].",
    "reference": "The Nile is 6,650 km long and flows into the Mediterranean Sea.",
    "context": ["The Nile is 6,650 km long.", "It flows into the Mediterranean Sea."],
    "instructions": ["Name the length."],
    "goal": "Learn about the Nile.",
    "plan": ["Look it up.", "Answer."],
    "systemPrompt": "You are a guide.",
    "turns": [
        {"role": "user", "content": "How long is the Nile?"},
        {"role": "assistant", "content": "6,650 km."},
        {"role": "user", "content": "Where does it end?"},
        {"role": "assistant", "content": "In the Mediterranean Sea."},
    ],
    "tools": [{"name": "look_up", "arguments": {"river": "Nile"}, "output": "6,650 km"}],
}


def app(url: str, root: Path) -> GenkitEval:
    plugins = [openai_models(base_url=url), genkit_metrics(judge=JUDGE, embedder=EMBEDDER), judges(judge=JUDGE)]
    return GenkitEval(plugins=plugins, root=root)


def judged_names() -> list[str]:
    registry = app("http://127.0.0.1:1/v1", Path()).registry
    return [name for name in registry.ready_evaluators if registry.evaluator(name).models]


def said(run: EvalRun) -> list[tuple[object, ...]]:
    return [(metric.score, metric.outcome, metric.rationale, metric.error) for metric in run.results[0].metrics]


@pytest.mark.anyio
@pytest.mark.parametrize("name", judged_names())
async def test_the_same_case_is_paid_once(name: str, tmp_path: Path) -> None:
    with OpenAIServer(in_form) as server:
        first = await app(server.url, tmp_path).evaluate([SAMPLE], target=None, evaluators=[name])
        asked = len(server.calls)
        again = await app(server.url, tmp_path).evaluate([SAMPLE], target=None, evaluators=[name])

    assert len(server.calls) == asked
    assert said(first) == said(again)
