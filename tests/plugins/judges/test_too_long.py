"""Conversations that are more than a judge can read at once: read in parts, or refused with the figure; never cut."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import pytest

from genkit_eval import JudgeError, Message, ModelError, Outcome, Reply, Usage
from genkit_eval.prompts import fenced_in
from tests.plugins.judges.replies import rating

pytestmark = pytest.mark.anyio


def chat(exchanges: int) -> list[dict[str, str]]:
    turns = []
    for number in range(1, exchanges + 1):
        turns += [
            {"role": "user", "content": f"question {number}"},
            {"role": "assistant", "content": f"answer {number}"},
        ]
    return turns


def reader(most: int) -> Any:
    """A judge that reads so many exchanges at once, and finds that every third is not answered."""

    def answer(messages: Sequence[Message]) -> str | Exception:
        text = messages[-1].content
        if len(re.findall(r"answer \d+", text)) > most:
            return ModelError("the prompt is longer than the model's context window", kind="window")
        asked = re.findall(r"(?m)^(\d+)\. User:\n<data-[0-9a-f]+>\nquestion (\d+)$", text)
        found = [{"number": int(at), "reason": "r", "verdict": int(number) % 3 != 0} for at, number in asked]
        return json.dumps({"verdicts": found})

    return answer


@pytest.mark.parametrize("most", [200, 45, 30, 12])
async def test_each_exchange_is_judged_however_little_is_read_at_once(judged: Any, most: int) -> None:
    metric, model = await judged("judge/exchange_relevancy", reader(most), turns=chat(60))

    assert metric.score == pytest.approx(40 / 60)
    assert [finding.text for finding in metric.findings[:2]] == ["question 1 -> answer 1", "question 2 -> answer 2"]
    assert [finding.passed for finding in metric.findings] == [number % 3 != 0 for number in range(1, 61)]
    whole = most >= 60
    assert ("evidenceParts" in (metric.details or {})) is not whole
    if whole:
        assert len(model.calls) == 3


async def test_a_rating_of_all_of_it_is_refused_with_the_figure(judged: Any) -> None:
    metric, model = await judged("judge/conversation_completeness", reader(10), turns=chat(60), goal="all is answered")

    assert metric.outcome is Outcome.FAILED
    assert "the conversation of 120 turns, 1,182 characters or some 295 tokens" in str(metric.error)
    assert "is not cut" in str(metric.error)
    assert len(model.calls) == 1


async def test_a_prompt_that_a_server_cut_without_a_word_is_no_verdict(judged: Any) -> None:
    cut = Reply(text=rating(5), usage=Usage(input_tokens=2_048))
    turns = [{"role": "user", "content": "a word " * 9_000}, {"role": "assistant", "content": "Yes."}]

    metric, _ = await judged("judge/conversation_completeness", cut, turns=turns, goal="g")

    assert metric.outcome is Outcome.FAILED
    assert "its server read 2,048 tokens of a prompt of 6" in str(metric.error)


@pytest.mark.parametrize("usage", [Usage(input_tokens=14_000), Usage(input_tokens=7), Usage(output_tokens=3), None])
async def test_a_prompt_that_was_read_is_not_said_to_be_cut(judged: Any, usage: Usage | None) -> None:
    whole = Reply(text=rating(5), usage=usage)
    turns = [{"role": "user", "content": "a word " * 9_000}, {"role": "assistant", "content": "Yes."}]

    metric, model = await judged("judge/conversation_completeness", whole, turns=turns, goal="g")

    assert metric.score == 1
    assert len(fenced_in(model.calls[0].text)) > 60_000


@pytest.mark.parametrize("kind", ["attachments", "output_attachments"])
async def test_the_reason_names_what_was_too_long_without_turns(judged: Any, kind: str) -> None:
    """A file counts too: of 34 characters here, and 31 of its title."""
    failure = JudgeError("the prompt is longer than the model's context window", kind="window")
    file = {"url": "data:,%3Csvg%3E%3Ctext%3Eten%20to%20six%3C/text%3E%3C/svg%3E", "name": "a.svg"}

    metric, _ = await judged("quality/politeness", failure, input="q", output="a" * 4_000, **{kind: [file]})

    assert "the case, 4,066 characters or some 1,016 tokens, is more than the judge can read" in str(metric.error)
