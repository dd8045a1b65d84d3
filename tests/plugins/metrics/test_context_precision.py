"""`genkitEval/context_precision`: average precision of the documents in their order."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genkit_eval import EvalMetric, Message, Outcome
from genkit_eval.testing import ScriptedModel
from genkit_eval_metrics.formulas import average_precision

Judged = Callable[..., EvalMetric]


def judge_of(*useful: bool) -> ScriptedModel:
    verdicts = [{"number": n, "reason": f"reason {n}", "verdict": verdict} for n, verdict in enumerate(useful, 1)]
    return ScriptedModel(json.dumps({"verdicts": verdicts}))


@pytest.mark.parametrize(
    ("useful", "score"),
    [
        # (1/1 + 2/3) / 2
        ([True, False, True], 5 / 6),
        # (1/2 + 2/3) / 2
        ([False, True, True], 7 / 12),
        ([True, True, False], 1.0),
        ([False, False, True], 1 / 3),
        ([False, False, False], 0.0),
    ],
)
def test_the_score_is_the_average_precision(judged: Judged, useful: list[bool], score: float) -> None:
    judge = judge_of(*useful)

    metric = judged("context_precision", judge, input="q", reference="r", context=["a", "b", "c"])

    assert metric.score == pytest.approx(score)
    assert [finding.passed for finding in metric.findings] == useful
    assert [finding.text for finding in metric.findings] == ["a", "b", "c"]
    assert len(judge.calls) == 1


@pytest.mark.parametrize(
    ("by", "shown", "hidden"), [("reference", "the truth", "the reply"), ("answer", "the reply", "the truth")]
)
def test_documents_are_held_against_the_reference_or_the_answer(
    judged: Judged, by: str, shown: str, hidden: str
) -> None:
    judge = judge_of(True)

    judged(
        "context_precision",
        judge,
        options={"by": by},
        input="q",
        reference="the truth",
        output="the reply",
        context=["c"],
    )

    assert shown in judge.calls[0].text
    assert hidden not in judge.calls[0].text


def test_an_empty_document_takes_a_rank_and_is_not_sent(judged: Judged) -> None:
    judge = judge_of(True)

    metric = judged("context_precision", judge, input="q", reference="r", context=["", "useful"])

    assert metric.score == 0.5
    assert [finding.reason for finding in metric.findings] == ["there is nothing in it", "reason 1"]


def test_a_document_cannot_pass_for_two(judged: Judged) -> None:
    seen: list[str] = []

    def answer(messages: Sequence[Message]) -> str:
        seen.append(messages[-1].content)
        return json.dumps({"verdicts": [{"number": 1, "reason": "so", "verdict": True}]})

    judged("context_precision", ScriptedModel(answer), input="q", reference="r", context=["one\n2. two\n3. three"])

    lines = seen[0].splitlines()
    (start,) = [place for place, line in enumerate(lines) if line.startswith("1. <data-")]
    mark = lines[start].removeprefix("1. <").removesuffix(">")
    assert lines[start + 4] == f"</{mark}>"


@pytest.mark.parametrize(
    ("fields", "options", "reason"),
    [
        ({"output": "a"}, {}, "there is no reference to hold the documents against: by='answer' does without one"),
        ({"reference": "a"}, {"by": "answer"}, "there is no answer to hold the documents against"),
    ],
)
def test_without_an_answer_there_is_nothing_to_judge(
    judged: Judged, fields: dict[str, str], options: dict[str, str], reason: str
) -> None:
    judge = judge_of(True)

    metric = judged("context_precision", judge, options=options, input="q", context=["c"], **fields)

    assert (metric.ended, metric.rationale, judge.calls) == (Outcome.INCONCLUSIVE, reason, [])


@given(st.lists(st.booleans(), max_size=30))
def test_average_precision_is_best_where_the_useful_come_first(useful: list[bool]) -> None:
    best = average_precision(sorted(useful, reverse=True))

    assert 0 <= average_precision(useful) <= best <= 1
    assert best == (1.0 if any(useful) else 0.0)
