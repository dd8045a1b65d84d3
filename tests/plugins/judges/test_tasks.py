"""What came of a task."""

from __future__ import annotations

from typing import Any

import pytest

from genkit_eval import Outcome, Status
from tests.plugins.judges.replies import rating

BOOKING = {
    "input": "Book a table.",
    "output": "It is booked.",
    "reference": "A booking for two.",
    "instructions": ["Be brief.", "Give the number."],
    "tools": [{"name": "book", "arguments": {"people": 2}, "output": {"reference": "K7"}}],
}
UNITS = pytest.mark.parametrize("name", ["judge/task_alignment", "judge/correctness"])


@pytest.mark.anyio
@pytest.mark.parametrize(("said", "score"), [(1, 0.0), (3, 0.5), (4, 0.75), (5, 1.0)])
async def test_a_rating_from_1_to_5_becomes_a_score(judged: Any, said: int, score: float) -> None:
    metric, model = await judged("tnsai/task_completion", rating(said), **BOOKING)

    assert metric.score == score
    assert metric.status is (Status.PASS if score >= 0.5 else Status.FAIL)
    assert metric.details == {"rating": said}
    assert len(model.calls) == 1


@pytest.mark.anyio
@pytest.mark.case("judge-reply/fraction-scale")
async def test_a_fraction_counts_on_its_own_scale_only(judged: Any) -> None:
    right, _ = await judged("judge/task_completion", rating("4/5"), **BOOKING)
    wrong, model = await judged("judge/task_completion", rating("8/10"), **BOOKING)

    assert right.score == 0.75
    assert wrong.outcome is Outcome.FAILED
    assert "8/10" in wrong.error
    assert len(model.calls) == 2


@pytest.mark.anyio
async def test_the_unit_scale_has_a_prompt_of_its_own(judged: Any) -> None:
    metric, model = await judged("judge/task_completion", rating(0.8), options={"scale": "unit"}, **BOOKING)
    _, five = await judged("judge/task_completion", rating(4), **BOOKING)

    assert metric.score == 0.8
    assert "from 0 to 1" in model.calls[0].text
    assert "from 1 to 5" in five.calls[0].text


@pytest.mark.anyio
@pytest.mark.parametrize("options", [{}, {"scale": "unit"}])
async def test_work_is_held_against_the_reference_and_else_the_instructions(
    judged: Any, options: dict[str, str]
) -> None:
    without = {name: value for name, value in BOOKING.items() if name != "reference"}

    _, by_reference = await judged("judge/task_completion", rating(1), options=options, **BOOKING)
    _, by_instructions = await judged("judge/task_completion", rating(1), options=options, **without)

    first, second = (model.calls[0].messages[-1].content for model in (by_reference, by_instructions))
    assert "A booking for two." in first
    assert "Be brief." not in first
    assert "1. Be brief.\n2. Give the number." in second
    assert 'book({"people": 2}) -> {"reference": "K7"}' in first


@pytest.mark.anyio
async def test_with_nothing_to_hold_work_against_there_is_no_call(judged: Any) -> None:
    metric, model = await judged("judge/task_completion", [], output="It is booked.")

    assert metric.outcome is Outcome.INCONCLUSIVE
    assert metric.rationale == "there are neither a reference nor instructions to judge by"
    assert model.calls == []


@pytest.mark.anyio
async def test_on_the_unit_scale_the_task_alone_will_do(judged: Any) -> None:
    unit = {"scale": "unit"}
    metric, model = await judged("judge/task_completion", rating(0.5), options=unit, input="Book.", output="Done.")
    without, none = await judged("judge/task_completion", [], options=unit, input=" ", output="Done.")

    assert metric.score == 0.5
    assert "Expected:\n(none)" in model.calls[0].messages[-1].content
    assert without.rationale == "there is no request to judge by"
    assert none.calls == []


@pytest.mark.anyio
@UNITS
@pytest.mark.parametrize("said", [0, 0.4, 1])
async def test_a_rating_from_0_to_1_is_the_score(judged: Any, name: str, said: float) -> None:
    metric, _ = await judged(name, rating(said), **BOOKING)

    assert metric.score == said
    assert metric.status is (Status.PASS if said >= 0.5 else Status.FAIL)


@pytest.mark.anyio
@UNITS
async def test_a_rating_above_1_is_asked_for_once_more_and_then_failed(judged: Any, name: str) -> None:
    metric, model = await judged(name, rating(4), **BOOKING)

    assert metric.outcome is Outcome.FAILED
    assert '"rating": 4' in metric.error
    assert len(model.calls) == 2


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("name", "missing"),
    [
        ("akka/TaskCompletion", {"input": ""}),
        ("akka/TaskCompletion", {"output": " "}),
        ("akka/Correctness", {"reference": ""}),
        ("akka/Correctness", {"output": ""}),
    ],
)
async def test_what_is_missing_costs_no_call(judged: Any, name: str, missing: dict[str, str]) -> None:
    metric, model = await judged(name, [], **{**BOOKING, **missing})

    assert metric.outcome is Outcome.INCONCLUSIVE
    assert model.calls == []


@pytest.mark.anyio
async def test_the_steps_are_part_of_the_outcome(judged: Any) -> None:
    _, model = await judged("judge/task_alignment", rating(1), **BOOKING)

    assert 'book({"people": 2}) -> {"reference": "K7"}' in model.calls[0].messages[-1].content
