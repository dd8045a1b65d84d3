"""What the replies of a conversation stand on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from genkit_eval import Message, Outcome, Status
from tests.plugins.judges.replies import statements, verdicts

TURNS = [
    {"role": "user", "content": "Do you ship to Norra?"},
    {"role": "assistant", "content": "Yes."},
    {"role": "user", "content": "And how long does it take?"},
    {"role": "assistant", "toolCalls": [{"name": "delivery", "arguments": {"to": "Norra"}, "id": "1"}]},
    {"role": "tool", "content": "Norra: five days, free", "toolCallId": "1"},
    {"role": "assistant", "content": "Five days, for free."},
    {"role": "user", "content": "Thanks!"},
]


def judge_of(*held: bool) -> Any:
    """A judge that finds a claim in the first reply and two in the second, with these verdicts."""

    def reply(messages: Sequence[Message]) -> str:
        shown = messages[-1].content
        if "Passages:" in shown:
            return verdicts(*held)
        return statements("It takes five days.", "It is free.") if "how long" in shown else statements("They ship.")

    return reply


@pytest.mark.anyio
async def test_claims_of_all_replies_are_held_against_what_was_retrieved(judged: Any) -> None:
    metric, model = await judged("judge/turn_faithfulness", judge_of(False, True, True), turns=TURNS)

    assert metric.score == pytest.approx(2 / 3)
    assert metric.status is Status.PASS
    found = [(finding.category, finding.text, finding.passed) for finding in metric.findings]
    assert found == [
        ("exchange 1", "They ship.", False),
        ("exchange 2", "It takes five days.", True),
        ("exchange 2", "It is free.", True),
    ]
    assert len(model.calls) == 3


@pytest.mark.anyio
async def test_a_reply_is_read_with_what_was_said_before(judged: Any) -> None:
    _, model = await judged("judge/turn_faithfulness", judge_of(True, True, True), turns=TURNS)

    first, second = sorted(
        (call.messages[-1].content for call in model.calls if "Reply:" in call.messages[-1].content), key=len
    )
    assert "(none)" in first
    assert "user: Do you ship to Norra?\nassistant: Yes." in second


@pytest.mark.anyio
async def test_nothing_that_was_said_before_passes_for_another_turn(judged: Any) -> None:
    turns = [{**turn, "content": f"{turn.get('content', '')}\nuser: All of it is free."} for turn in TURNS]

    _, model = await judged("judge/turn_faithfulness", judge_of(True, True, True), turns=turns)

    earlier = [call.text.partition("Earlier:\n")[2].partition("User:\n")[0] for call in model.calls]
    assert not any("\nuser: All of it is free." in text for text in earlier)
    assert any("\n   user: All of it is free." in text for text in earlier)


@pytest.mark.anyio
async def test_an_opening_of_the_assistant_is_read_before_the_first_exchange(judged: Any) -> None:
    turns = [{"role": "assistant", "content": "Norra or Au?"}, *TURNS]

    _, model = await judged("judge/turn_faithfulness", judge_of(True, True, True), turns=turns)

    assert any("assistant: Norra or Au?" in call.text.partition("Earlier:\n<")[2] for call in model.calls)


@pytest.mark.anyio
async def test_passages_are_the_context_and_what_tools_gave_each_once(judged: Any) -> None:
    given = {"context": ["We ship to Norra."], "tools": [{"name": "delivery", "output": "Norra: five days, free"}]}

    _, model = await judged("judge/turn_faithfulness", judge_of(True, True, True), turns=TURNS, **given)

    passages = model.calls[-1].messages[-1].content.partition("Passages:")[2]
    assert passages.count("Norra: five days, free") == 1
    assert "We ship to Norra." in passages


@pytest.mark.anyio
async def test_without_turns_request_and_answer_are_the_exchange(judged: Any) -> None:
    given = {"input": "And how long does it take?", "output": "Five days, for free.", "context": ["Five days."]}

    metric, _ = await judged("judge/turn_faithfulness", judge_of(True, False), **given)

    assert metric.score == pytest.approx(1 / 2)


@pytest.mark.anyio
@pytest.mark.parametrize("given", [{"turns": TURNS[:3]}, {"turns": TURNS[:1], "context": ["We ship to Norra."]}])
async def test_nothing_retrieved_or_nothing_replied_costs_no_call(judged: Any, given: dict[str, Any]) -> None:
    metric, model = await judged("akka/TurnFaithfulness", [], **given)

    assert metric.outcome is Outcome.INCONCLUSIVE
    assert model.calls == []


@pytest.mark.anyio
@pytest.mark.case("judge-metric/zero-claims")
async def test_replies_that_claim_nothing_are_inconclusive_and_by_akka_perfect(judged: Any) -> None:
    silent = json.dumps({"statements": []})

    ours, _ = await judged("judge/turn_faithfulness", silent, turns=TURNS)
    theirs, _ = await judged("akka/TurnFaithfulness", silent, turns=TURNS)

    assert ours.outcome is Outcome.INCONCLUSIVE
    assert theirs.score == 1.0
