"""`genkitEval/aspect_critic`: a criterion of the user's own words."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genkit_eval import DataPoint, EvalMetric, GenkitEval, InvalidOptions, Outcome, Status, run_sync
from genkit_eval.testing import ScriptedModel
from genkit_eval_metrics import genkit_metrics

Judged = Callable[..., EvalMetric]

POLITE = {"definition": "The answer is polite."}


def vote(verdict: bool) -> str:
    return json.dumps({"reason": f"it is {verdict}", "verdict": verdict})


@pytest.mark.parametrize(("verdict", "score", "status"), [(True, 1.0, Status.PASS), (False, 0.0, Status.FAIL)])
def test_an_answer_that_meets_the_criterion_passes(judged: Judged, verdict: bool, score: float, status: Status) -> None:
    judge = ScriptedModel(vote(verdict))

    metric = judged("aspect_critic", judge, options=POLITE, output="Read the website.")

    assert (metric.score, metric.status, metric.rationale) == (score, status, f"it is {verdict}")
    assert "The answer is polite." in judge.calls[0].text


@given(st.lists(st.booleans(), min_size=1, max_size=9).filter(lambda votes: len(votes) % 2 == 1))
def test_the_majority_of_the_votes_decides(votes: list[bool]) -> None:
    judge = ScriptedModel([vote(verdict) for verdict in votes])
    ge = GenkitEval(plugins=[genkit_metrics(judge=judge, metrics=["aspect_critic"])])

    (metric,) = run_sync(
        ge.score(DataPoint(output="x"), ge.ref("genkitEval/aspect_critic", votes=len(votes), **POLITE))
    )

    assert metric.score == (1.0 if sum(votes) > len(votes) / 2 else 0.0)
    assert sorted(bool(finding.passed) for finding in metric.findings) == sorted(votes)


@pytest.mark.parametrize("options", [{}, {"definition": ""}, {**POLITE, "votes": 2}])
def test_no_criterion_and_votes_that_may_tie_are_refused(judged: Judged, options: dict[str, object]) -> None:
    with pytest.raises(InvalidOptions):
        judged("aspect_critic", ScriptedModel(vote(True)), options=options, output="x")


def test_an_empty_answer_is_inconclusive(judged: Judged) -> None:
    metric = judged("aspect_critic", ScriptedModel(""), options=POLITE, output=" ")

    assert metric.ended is Outcome.INCONCLUSIVE
