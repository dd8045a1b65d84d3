"""`local/embedding_similarity`, with embedders whose vectors are known."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pytest

from genkit_eval import ConfigError, DataPoint, EvalMetric, GenkitEval, Outcome, Status, run_sync
from genkit_eval_local import local_metrics


class Known:
    """An embedder that knows its texts by heart."""

    name = "known"

    def __init__(self, vectors: Mapping[str, Sequence[float]]) -> None:
        self.vectors = vectors

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        return [self.vectors[text] for text in texts if text in self.vectors]


def similarity(
    vectors: Mapping[str, Sequence[float]], output: object, reference: object, *, threshold: float | None = None
) -> EvalMetric:
    ge = GenkitEval(plugins=[local_metrics(embedder=Known(vectors))])
    ref = ge.ref("local/embedding_similarity", **({} if threshold is None else {"threshold": threshold}))
    (metric,) = run_sync(ge.score(DataPoint(output=output, reference=reference), ref))
    return metric


def test_the_score_is_the_cosine() -> None:
    metric = similarity({"a": [3, 4], "b": [4, 3]}, "a", "b")

    assert metric.score == pytest.approx(24 / 25)
    assert metric.status is Status.UNKNOWN


@pytest.mark.case("judge-metric/negative-cosine")
def test_opposite_vectors_score_minus_1_as_the_declared_range_has_it() -> None:
    metric = similarity({"a": [1, 1], "b": [-1, -1]}, "a", "b")

    assert metric.score == pytest.approx(-1)


@pytest.mark.parametrize(("threshold", "status"), [(0.5, Status.PASS), (0.97, Status.FAIL)])
def test_a_threshold_decides(threshold: float, status: Status) -> None:
    metric = similarity({"a": [3, 4], "b": [4, 3]}, "a", "b", threshold=threshold)

    assert metric.status is status


def test_of_several_references_the_nearest_counts() -> None:
    metric = similarity({"a": [1, 0], "b": [0, 1], "c": [2, 0]}, "a", ["b", "c"])

    assert metric.score == 1


@pytest.mark.parametrize(
    ("vectors", "problem"),
    [
        ({"a": [0, 0], "b": [1, 0]}, "all zeros"),
        ({"a": [math.nan, 0], "b": [1, 0]}, "not finite"),
        ({"a": [1], "b": [1, 0]}, "1 and 2 numbers"),
        ({"a": [1]}, "1 vectors for 2 texts"),
    ],
)
def test_vectors_that_cannot_be_compared_are_failed(vectors: Mapping[str, Sequence[float]], problem: str) -> None:
    metric = similarity(vectors, "a", "b")

    assert metric.ended is Outcome.FAILED
    assert problem in (metric.error or "")


@pytest.mark.parametrize(("output", "reference"), [("", "b"), ("a", " "), ("a", [""]), ({"answer": " "}, "b")])
def test_nothing_to_compare_is_inconclusive(output: object, reference: object) -> None:
    metric = similarity({}, output, reference)

    assert metric.ended is Outcome.INCONCLUSIVE


def test_the_version_names_the_embedder() -> None:
    ge = GenkitEval(plugins=[local_metrics(embedder=Known({}))])

    assert ge.registry.evaluator("local/embedding_similarity").version == "1+known"


def test_an_embedder_that_was_given_is_named_for_runs_that_go_on_and_its_own_is_not() -> None:
    given = GenkitEval(plugins=[local_metrics(embedder="mine/known")])
    own = GenkitEval(plugins=[local_metrics()])

    assert given.registry.evaluator("local/embedding_similarity").models == {"embedder": "mine/known"}
    assert own.registry.evaluator("local/embedding_similarity").models == {}


def test_an_embedder_of_another_plugin_is_found_by_name_when_it_is_needed() -> None:
    ge = GenkitEval(plugins=[local_metrics(embedder="mine/known")])
    ge.registry.define_embedders("mine", {"known": Known({"a": [1], "b": [1]})})

    (metric,) = run_sync(ge.score(DataPoint(output="a", reference="b"), "local/embedding_similarity"))

    assert metric.score == 1


def test_an_embedder_of_an_unknown_name_is_refused_before_anything_runs() -> None:
    ge = GenkitEval(plugins=[local_metrics(embedder="local/use-multilingal")])

    with pytest.raises(ConfigError, match="did you mean 'local/use-multilingual'"):
        run_sync(ge.score(DataPoint(output="a", reference="b"), "local/embedding_similarity"))


def test_what_is_no_embedder_is_refused() -> None:
    with pytest.raises(ConfigError, match="5 cannot be an embedder"):
        local_metrics(embedder=5)
