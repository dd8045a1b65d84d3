"""Whole conversations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from genkit_eval import DataPoint, Message, Outcome, Status
from genkit_eval.testing import data_point
from genkit_eval_judges import Inputs
from genkit_eval_judges.inputs import Exchange
from tests.plugins.judges.replies import aspects, rating, statements, verdicts


def said(*lines: str) -> list[dict[str, str]]:
    """Turns of user and assistant, by turns."""
    return [{"role": ("user", "assistant")[place % 2], "content": line} for place, line in enumerate(lines)]


BIKE = said("I'm Ines; a bike for hills, up to 400.", "The Alpa costs 650.", "Hm.", "Where will you ride it, Ines?")


# --- completeness -------------------------------------------------------------------------------------------------


@pytest.mark.anyio
@pytest.mark.parametrize(("rated", "score"), [(1, 0.0), (3, 0.5), (5, 1.0)])
async def test_completeness_is_rated_from_1_to_5_by_the_goal(judged: Any, rated: int, score: float) -> None:
    metric, model = await judged("tnsai/conversation_completeness", rating(rated), turns=BIKE, goal="Ines has a bike.")

    assert metric.score == score
    assert metric.status is (Status.PASS if score >= 0.5 else Status.FAIL)
    shown = model.calls[0].messages[-1].content
    assert "Ines has a bike." in shown
    assert "2. assistant: The Alpa costs 650.\n3. user: Hm." in shown


@pytest.mark.anyio
@pytest.mark.parametrize("given", [{"turns": BIKE}, {"goal": "Ines has a bike."}])
async def test_completeness_needs_turns_and_a_goal(judged: Any, given: dict[str, Any]) -> None:
    metric, model = await judged("judge/conversation_completeness", [], **given)

    assert metric.outcome is Outcome.INCONCLUSIVE
    assert model.calls == []


# --- retention ----------------------------------------------------------------------------------------------------

FACTS = statements("Turn 1: the user is called Ines.", "Turn 1: up to 400.", "Turn 1: for hills.")


@pytest.mark.anyio
async def test_two_facts_of_three_were_kept(judged: Any) -> None:
    metric, model = await judged("judge/knowledge_retention", [FACTS, verdicts(True, False, True)], turns=BIKE)

    assert metric.score == pytest.approx(2 / 3)
    assert metric.rationale == "2 of 3 facts kept; not: Turn 1: up to 400. reason 2"
    assert len(model.calls) == 2


@pytest.mark.anyio
async def test_facts_are_those_told_before_the_last_reply(judged: Any) -> None:
    turns = [*BIKE, {"role": "user", "content": "In Norra."}]

    _, model = await judged("tnsai/knowledge_retention", [FACTS, verdicts(True, True, True)], turns=turns)

    facts, kept = (call.messages[-1].content for call in model.calls)
    assert "3. user: Hm." in facts
    assert "Where will you ride it" not in facts
    assert "4. assistant: Where will you ride it, Ines?\n5. user: In Norra." in kept


@pytest.mark.anyio
async def test_nothing_told_is_inconclusive(judged: Any) -> None:
    metric, model = await judged("judge/knowledge_retention", [statements()], turns=said("Hi!", "Hello."))

    assert metric.outcome is Outcome.INCONCLUSIVE
    assert len(model.calls) == 1


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["judge/knowledge_retention", "judge/turn_relevancy"])
@pytest.mark.parametrize(
    "turns",
    [
        said("Hi!"),
        said("Hi!", ""),
        [{"role": "assistant", "content": "Hello."}, {"role": "user", "content": "Hi!"}],
        [{"role": "user", "content": "Hi!"}, {"role": "assistant", "toolCalls": [{"name": "wave"}]}],
        None,
    ],
)
async def test_it_takes_two_turns_the_later_an_assistants(judged: Any, name: str, turns: Any) -> None:
    metric, model = await judged(name, [], **({} if turns is None else {"turns": turns}))

    assert metric.outcome is Outcome.INCONCLUSIVE
    assert model.calls == []


# --- the last turn ------------------------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_turn_relevancy_is_the_mean_of_three_ratings_of_the_last_reply(judged: Any) -> None:
    replies = aspects(context_alignment=1, query_addressing=3, coherence=5)

    metric, model = await judged("tnsai/turn_relevancy", replies, turns=BIKE)

    # (0/4 + 2/4 + 4/4) / 3
    assert metric.score == pytest.approx(1 / 2)
    earlier, _, reply = model.calls[0].messages[-1].content.partition("Reply:")
    assert "Where will you ride it" in reply
    assert "Where will you ride it" not in earlier


@pytest.mark.anyio
async def test_an_output_is_the_last_turn_of_the_turns_before_it(judged: Any) -> None:
    replies = aspects(context_alignment=5, query_addressing=5, coherence=5)

    _, model = await judged("judge/turn_relevancy", replies, turns=BIKE[:3], output="This one costs 390.")

    assert "This one costs 390." in model.calls[0].messages[-1].content.partition("Reply:")[2]


# --- exchanges ----------------------------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_two_exchanges_of_three_are_answered_and_one_left_open_is_left_out(judged: Any) -> None:
    turns = said("Ship to Norra?", "Yes.", "The cost?", "We ship.", "Which box?", "How tall?", "Forty.")

    metric, model = await judged("akka/TurnRelevancy", [verdicts(True, False, True)], turns=turns)

    assert metric.score == pytest.approx(2 / 3)
    assert [finding.text for finding in metric.findings] == [
        "Ship to Norra? -> Yes.",
        "The cost? -> We ship.",
        "Which box? -> How tall?",
    ]
    assert "Forty." not in model.calls[0].text
    assert len(model.calls) == 1


@pytest.mark.anyio
async def test_later_exchanges_are_read_with_those_before_them(judged: Any) -> None:
    lines = [text for number in range(1, 23) for text in (f"Question {number}?", f"Answer {number}.")]

    def judge(messages: Sequence[Message]) -> str:
        exchanges = messages[-1].content.partition("Before them:")[0]
        return verdicts(*[True] * exchanges.count("Reply:"))

    metric, model = await judged("judge/exchange_relevancy", judge, turns=said(*lines))

    assert metric.score == 1.0
    assert len(metric.findings) == 22
    first, second = (call.messages[-1].content.partition("Before them:")[2] for call in model.calls)
    assert first.strip() == "(none)"
    assert "Question 20?" in second


@pytest.mark.anyio
async def test_without_turns_request_and_answer_are_one_exchange(judged: Any) -> None:
    metric, _ = await judged("judge/exchange_relevancy", [verdicts(True)], input="Ship to Norra?", output="Yes.")

    assert metric.score == 1.0


@pytest.mark.anyio
@pytest.mark.parametrize("given", [{"turns": said("Ship to Norra?")}, {"input": "Ship to Norra?"}])
async def test_nobody_answered_is_no_exchange(judged: Any, given: dict[str, Any]) -> None:
    metric, model = await judged("judge/exchange_relevancy", [], **given)

    assert metric.outcome is Outcome.INCONCLUSIVE
    assert model.calls == []


def test_who_speaks_several_times_in_a_row_is_heard_whole() -> None:
    turns = [
        {"role": "user", "content": "Hi!"},
        {"role": "user", "content": "Rain tomorrow?"},
        {"role": "assistant", "content": "Let me look.", "toolCalls": [{"name": "forecast"}]},
        {"role": "tool", "content": "rain"},
        {"role": "assistant", "content": "Yes."},
    ]

    inputs = Inputs(data_point(turns=turns))

    assert inputs.exchanges == [Exchange("Hi!\nRain tomorrow?", "Let me look.\nYes.")]


def test_what_is_asked_is_what_the_last_answer_responds_to() -> None:
    inputs = Inputs(DataPoint.model_validate({"turns": said("Ship to Norra?", "Yes.", "The cost?")}))

    assert (inputs.request, inputs.response) == ("Ship to Norra?", "Yes.")


def test_what_nobody_answered_yet_is_asked_all_the_same() -> None:
    inputs = Inputs(DataPoint.model_validate({"turns": said("Ship to Norra?")}))

    assert (inputs.request, inputs.response) == ("Ship to Norra?", "")


@pytest.mark.anyio
@pytest.mark.parametrize(
    "given", [{"turns": said("Rain?", "Yes.", "Snow?", " ")}, {"turns": said("Rain?", "Yes.", "Snow?"), "output": ""}]
)
async def test_an_empty_reply_is_not_the_one_before_it(judged: Any, given: dict[str, Any]) -> None:
    metric, model = await judged("judge/turn_relevancy", [], **given)

    assert metric.outcome is Outcome.INCONCLUSIVE
    assert metric.rationale == "the last reply is empty"
    assert model.calls == []


@pytest.mark.anyio
async def test_an_empty_reply_answers_nothing(judged: Any) -> None:
    turns = said("Ship to Norra?", "Yes.", "The cost?", "", "Which box?", "How tall?")

    metric, model = await judged("judge/exchange_relevancy", [verdicts(True, False, True)], turns=turns)

    assert metric.score == pytest.approx(2 / 3)
    assert "User:\n" in model.calls[0].text
    assert [finding.text for finding in metric.findings][1] == "The cost? -> (none)"


@pytest.mark.anyio
async def test_an_exchange_is_read_with_what_the_assistant_opened_with(judged: Any) -> None:
    turns = [{"role": "assistant", "content": "For which town?"}, *said("Au.", "It rains in Au.")]

    metric, model = await judged("judge/exchange_relevancy", [verdicts(True)], turns=turns)

    assert metric.score == 1.0
    assert "For which town?" in model.calls[0].messages[-1].content.partition("Before them:")[2]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("name", "reply"),
    [
        ("judge/exchange_relevancy", verdicts(True, True)),
        ("judge/turn_relevancy", aspects(context_alignment=5, query_addressing=5, coherence=5)),
    ],
)
async def test_a_reply_is_judged_by_what_the_assistant_was_told_to_do(judged: Any, name: str, reply: str) -> None:
    _, model = await judged(name, reply, turns=BIKE, system_prompt="Talk of bikes only.")

    assert "System prompt:\n<data-" in model.calls[0].messages[-1].content
    assert "Talk of bikes only." in model.calls[0].text
