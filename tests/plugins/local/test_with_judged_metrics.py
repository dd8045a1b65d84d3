"""The embedder beside Genkit's judged metrics: answer relevancy's half that needs no judge runs on this machine."""

from __future__ import annotations

import json

import pytest

from genkit_eval import DataPoint, EvalMetric, GenkitEval, run_sync
from genkit_eval.testing import ScriptedModel
from genkit_eval_local import local_metrics
from genkit_eval_metrics import genkit_metrics


def relevancy(question: str) -> EvalMetric:
    """Of an answer for which the judge finds the question "When does the museum open?"."""
    reply = {"question": "When does the museum open?", "answered": True, "noncommittal": False, "reason": "-"}
    judge = ScriptedModel(json.dumps(reply))
    metrics = genkit_metrics(judge=judge, embedder="local/use-multilingual", metrics=["answer_relevancy"])
    ge = GenkitEval(plugins=[local_metrics(), metrics])
    point = DataPoint(input=question, output="The museum opens at nine.")
    (metric,) = run_sync(ge.score(point, "genkitEval/answer_relevancy"))
    return metric


def test_the_same_question_scores_1() -> None:
    assert relevancy("When does the museum open?").score == pytest.approx(1)


def test_another_subject_scores_lower_than_the_question_in_another_language() -> None:
    near, far = relevancy("Wann öffnet das Museum?").score, relevancy("Which bank has the best rates?").score

    assert isinstance(near, float)
    assert isinstance(far, float)
    assert near > far + 0.2
