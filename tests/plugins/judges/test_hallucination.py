"""What an answer makes up."""

from __future__ import annotations

from typing import Any

import pytest

from genkit_eval import Outcome, Status
from tests.plugins.judges.replies import statements, verdicts

SPECIFICS = statements("Built in 1921.", "Built by Otto Kern.", "It has a basin.")
GIVEN = {"input": "Tell me of the pool in Au.", "output": "Built in 1921 by Otto Kern; it has a basin."}
CONTEXT = ["Opened in 1921.", "One basin."]


@pytest.mark.anyio
async def test_the_share_that_comes_from_the_context(judged: Any) -> None:
    metric, model = await judged(
        "judge/hallucination", [SPECIFICS, verdicts(True, False, True)], **GIVEN, context=CONTEXT
    )

    assert metric.score == pytest.approx(2 / 3)
    assert metric.status is Status.PASS
    assert metric.rationale == "2 of 3 specifics come from the context; not: Built by Otto Kern. reason 2"
    assert metric.details == {"heldAgainst": "context"}
    assert len(model.calls) == 2


@pytest.mark.anyio
async def test_what_the_user_said_is_a_source_too(judged: Any) -> None:
    _, model = await judged("judge/hallucination", [SPECIFICS, verdicts(True, True, True)], **GIVEN, context=CONTEXT)

    sources = model.calls[1].messages[-1].content
    assert "Tell me of the pool in Au." in sources
    assert sources.index("Opened in 1921.") < sources.index("One basin.")


@pytest.mark.anyio
async def test_without_a_context_the_answer_is_held_against_itself(judged: Any) -> None:
    metric, model = await judged("tnsai/hallucination", [SPECIFICS, verdicts(True, True, False)], **GIVEN)

    assert metric.score == pytest.approx(2 / 3)
    assert metric.details == {"heldAgainst": "alone"}
    assert "no sources" in model.calls[1].messages[0].content
    assert GIVEN["output"] in model.calls[1].messages[-1].content


@pytest.mark.anyio
@pytest.mark.parametrize("held", [False, True])
async def test_both_ends(judged: Any, held: bool) -> None:
    metric, _ = await judged("judge/hallucination", [SPECIFICS, verdicts(held, held, held)], **GIVEN)

    assert metric.score == float(held)


@pytest.mark.anyio
@pytest.mark.case("judge-metric/context-missing")
async def test_by_akka_a_context_is_needed(judged: Any) -> None:
    metric, model = await judged("akka/Hallucination", [], **GIVEN)

    assert metric.outcome is Outcome.INCONCLUSIVE
    assert model.calls == []


@pytest.mark.anyio
@pytest.mark.case("judge-metric/zero-claims")
async def test_nothing_that_could_be_made_up_is_inconclusive_and_by_akka_clean(judged: Any) -> None:
    ours, model = await judged("judge/hallucination", [statements()], **GIVEN, context=CONTEXT)
    theirs, _ = await judged("akka/Hallucination", [statements()], **GIVEN, context=CONTEXT)

    assert ours.outcome is Outcome.INCONCLUSIVE
    assert len(model.calls) == 1
    assert (theirs.score, theirs.status) == (1.0, Status.PASS)
