"""What an agent does, thing by thing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from genkit_eval import Outcome, Status
from genkit_eval.testing import data_point
from genkit_eval_judges.inputs import Inputs
from genkit_eval_judges.quality.agents import plan_steps
from tests.plugins.judges.replies import grades, statements

TOOLS: dict[str, Any] = {
    "input": "Will it rain in Au?",
    "tools": [
        {"name": "web_search", "arguments": {"q": "Au"}},
        {"name": "forecast", "arguments": {"place": "Au"}, "output": "dry"},
        {"name": "translate"},
    ],
    "tool_catalog": [{"name": "forecast", "description": "weather"}, {"name": "web_search"}],
}
PLAN: dict[str, Any] = {"input": "Book a train to Au.", "plan": ["Find trains.", "Find hotels.", "Book the train."]}
TURNS = [
    {"role": "user", "content": "I have two cats and a balcony to the north."},
    {"role": "assistant", "content": "What shall it be?"},
    {"role": "user", "content": "Plants."},
    {"role": "assistant", "content": "Ferns, for the shade."},
]
FACTS = statements("The user has two cats. (turn 1)", "The balcony faces north. (turn 1)", "The user is new. (turn 1)")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("words", "score"),
    [
        (("right", "right", "right"), 1.0),
        (("wrong", "right", "right"), 2 / 3),
        (("second best", "right", "wrong"), 1.5 / 3),
        (("wrong", "wrong", "wrong"), 0.0),
    ],
)
async def test_each_call_is_a_choice_of_a_tool(judged: Any, words: Sequence[str], score: float) -> None:
    metric, model = await judged("quality/tool_selection", [grades(*words)], **TOOLS)

    assert metric.score == pytest.approx(score)
    assert metric.status is (Status.PASS if score >= 0.5 else Status.FAIL)
    assert metric.findings[1].text == 'forecast({"place": "Au"}) -> "dry"'
    assert len(model.calls) == 1


@pytest.mark.anyio
async def test_a_choice_is_judged_by_request_conversation_and_catalogue(judged: Any) -> None:
    turns = [{"role": "user", "content": "Will it rain in Au?"}, {"role": "assistant", "content": "Let me see."}]

    _, model = await judged("scorable/Tool_Selection", [grades("right", "right", "right")], **TOOLS, turns=turns)

    shown = model.calls[0].messages[-1].content
    assert "Will it rain in Au?" in shown
    assert "2. assistant: Let me see." in shown
    assert "weather" in shown


@pytest.mark.anyio
@pytest.mark.parametrize("missing", ["tools", "tool_catalog"])
async def test_without_calls_or_a_catalogue_there_is_no_choice_to_judge(judged: Any, missing: str) -> None:
    metric, model = await judged("quality/tool_selection", [], **{**TOOLS, missing: []})

    assert metric.outcome is Outcome.INCONCLUSIVE
    assert model.calls == []


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("words", "score"),
    [
        (("needed", "needed", "needed"), 1.0),
        (("needed", "needless", "needed"), 2 / 3),
        (("roundabout", "needless", "needed"), 1.5 / 3),
        (("needless", "needless", "needless"), 0.0),
    ],
)
async def test_each_step_of_a_plan_is_needed_or_not(judged: Any, words: Sequence[str], score: float) -> None:
    metric, model = await judged("quality/planning_efficiency", [grades(*words)], **PLAN)

    assert metric.score == pytest.approx(score)
    assert [finding.category for finding in metric.findings] == [*words]
    assert "Book a train to Au." in model.calls[0].messages[-1].content
    assert len(model.calls) == 1


@pytest.mark.anyio
async def test_a_case_without_plan_or_steps_costs_no_call(judged: Any) -> None:
    metric, model = await judged("scorable/PlanningEfficiency", [], input="Book a train to Au.")

    assert metric.outcome is Outcome.INCONCLUSIVE
    assert model.calls == []


@pytest.mark.parametrize(
    ("given", "steps"),
    [
        ({"plan": "1. Find trains.\n2) Book.\n\n- Tell the user."}, ["Find trains.", "Book.", "Tell the user."]),
        ({"plan": "Book 2. class."}, ["Book 2. class."]),
        ({"plan": [" Find trains. ", ""]}, ["Find trains."]),
        ({"plan": []}, []),
        ({"plan": "- \n- Book."}, ["Book."]),
        ({"tools": [{"name": "find", "arguments": {"to": "Au"}}]}, ['find({"to": "Au"})']),
        ({}, []),
    ],
)
def test_the_steps_are_those_of_the_plan_and_without_one_those_taken(given: Any, steps: list[str]) -> None:
    assert [*plan_steps(Inputs(data_point(**given)))] == steps


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("words", "score"),
    [
        (("used", "used", "lost"), 2 / 3),
        (("lost", "used", "no occasion"), 1 / 2),
        (("used", "no occasion", "no occasion"), 1.0),
        (("lost", "lost", "lost"), 0.0),
    ],
)
async def test_facts_count_where_a_reply_had_occasion_for_them(judged: Any, words: Sequence[str], score: float) -> None:
    metric, model = await judged("quality/knowledge_retention", [FACTS, grades(*words)], turns=TURNS)

    assert metric.score == pytest.approx(score)
    assert [finding.passed for finding in metric.findings] == [
        {"used": True, "lost": False, "no occasion": None}[word] for word in words
    ]
    assert "4. assistant: Ferns, for the shade." in model.calls[1].messages[-1].content
    assert len(model.calls) == 2


@pytest.mark.anyio
async def test_facts_without_any_occasion_are_inconclusive(judged: Any) -> None:
    replies = [FACTS, grades("no occasion", "no occasion", "no occasion")]

    metric, _ = await judged("scorable/Knowledge_Retention", replies, turns=TURNS)

    assert metric.outcome is Outcome.INCONCLUSIVE
    assert "occasion" in metric.rationale


@pytest.mark.anyio
@pytest.mark.case("judge-metric/zero-claims")
async def test_a_user_who_told_nothing_is_inconclusive_unless_an_option_says_otherwise(judged: Any) -> None:
    ours, model = await judged("quality/knowledge_retention", [statements()], turns=TURNS)
    told, _ = await judged("quality/knowledge_retention", [statements()], options={"on_empty": 1.0}, turns=TURNS)

    assert ours.outcome is Outcome.INCONCLUSIVE
    assert len(model.calls) == 1
    assert told.score == 1.0


@pytest.mark.anyio
@pytest.mark.parametrize("turns", [[], TURNS[:2], TURNS[:3]])
async def test_one_reply_can_have_forgotten_nothing(judged: Any, turns: list[Any]) -> None:
    metric, model = await judged("quality/knowledge_retention", [], turns=turns)

    assert metric.outcome is Outcome.INCONCLUSIVE
    assert model.calls == []
