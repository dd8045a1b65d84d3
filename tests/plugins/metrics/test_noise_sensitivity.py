"""`genkitEval/noise_sensitivity`: wrong statements that documents led to."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genkit_eval import EvalMetric, Outcome, Registry, Status
from genkit_eval.testing import ScriptedModel
from genkit_eval_metrics import genkit_metrics
from genkit_eval_metrics.formulas import misled

Judged = Callable[..., EvalMetric]

# One is right; Two comes from the relevant document, Three from the other one, Four from none
POINT = {
    "input": "q",
    "output": "One is red. Two is big. Three is old. Four is new.",
    "reference": "One is red.",
    "context": ["One is red and Two is big", "Three is old"],
}


@pytest.mark.parametrize(("mode", "wrong"), [("relevant", "Two is big"), ("irrelevant", "Three is old")])
def test_the_score_is_the_share_of_wrong_statements_that_such_a_document_led_to(
    judged: Judged, rule: ScriptedModel, mode: str, wrong: str
) -> None:
    metric = judged("noise_sensitivity", rule, options={"mode": mode, "threshold": 0.25}, **POINT)

    assert (metric.score, metric.status) == (0.25, Status.PASS)
    assert [finding.text for finding in metric.findings if not finding.passed] == [wrong]
    assert len(rule.calls) == 3 + 2 * 2


def test_lower_is_better(judged: Judged, rule: ScriptedModel) -> None:
    registry = Registry()
    registry.install(genkit_metrics(judge=rule))

    metric = judged("noise_sensitivity", rule, options={"threshold": 0.2}, **POINT)

    assert registry.evaluator("genkitEval/noise_sensitivity").direction == "minimize"
    assert metric.status is Status.FAIL


def test_a_statement_that_both_kinds_bear_out_is_the_relevant_ones() -> None:
    found = {
        mode: misled(
            correct=[False],
            answer_in_document=[[True], [True]],
            reference_in_document=[[True], [False]],
            mode=mode,
        )
        for mode in ("relevant", "irrelevant")
    }

    assert found == {"relevant": [True], "irrelevant": [False]}


@pytest.mark.parametrize(
    ("output", "reference", "reason"),
    [
        (".", "One is red.", "the answer states nothing that could be checked"),
        ("One is red.", ".", "the reference states nothing that could be checked"),
    ],
)
def test_nothing_stated_is_inconclusive(
    judged: Judged, rule: ScriptedModel, output: str, reference: str, reason: str
) -> None:
    metric = judged("noise_sensitivity", rule, output=output, reference=reference, context=["c"])

    assert (metric.ended, metric.rationale) == (Outcome.INCONCLUSIVE, reason)


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[bool], list[list[bool]], list[list[bool]]]:
    said, wanted, documents = draw(st.integers(1, 5)), draw(st.integers(1, 5)), draw(st.integers(0, 4))

    def row(size: int) -> list[bool]:
        return draw(st.lists(st.booleans(), min_size=size, max_size=size))

    return row(said), [row(said) for _ in range(documents)], [row(wanted) for _ in range(documents)]


@given(cases())
def test_no_statement_counts_twice_and_no_right_one_counts(
    case: tuple[list[bool], list[list[bool]], list[list[bool]]],
) -> None:
    correct, answer, reference = case

    relevant, irrelevant = (
        misled(correct=correct, answer_in_document=answer, reference_in_document=reference, mode=mode)
        for mode in ("relevant", "irrelevant")
    )

    for right, by_relevant, by_other in zip(correct, relevant, irrelevant, strict=True):
        assert right + by_relevant + by_other <= 1
