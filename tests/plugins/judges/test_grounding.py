"""What an answer stands on."""

from __future__ import annotations

from typing import Any

import pytest

from genkit_eval import Outcome, Status
from tests.plugins.judges.replies import statements, verdicts

CLAIMS = statements("The pool opens at seven.", "Children swim free.", "There is a sauna.")
VERDICTS = verdicts(True, True, False)
GIVEN = {"output": "At seven; children are free; there is a sauna.", "context": ["Pool: from 7. Children: free."]}


@pytest.mark.anyio
async def test_two_claims_of_three_are_borne_out(judged: Any) -> None:
    metric, model = await judged("judge/faithfulness", [CLAIMS, VERDICTS], **GIVEN)

    assert metric.score == pytest.approx(2 / 3)
    assert metric.status is Status.PASS
    assert [finding.passed for finding in metric.findings] == [True, True, False]
    assert len(model.calls) == 2


@pytest.mark.anyio
@pytest.mark.parametrize("missing", ["output", "context"])
async def test_what_is_missing_is_inconclusive_and_costs_no_call(judged: Any, missing: str) -> None:
    given = {name: value for name, value in GIVEN.items() if name != missing}

    metric, model = await judged("judge/faithfulness", [], **given)

    assert metric.outcome is Outcome.INCONCLUSIVE
    assert model.calls == []


@pytest.mark.anyio
async def test_between_the_bands_nothing_is_decided(judged: Any) -> None:
    metric, _ = await judged("judge/faithfulness", [CLAIMS, VERDICTS], options={"bands": True}, **GIVEN)

    assert metric.outcome is Outcome.UNDECIDED
    assert metric.score == pytest.approx(2 / 3)


@pytest.mark.anyio
async def test_an_answer_without_claims_is_inconclusive_and_by_akka_perfect(judged: Any) -> None:
    ours, _ = await judged("judge/faithfulness", [statements()], **GIVEN)
    theirs, model = await judged("akka/Faithfulness", [statements()], **GIVEN)

    assert ours.outcome is Outcome.INCONCLUSIVE
    assert (theirs.score, theirs.status) == (1.0, Status.PASS)
    assert len(model.calls) == 1
