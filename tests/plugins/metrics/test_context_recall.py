"""`genkitEval/context_recall`: statements of the reference that the context bears out."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from genkit_eval import EvalMetric, Outcome, Status
from genkit_eval.testing import ScriptedModel

Judged = Callable[..., EvalMetric]

POINT = {
    "input": "q",
    "reference": "One is red. Two is blue. Three is old. Four is new.",
    "context": ["One is red", "Two is blue"],
}


def test_the_score_is_the_share_of_the_references_statements(judged: Judged, rule: ScriptedModel) -> None:
    metric = judged("context_recall", rule, **POINT)

    # 2 of 4
    assert (metric.score, metric.status, metric.ended) == (0.5, Status.UNKNOWN, Outcome.VERDICT)
    assert [(finding.text, finding.passed) for finding in metric.findings] == [
        ("One is red", True),
        ("Two is blue", True),
        ("Three is old", False),
        ("Four is new", False),
    ]
    assert len(rule.calls) == 2


@pytest.mark.parametrize(("threshold", "status"), [(0.5, Status.PASS), (0.51, Status.FAIL)])
def test_a_threshold_says_what_passes(judged: Judged, rule: ScriptedModel, threshold: float, status: Status) -> None:
    metric = judged("context_recall", rule, options={"threshold": threshold}, **POINT)

    assert metric.status is status


@pytest.mark.case("judge-metric/context-recall-denominator")
def test_statements_that_the_judge_leaves_out_do_not_raise_the_score(judged: Judged) -> None:
    one = json.dumps({"verdicts": [{"number": 1, "reason": "so", "verdict": True}]})
    judge = ScriptedModel([json.dumps({"statements": ["s1", "s2", "s3", "s4"]}), one, one])

    metric = judged("context_recall", judge, **POINT)

    assert (metric.ended, metric.score) == (Outcome.FAILED, None)


@pytest.mark.parametrize(
    ("fields", "reason", "calls"),
    [
        ({"reference": ".", "context": ["c"]}, "the reference states nothing that could be looked for", 1),
        ({"reference": "r", "context": []}, "context is empty", 0),
        ({"context": ["c"]}, "no reference was given", 0),
    ],
)
def test_nothing_to_look_for_or_in_is_inconclusive(
    judged: Judged, rule: ScriptedModel, fields: dict[str, object], reason: str, calls: int
) -> None:
    metric = judged("context_recall", rule, **fields)

    assert (metric.ended, metric.rationale, len(rule.calls)) == (Outcome.INCONCLUSIVE, reason, calls)
