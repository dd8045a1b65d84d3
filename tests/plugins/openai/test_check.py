"""What keeps a judge from working is found out before anything is run or paid for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from genkit_eval import ConfigError, GenkitEval, ModelError, run_sync
from genkit_eval.testing import OpenAIServer
from genkit_eval_metrics import genkit_metrics
from genkit_eval_openai import openai_models


def judged(root: Path, calls: list[Any], **settings: Any) -> GenkitEval:
    plugins = [openai_models(), genkit_metrics(judge="openai/any", metrics=["maliciousness"], **settings)]
    ge = GenkitEval(root=root / ".genkit", plugins=plugins)

    @ge.flow("f")
    def flow(x: str) -> str:
        calls.append(x)
        return x

    return ge


def test_a_judge_without_a_key_is_refused_before_the_target_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    calls: list[Any] = []
    ge = judged(tmp_path, calls)

    with pytest.raises((ConfigError, ModelError), match="set OPENAI_API_KEY"):
        run_sync(ge.evaluate([{"input": "hi"}], target="f", evaluators=["genkitEval/maliciousness"]))

    assert calls == []


def test_a_parameter_that_a_call_sets_by_itself_is_refused_before_the_target_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Any] = []
    with OpenAIServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        ge = judged(tmp_path, calls, judge_config={"stream": True})

        with pytest.raises(ConfigError, match="'stream' is no parameter of a call"):
            run_sync(ge.evaluate([{"input": "hi"}], target="f", evaluators=["genkitEval/maliciousness"]))

    assert calls == []
    assert server.calls == []


def test_a_refusal_by_the_reason_to_end_is_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from genkit_eval.testing import chat_answer

    with OpenAIServer(chat_answer("I will not judge this.", finish_reason="refusal")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        run = run_sync(
            judged(tmp_path, []).evaluate([{"input": "hi"}], target="f", evaluators=["genkitEval/maliciousness"])
        )

    assert "refused" in str(run.results[0].metrics[0].error)
    assert len(server.calls) == 1
