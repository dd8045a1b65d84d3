"""`genkitEval/answer_similarity`: cosine of answer and reference."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from genkit_eval import EvalMetric, Outcome, Registry, Status
from genkit_eval.testing import HashEmbedder
from genkit_eval_metrics import genkit_metrics

Judged = Callable[..., EvalMetric]


class Pair:
    """An embedder of two texts."""

    name = "pair"

    def __init__(self, *vectors: Sequence[float]) -> None:
        self.vectors = vectors

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        return self.vectors


@pytest.mark.parametrize(
    ("vectors", "score"),
    [([(3, 4), (4, 3)], 24 / 25), ([(1, 0), (0, 1)], 0.0), ([(1, 0), (-1, 0)], 0.0), ([(1, 2), (2, 4)], 1.0)],
)
def test_the_score_is_the_cosine_from_0_up(judged: Judged, vectors: list[Sequence[float]], score: float) -> None:
    metric = judged("answer_similarity", None, embedder=Pair(*vectors), output="a", reference="b")

    assert metric.score == pytest.approx(score)
    assert metric.status is Status.UNKNOWN


def test_a_threshold_says_what_passes(judged: Judged) -> None:
    options = {"threshold": 1.0}

    metric = judged("answer_similarity", None, embedder=HashEmbedder(), options=options, output="a b", reference="b A")

    assert metric.status is Status.PASS


def test_it_needs_no_judge_and_says_what_it_needs() -> None:
    registry = Registry()

    registry.install(genkit_metrics())

    evaluator = registry.evaluator("genkitEval/answer_similarity")
    assert str(evaluator.needs).startswith("needs an embedder: give genkit_metrics(embedder=…)")
    assert evaluator.kind == "heuristic"


def test_nothing_to_compare_is_inconclusive(judged: Judged) -> None:
    embedder = HashEmbedder()

    metric = judged("answer_similarity", None, embedder=embedder, output="", reference="b")

    assert (metric.ended, metric.rationale, embedder.calls) == (Outcome.INCONCLUSIVE, "output is empty", [])
