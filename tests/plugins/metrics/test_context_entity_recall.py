"""`genkitEval/context_entity_recall`: entities of the reference that the context names."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import pytest

from genkit_eval import EvalMetric, Message, Outcome, Status
from genkit_eval.testing import ScriptedModel

Judged = Callable[..., EvalMetric]

POINT = {"reference": "the reference", "context": ["the context"]}


def judge_of(reference: Sequence[str], context: Sequence[str]) -> ScriptedModel:
    def answer(messages: Sequence[Message]) -> str:
        found = reference if "the reference" in messages[-1].content else context
        return json.dumps({"entities": found})

    return ScriptedModel(answer)


def test_the_score_is_the_share_of_the_references_entities(judged: Judged) -> None:
    judge = judge_of(["Nora Vik", "8 km", "Tarn"], ["Tarn", "nora  VIK", "1923"])

    metric = judged("context_entity_recall", judge, options={"threshold": 0.6}, **POINT)

    assert metric.score == pytest.approx(2 / 3)
    assert metric.status is Status.PASS
    assert metric.rationale == "2 of 3 entities of the reference are in the context; not: 8 km"
    assert [(finding.text, finding.passed) for finding in metric.findings] == [
        ("Nora Vik", True),
        ("8 km", False),
        ("Tarn", True),
    ]


def test_an_entity_listed_twice_counts_once(judged: Judged) -> None:
    metric = judged("context_entity_recall", judge_of(["Tarn", "TARN ", "8 km", " "], ["tarn"]), **POINT)

    assert metric.score == 0.5


def test_a_context_without_entities_scores_zero(judged: Judged) -> None:
    metric = judged("context_entity_recall", judge_of(["Tarn"], []), **POINT)

    assert (metric.score, metric.ended) == (0.0, Outcome.VERDICT)


def test_a_reference_without_entities_is_inconclusive(judged: Judged) -> None:
    metric = judged("context_entity_recall", judge_of([], ["Tarn"]), **POINT)

    assert (metric.ended, metric.rationale) == (
        Outcome.INCONCLUSIVE,
        "the reference names nothing that could be looked for",
    )
