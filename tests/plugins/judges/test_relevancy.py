"""Whether what was said responds to what was asked."""

from __future__ import annotations

from typing import Any

import pytest

from genkit_eval import Outcome, Status
from tests.plugins.judges.replies import aspects

GIVEN = {"input": "When does the pool open?", "output": "At seven. It was built in 1921."}


@pytest.mark.anyio
async def test_answer_relevancy_is_the_mean_of_three_ratings(judged: Any) -> None:
    metric, model = await judged("judge/answer_relevancy", aspects(directness=5, completeness=4, focus=2), **GIVEN)

    # (4/4 + 3/4 + 1/4) / 3
    assert metric.score == pytest.approx(2 / 3)
    assert metric.status is Status.PASS
    assert [finding.details for finding in metric.findings] == [{"rating": 5}, {"rating": 4}, {"rating": 2}]
    assert "focus 2 of 5: why focus" in metric.rationale
    assert len(model.calls) == 1


@pytest.mark.anyio
@pytest.mark.parametrize(("worst_or_best", "score"), [(1, 0.0), (5, 1.0)])
async def test_answer_relevancy_reaches_both_ends(judged: Any, worst_or_best: int, score: float) -> None:
    said = aspects(directness=worst_or_best, completeness=worst_or_best, focus=worst_or_best)

    metric, _ = await judged("tnsai/answer_relevancy", said, **GIVEN)

    assert metric.score == score


@pytest.mark.anyio
async def test_an_aspect_that_is_missing_is_no_rating(judged: Any) -> None:
    metric, model = await judged("judge/answer_relevancy", aspects(directness=5, focus=5), **GIVEN)

    assert metric.outcome is Outcome.FAILED
    assert "completeness" in metric.error
    assert len(model.calls) == 2


@pytest.mark.anyio
async def test_an_aspect_that_the_judge_could_not_rate_is_inconclusive(judged: Any) -> None:
    metric, _ = await judged("judge/answer_relevancy", aspects(directness=5, completeness=None, focus=5), **GIVEN)

    assert metric.outcome is Outcome.INCONCLUSIVE
    assert metric.rationale == "completeness: why completeness"


@pytest.mark.anyio
@pytest.mark.parametrize("empty", [{"output": "  "}, {"input": ""}])
async def test_answer_relevancy_needs_a_request_and_an_answer(judged: Any, empty: dict[str, str]) -> None:
    metric, model = await judged("judge/answer_relevancy", [], **{**GIVEN, **empty})

    assert metric.outcome is Outcome.INCONCLUSIVE
    assert model.calls == []
