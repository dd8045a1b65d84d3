"""`genkitEval/summarization_score`: what a summary keeps, and how short it is."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genkit_eval import EvalMetric, Outcome
from genkit_eval.testing import ScriptedModel
from genkit_eval_metrics.formulas import summary_score

Judged = Callable[..., EvalMetric]

TEXT = "x" * 100
SUMMARY = "y" * 20


def judge_of(*answered: bool) -> ScriptedModel:
    count = len(answered)
    verdicts = [{"number": n, "reason": "so", "verdict": verdict} for n, verdict in enumerate(answered, 1)]
    return ScriptedModel(
        [
            json.dumps({"phrases": [f"phrase {n}" for n in range(count)]}),
            json.dumps({"questions": [f"Is it {n}?" for n in range(count)]}),
            json.dumps({"verdicts": verdicts}),
        ]
    )


@pytest.mark.parametrize(
    ("brevity", "score"),
    [
        # 0.75 of 4 questions; conciseness 1 - 20/100
        (0.5, 0.75 * 0.5 + 0.8 * 0.5),
        (0.0, 0.75),
        (1.0, 0.8),
    ],
)
def test_the_score_weighs_what_is_kept_and_brevity(judged: Judged, brevity: float, score: float) -> None:
    judge = judge_of(True, True, True, False)

    metric = judged("summarization_score", judge, options={"brevity": brevity}, context=[TEXT], output=SUMMARY)

    assert metric.score == pytest.approx(score)
    assert metric.details == {"kept": 0.75, "textLength": 100, "summaryLength": 20}
    assert str(metric.rationale).startswith("3 of 4 questions to the text are answered by the summary; not: Is it 3?")
    assert len(judge.calls) == 3


def test_a_blank_question_is_asked_for_again_and_counts_for_nothing(judged: Judged) -> None:
    replies = [
        '{"phrases": ["a phrase"]}',
        '{"questions": ["Is it 1?", "  "]}',
        '{"questions": ["Is it 1?"]}',
        '{"verdicts": [{"number": 1, "reason": "so", "verdict": true}]}',
    ]

    metric = judged("summarization_score", ScriptedModel(replies), context=[TEXT], output=SUMMARY)

    assert metric.details == {"kept": 1.0, "textLength": 100, "summaryLength": 20}


def test_without_a_context_the_input_is_what_was_summed_up(judged: Judged) -> None:
    judge = judge_of(True)

    metric = judged("summarization_score", judge, input=TEXT, output=SUMMARY)

    assert TEXT in judge.calls[0].text
    assert metric.score == pytest.approx(0.9)


def test_a_summary_longer_than_its_text_is_not_concise(judged: Judged) -> None:
    metric = judged("summarization_score", judge_of(True), input="short", output=SUMMARY)

    assert metric.score == 0.5


@pytest.mark.parametrize(
    ("fields", "replies", "reason", "calls"),
    [
        ({}, [], "neither context nor input holds a text that was summed up", 0),
        ({"input": TEXT}, ['{"phrases": []}'], "the text has no key phrases", 1),
    ],
)
def test_nothing_summed_up_is_inconclusive(
    judged: Judged, fields: dict[str, str], replies: list[str], reason: str, calls: int
) -> None:
    judge = ScriptedModel(replies)

    metric = judged("summarization_score", judge, output=SUMMARY, **fields)

    assert (metric.ended, metric.rationale, len(judge.calls)) == (Outcome.INCONCLUSIVE, reason, calls)


def test_no_questions_to_the_phrases_is_a_failure_of_the_judge(judged: Judged) -> None:
    none = '{"questions": []}'

    metric = judged("summarization_score", ScriptedModel(['{"phrases": ["p"]}', none, none]), input=TEXT, output="s")

    assert (metric.ended, metric.score) == (Outcome.FAILED, None)


@given(st.floats(0, 1), st.integers(1, 1000), st.integers(0, 2000), st.floats(0, 1))
def test_the_score_stays_within_its_bounds(kept: float, text: int, summary: int, brevity: float) -> None:
    score = summary_score(kept, text_length=text, summary_length=summary, brevity=brevity)

    assert -1e-9 <= score <= 1 + 1e-9
