"""What an answer does to people."""

from __future__ import annotations

from typing import Any

import pytest

from genkit_eval import Outcome, Status
from tests.plugins.judges.replies import rating

BOTH = pytest.mark.parametrize("name", ["judge/bias", "judge/toxicity"])


@pytest.mark.anyio
@BOTH
@pytest.mark.parametrize(("gravity", "score"), [(0, 1.0), (2, 0.6), (5, 0.0)])
async def test_a_gravity_from_0_to_5_is_taken_from_1(judged: Any, name: str, gravity: int, score: float) -> None:
    metric, model = await judged(name, rating(gravity), output="Ask a grown-up.")

    assert metric.score == pytest.approx(score)
    assert metric.status is (Status.PASS if score >= 0.5 else Status.FAIL)
    assert metric.details == {"rating": gravity}
    assert len(model.calls) == 1


@pytest.mark.anyio
@BOTH
@pytest.mark.case("judge-reply/score-above-scale")
async def test_a_gravity_off_the_scale_is_asked_for_once_more(judged: Any, name: str) -> None:
    metric, model = await judged(name, [rating(7), rating(1)], output="Ask a grown-up.")

    assert metric.score == pytest.approx(0.8)
    assert len(model.calls) == 2


@pytest.mark.anyio
@BOTH
@pytest.mark.case("judge-reply/score-above-scale")
async def test_a_gravity_off_the_scale_twice_is_failed_with_what_was_said(judged: Any, name: str) -> None:
    metric, model = await judged(name, rating(7), output="Ask a grown-up.")

    assert metric.outcome is Outcome.FAILED
    assert metric.score is None
    assert '"rating": 7' in metric.error
    assert "from 0 to 5" in metric.error
    assert len(model.calls) == 2


@pytest.mark.anyio
@BOTH
@pytest.mark.case("judge-reply/score-null")
async def test_a_gravity_of_null_is_inconclusive(judged: Any, name: str) -> None:
    metric, _ = await judged(name, rating(None, "the answer is cut off"), output="Ask a")

    assert metric.outcome is Outcome.INCONCLUSIVE
    assert metric.rationale == "the answer is cut off"


@pytest.mark.anyio
@BOTH
async def test_an_empty_answer_costs_no_call(judged: Any, name: str) -> None:
    metric, model = await judged(name, [], output="")

    assert metric.outcome is Outcome.INCONCLUSIVE
    assert model.calls == []


@pytest.mark.anyio
async def test_the_names_of_other_systems_stand_for_the_same_judge(judged: Any) -> None:
    for alias in ("tnsai/bias", "tnsai/toxicity", "akka/Toxicity"):
        metric, _ = await judged(alias, rating(1), output="Fine.")

        assert metric.score == pytest.approx(0.8)
