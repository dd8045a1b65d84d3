"""What a search brought."""

from __future__ import annotations

from typing import Any

import pytest

from genkit_eval import Outcome, Status
from tests.plugins.judges.replies import statements, verdicts

RANKED = {"input": "Which batteries may fly?", "context": ["Below 100 Wh.", "Keep them cool.", "Two spare ones."]}
REFERENCE = {"input": "How?", "reference": "With a photo, in three weeks, for 60.", "context": ["Photo. 21 days."]}


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("relevant", "score"),
    [
        ((True, True, True), 1.0),
        ((True, False, True), (1 / 1 + 2 / 3) / 2),
        ((False, True, True), (1 / 2 + 2 / 3) / 2),
        ((False, False, True), 1 / 3),
        ((False, False, False), 0.0),
    ],
)
async def test_contextual_precision_is_average_precision(judged: Any, relevant: tuple[bool, ...], score: float) -> None:
    metric, model = await judged("judge/contextual_precision", [verdicts(*relevant)], **RANKED)

    assert metric.score == pytest.approx(score)
    assert metric.status is (Status.PASS if score >= 0.5 else Status.FAIL)
    assert [finding.passed for finding in metric.findings] == [*relevant]
    assert len(model.calls) == 1


@pytest.mark.anyio
async def test_documents_are_held_against_the_reference_if_there_is_one(judged: Any) -> None:
    _, with_it = await judged("judge/contextual_precision", [verdicts(True, True, True)], reference="Two.", **RANKED)
    _, without = await judged("judge/contextual_precision", [verdicts(True, True, True)], **RANKED)

    assert "Reference:\n<data-" in with_it.calls[0].messages[-1].content
    assert "Reference:" not in without.calls[0].messages[-1].content


@pytest.mark.anyio
async def test_a_blank_document_keeps_its_rank_and_is_not_sent(judged: Any) -> None:
    given = {**RANKED, "context": [" ", "Below 100 Wh."]}

    metric, model = await judged("tnsai/contextual_precision", [verdicts(True)], **given)

    assert metric.score == pytest.approx(1 / 2)
    assert metric.findings[0].reason == "there is nothing in it"
    assert len(model.calls) == 1


@pytest.mark.anyio
@pytest.mark.case("judge-metric/context-missing")
@pytest.mark.parametrize("name", ["judge/contextual_precision", "judge/contextual_recall"])
@pytest.mark.parametrize("context", [[], ["", "  "]])
async def test_without_documents_there_is_nothing_to_judge(judged: Any, name: str, context: list[str]) -> None:
    metric, model = await judged(name, [], **{**REFERENCE, "context": context})

    assert metric.outcome is Outcome.INCONCLUSIVE
    assert model.calls == []


@pytest.mark.anyio
async def test_contextual_recall_is_the_share_of_pieces_that_are_covered(judged: Any) -> None:
    replies = [statements("It takes a photo.", "It takes three weeks.", "It costs 60."), verdicts(True, True, False)]

    metric, model = await judged("judge/contextual_recall", replies, **REFERENCE)

    assert metric.score == pytest.approx(2 / 3)
    assert metric.rationale == "2 of 3 pieces of the reference covered by the documents; not: It costs 60. reason 3"
    assert "60" in model.calls[0].text
    assert "21 days" not in model.calls[0].text


@pytest.mark.anyio
@pytest.mark.case("judge-metric/context-recall-denominator")
async def test_the_share_is_of_the_pieces_that_were_sent(judged: Any) -> None:
    replies = [statements("a", "b", "c", "d"), verdicts(True), verdicts(False, False, False)]

    metric, _ = await judged("tnsai/contextual_recall", replies, **REFERENCE)

    assert metric.score == pytest.approx(1 / 4)


@pytest.mark.anyio
@pytest.mark.case("judge-metric/zero-claims")
async def test_a_reference_without_information_is_inconclusive_unless_an_option_says_otherwise(judged: Any) -> None:
    ours, model = await judged("judge/contextual_recall", [statements()], **REFERENCE)
    told, _ = await judged("judge/contextual_recall", [statements()], options={"on_empty": 1.0}, **REFERENCE)

    assert ours.outcome is Outcome.INCONCLUSIVE
    assert len(model.calls) == 1
    assert told.score == 1.0
