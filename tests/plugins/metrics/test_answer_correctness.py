"""`genkitEval/answer_correctness`: F1 of the statements, and similarity of meaning."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genkit_eval import EvalMetric, Outcome, Registry, Status
from genkit_eval.testing import HashEmbedder, ScriptedModel
from genkit_eval_metrics import genkit_metrics
from genkit_eval_metrics.formulas import f_beta

Judged = Callable[..., EvalMetric]

# true: One, Two; not in the reference: Five; missing: Three, Four
POINT = {
    "input": "q",
    "output": "One is red. Two is blue. Five is big.",
    "reference": "One is red. Two is blue. Three is old. Four is new.",
}


class Half:
    """An embedder for which all texts have a cosine of 0.5."""

    name = "half"

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        return [(1.0, 0.0), (1.0, 3**0.5)]


def test_without_an_embedder_the_score_is_f1(judged: Judged, rule: ScriptedModel) -> None:
    metric = judged("answer_correctness", rule, **POINT)

    # 2 / (2 + (1 + 2) / 2)
    assert metric.score == pytest.approx(4 / 7)
    assert metric.details == {
        "form": "judged",
        "f": pytest.approx(4 / 7),
        "truePositives": 2,
        "falsePositives": 1,
        "falseNegatives": 2,
    }
    assert metric.rationale == "2 statements right, 1 not in the reference, 2 missing"
    assert metric.status is Status.UNKNOWN
    assert len(rule.calls) == 4
    assert [f.text for f in metric.findings if not f.passed] == ["Five is big", "Three is old", "Four is new"]
    assert [f.category for f in metric.findings] == ["answer"] * 3 + ["reference"] * 4


@pytest.mark.parametrize(
    ("options", "score"),
    [
        # 0.75 * 4/7 + 0.25 * 0.5
        ({}, 0.75 * 4 / 7 + 0.125),
        ({"statements_weight": 1}, 4 / 7),
        ({"statements_weight": 0}, 0.5),
        # 5 * 2 / (5 * 2 + 4 * 2 + 1)
        ({"statements_weight": 1, "beta": 2}, 10 / 19),
    ],
)
def test_with_an_embedder_it_is_the_weighted_mean(
    judged: Judged, rule: ScriptedModel, options: dict[str, float], score: float
) -> None:
    metric = judged("answer_correctness", rule, embedder=Half(), options=options, **POINT)

    assert metric.score == pytest.approx(score)
    assert metric.details is not None
    assert metric.details["form"] == "embedded"


def test_the_form_is_part_of_the_version() -> None:
    registries = [Registry(), Registry()]
    for registry, embedder in zip(registries, (None, HashEmbedder()), strict=True):
        registry.install(genkit_metrics(judge=ScriptedModel(""), embedder=embedder))

    versions = [registry.evaluator("genkitEval/answer_correctness").version for registry in registries]

    assert [version.rpartition("-")[0] for version in versions] == ["1-judged", "1-embedded"]


def test_an_answer_that_states_nothing_misses_everything(judged: Judged, rule: ScriptedModel) -> None:
    metric = judged("answer_correctness", rule, output=".", reference="One is red.")

    assert (metric.score, metric.ended) == (0.0, Outcome.VERDICT)
    assert [(finding.text, finding.passed) for finding in metric.findings] == [("One is red", False)]
    assert len(rule.calls) == 2


def test_a_reference_that_states_nothing_is_inconclusive(judged: Judged, rule: ScriptedModel) -> None:
    metric = judged("answer_correctness", rule, output="One is red.", reference="...")

    assert (metric.ended, metric.rationale) == (Outcome.INCONCLUSIVE, "the reference states nothing to compare with")


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50), st.floats(0.1, 10))
def test_f_is_within_its_bounds_and_one_only_without_errors(tp: int, fp: int, fn: int, beta: float) -> None:
    if tp + fp + fn == 0:
        with pytest.raises(ValueError, match="undefined"):
            f_beta(tp, fp, fn, beta=beta)
        return

    score = f_beta(tp, fp, fn, beta=beta)

    assert 0 <= score <= 1
    assert (score == 1) == (fp == fn == 0)


@given(st.integers(1, 50), st.integers(0, 50), st.integers(0, 50))
def test_f1_is_the_harmonic_mean_of_precision_and_recall(tp: int, fp: int, fn: int) -> None:
    precision, recall = tp / (tp + fp), tp / (tp + fn)

    assert f_beta(tp, fp, fn) == pytest.approx(2 * precision * recall / (precision + recall))
