"""How much is in an answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genkit_eval import Outcome, Status
from genkit_eval_judges.quality.substance import sentences
from tests.plugins.judges.replies import grades, statements

ASKED = {"input": "Which hotels, at what price, and may we bring the dog?", "output": "The Heron, for 140."}
POINTS = statements("Names hotels.", "Says what they cost.", "Says whether dogs are allowed.")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("words", "score"),
    [
        (("covered", "covered", "covered"), 1.0),
        (("covered", "covered", "missing"), 2 / 3),
        (("covered", "partly", "missing"), 1.5 / 3),
        (("missing", "missing", "missing"), 0.0),
    ],
)
async def test_completeness_counts_the_points_asked_for(judged: Any, words: Sequence[str], score: float) -> None:
    metric, model = await judged("scorable/Completeness", [POINTS, grades(*words)], **ASKED)

    assert metric.score == pytest.approx(score)
    assert metric.status is (Status.PASS if score >= 0.5 else Status.FAIL)
    assert [finding.text for finding in metric.findings][2] == "Says whether dogs are allowed."
    assert "The Heron" not in model.calls[0].text
    assert "The Heron" in model.calls[1].text
    assert len(model.calls) == 2


@pytest.mark.anyio
async def test_points_are_read_with_the_conversation_before_them(judged: Any) -> None:
    turns = [{"role": "user", "content": "The Heron or the Reed House?"}, {"role": "assistant", "content": "Hm."}]
    given = {**ASKED, "turns": [*turns, {"role": "user", "content": ASKED["input"]}]}

    _, model = await judged("quality/completeness", [POINTS, grades("covered", "covered", "covered")], **given)

    assert "the Reed House" in model.calls[0].messages[-1].content


@pytest.mark.anyio
@pytest.mark.parametrize("missing", ["input", "output"])
async def test_completeness_needs_a_request_and_an_answer(judged: Any, missing: str) -> None:
    metric, model = await judged("quality/completeness", [], **{**ASKED, missing: ""})

    assert metric.outcome is Outcome.INCONCLUSIVE
    assert model.calls == []


@pytest.mark.anyio
@pytest.mark.case("judge-metric/zero-claims")
async def test_a_request_that_asks_for_nothing_is_inconclusive_unless_an_option_says_otherwise(judged: Any) -> None:
    ours, model = await judged("quality/completeness", [statements()], **ASKED)
    told, _ = await judged("quality/completeness", [statements()], options={"on_empty": 1.0}, **ASKED)

    assert ours.outcome is Outcome.INCONCLUSIVE
    assert len(model.calls) == 1
    assert told.score == 1.0


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("words", "score"),
    [
        (("informative", "informative", "informative"), 1.0),
        (("empty", "informative", "informative"), 2 / 3),
        (("empty", "informative", "vague"), 1 / 3),
        (("vague", "vague", "empty"), 0.0),
    ],
)
async def test_density_is_the_share_of_sentences_that_tell_something(
    judged: Any, words: Sequence[str], score: float
) -> None:
    given = {"input": "How much does it save?", "output": "Good question! It gives 3.5 times the heat. That is a lot."}

    metric, model = await judged("scorable/Information_Density", [grades(*words)], **given)

    assert metric.score == pytest.approx(score)
    assert [finding.text for finding in metric.findings] == [
        "Good question!",
        "It gives 3.5 times the heat.",
        "That is a lot.",
    ]
    assert [finding.category for finding in metric.findings] == [*words]
    assert len(model.calls) == 1


@pytest.mark.anyio
async def test_of_a_long_answer_each_portion_is_judged_with_what_went_before(judged: Any) -> None:
    output = " ".join(f"Fact {number}." for number in range(22))

    metric, model = await judged(
        "quality/information_density", [grades(*20 * ["informative"]), grades("empty", "empty")], output=output
    )

    assert metric.score == pytest.approx(20 / 22)
    first, second = (call.messages[-1].content for call in model.calls)
    assert "Before these" not in first
    assert "2. Fact 21." in second
    assert second.index("Before these:") < second.index("Fact 0.") < second.index("Fact 19.")


@pytest.mark.anyio
@pytest.mark.parametrize("output", ["", "...", "- \n- "])
async def test_an_answer_without_a_word_costs_no_call(judged: Any, output: str) -> None:
    metric, model = await judged("quality/information_density", [], output=output)

    assert metric.outcome is Outcome.INCONCLUSIVE
    assert model.calls == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("At seven. On Sundays at nine!", ["At seven.", "On Sundays at nine!"]),
        ("It costs e.g. three francs.", ["It costs e.g. three francs."]),
        ("It is 3.5 m high.", ["It is 3.5 m high."]),
        ("1. Stop.\n2. Wait for\n\n- the bus", ["1. Stop.", "2. Wait for", "- the bus"]),
        ('He said "Go." Then he went.', ['He said "Go."', "Then he went."]),
        ("七時です。日曜は九時！", ["七時です。", "日曜は九時！"]),
        ("Élan vital? Über alles. Ärger", ["Élan vital?", "Über alles.", "Ärger"]),
        ("Да. Нет, т. е. нет.", ["Да.", "Нет, т. е. нет."]),
        ("In 1912. 42 people came.", ["In 1912.", "42 people came."]),
        ("Answer: 42.", ["Answer: 42."]),
        ("42.", ["42."]),
        ("?!", []),
    ],
)
def test_sentences(text: str, found: list[str]) -> None:
    assert [*sentences(text)] == found


@given(st.text(alphabet='aB1 .!?。\n-)"…é', max_size=80))
def test_no_word_is_lost(text: str) -> None:
    kept = [char for piece in sentences(text) for char in piece if char.isalnum()]

    assert kept == [char for char in text if char.isalnum()]
