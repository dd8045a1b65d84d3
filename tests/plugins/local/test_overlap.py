"""The metrics that count what two texts have in common."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from genkit_eval import DataPoint, EvalMetric, Outcome, Score, Status
from genkit_eval_local.overlap import ShareOptions, answer_overlap, ngram_grounding, reference_recall

Measure = Callable[..., EvalMetric]

TEXT = st.text(max_size=30) | st.lists(st.sampled_from(["a", "b", "c.", "d 1,5", "東"]), max_size=6).map(" ".join)
METRICS = ("reference_recall", "ngram_grounding", "answer_overlap")


@pytest.mark.parametrize(
    ("output", "reference", "score"),
    [
        # 2 of 3: the, eiffel
        ("The Eiffel bridge", "the Eiffel Tower", 2 / 3),
        ("It is Paris, in France.", "Paris", 1.0),
        ("Rome", "Paris", 0.0),
        # of two times "very" one is there
        ("very good", "very very good", 2 / 3),
        # 2 of 3 characters
        ("東京", "東京都", 2 / 3),
        ("1960", {"year": 1960}, 1.0),
    ],
)
def test_reference_recall_by_hand(output: object, reference: object, score: float, measure: Measure) -> None:
    metric = measure("reference_recall", output=output, reference=reference)

    assert metric.score == pytest.approx(score, abs=1e-12)


@pytest.mark.parametrize(
    ("output", "reference", "score"),
    [
        # precision 1/5, recall 1/1: 2 · 1 / (5 + 1)
        ("It is Paris, in France.", "Paris", 1 / 3),
        ("red kite", "Red kite!", 1.0),
        # 2 · 2 / (4 + 2): articles are words too
        ("the red red kite", "red kite", 2 / 3),
        # 2 · 2 / (3 + 2)
        ("東京都", "東京", 0.8),
        ("3.14", "314", 0.0),
    ],
)
@pytest.mark.case("heuristic-text/multiset-overlap")
@pytest.mark.case("heuristic-text/cjk-characters")
def test_answer_overlap_by_hand(output: str, reference: str, score: float, measure: Measure) -> None:
    metric = measure("answer_overlap", output=output, reference=reference)

    assert metric.score == pytest.approx(score, abs=1e-12)


@pytest.mark.parametrize(
    ("output", "context", "score"),
    [
        # words 3/4 (the, kiosk, nine), pairs 1/3 (the kiosk)
        ("The kiosk closes nine.", ["The kiosk opens at nine."], (3 / 4 + 1 / 3) / 2),
        ("opens at nine", ["The kiosk opens at nine."], 1.0),
        # all words, no pair
        ("nine at opens", ["The kiosk opens at nine."], 0.5),
        # one word has no pairs
        ("Nine.", ["The kiosk opens at nine."], 1.0),
        # "at nine" would reach from one document into the next
        ("at nine", ["It opens at", "nine"], 0.5),
        # the context has "nine" once
        ("nine nine", ["nine"], (1 / 2 + 0) / 2),
        # documents as Genkit has them
        ("opens at nine", [{"content": [{"text": "The kiosk opens at nine."}], "metadata": {"ten": 10}}], 1.0),
    ],
)
def test_ngram_grounding_by_hand(output: str, context: list[object], score: float, measure: Measure) -> None:
    metric = measure("ngram_grounding", output=output, context=context)

    assert metric.score == pytest.approx(score, abs=1e-12)


@pytest.mark.parametrize("name", ["reference_recall", "answer_overlap"])
@pytest.mark.case("heuristic-text/best-of-references")
def test_of_several_references_the_best_counts(name: str, measure: Measure) -> None:
    metric = measure(name, output="pier nine", reference=["dock four", "pier nine", ""])

    assert metric.score == 1.0


@pytest.mark.parametrize("name", METRICS)
def test_without_a_threshold_there_is_a_score_and_no_verdict(name: str, measure: Measure) -> None:
    metric = measure(name, output="one", reference="one", context=["one"])

    assert (metric.score, metric.status, metric.ended) == (1.0, Status.UNKNOWN, Outcome.VERDICT)


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize(("threshold", "status"), [(0.5, Status.PASS), (0.51, Status.FAIL)])
def test_a_threshold_decides_and_is_itself_a_pass(
    name: str, threshold: float, status: Status, measure: Measure
) -> None:
    point = {"output": "two nine", "reference": "nine four", "context": ["nine two"]}

    metric = measure(name, threshold=threshold, **point)

    assert (metric.score, metric.status) == (0.5, status)


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("output", ["", "  ", None, "—!", [], {}, {"answer": ""}])
@pytest.mark.case("judge-metric/empty-output-no-judge-call")
def test_an_empty_answer_is_inconclusive(name: str, output: object, measure: Measure) -> None:
    metric = measure(name, output=output, reference="one", context=["one"])

    assert metric.ended is Outcome.INCONCLUSIVE
    assert metric.score is None


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize(
    "point",
    [{}, {"reference": "", "context": []}, {"reference": "?", "context": ["?"]}, {"reference": [], "context": [""]}],
)
@pytest.mark.case("judge-metric/context-missing")
def test_nothing_to_compare_with_is_inconclusive(name: str, point: dict[str, object], measure: Measure) -> None:
    metric = measure(name, output="one", **point)

    assert metric.ended is Outcome.INCONCLUSIVE
    assert metric.rationale


def test_a_falsy_answer_is_an_answer(measure: Measure) -> None:
    metric = measure("answer_overlap", output=0, reference="0")

    assert metric.score == 1.0


def test_the_reason_names_what_is_missing(measure: Measure) -> None:
    metric = measure("reference_recall", output="Paris", reference="Paris in the north of France since 987")

    assert metric.rationale == "not in the answer: in, the, north, of, france and 2 more"


def test_the_reason_says_when_nothing_is_missing(measure: Measure) -> None:
    metric = measure("ngram_grounding", output="Paris", context=["Paris in France"])

    assert metric.rationale == "every word is in the context"


@given(TEXT, TEXT, st.lists(TEXT, max_size=3))
def test_every_score_is_within_0_and_1_or_inconclusive(output: str, reference: str, context: list[str]) -> None:
    point = DataPoint(output=output, reference=reference, context=context)

    scores = [metric(point, ShareOptions()) for metric in (reference_recall, answer_overlap, ngram_grounding)]

    for score in scores:
        if score.outcome is Outcome.INCONCLUSIVE:
            assert score.score is None
        else:
            assert isinstance(score.score, float)
            assert 0 <= score.score <= 1


@given(TEXT, TEXT)
def test_overlap_is_the_harmonic_mean_of_both_recalls(one: str, other: str) -> None:
    def share(metric: Callable[[DataPoint, ShareOptions], Score], output: str, reference: str) -> float | None:
        score = metric(DataPoint(output=output, reference=reference), ShareOptions()).score
        return None if score is None else float(score)

    recall, precision = share(reference_recall, one, other), share(reference_recall, other, one)
    overlap = share(answer_overlap, one, other)

    if recall is None or precision is None or overlap is None:
        assert recall is precision is overlap is None
    else:
        assert overlap * (recall + precision) == pytest.approx(2 * recall * precision)


@given(TEXT, st.lists(TEXT, max_size=3))
def test_more_context_grounds_no_less(output: str, context: list[str]) -> None:
    less, more = (
        ngram_grounding(DataPoint(output=output, context=documents), ShareOptions()).score
        for documents in (context, [*context, output])
    )

    assert less is None or less <= more
    assert more is None or more == 1


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(TEXT.filter(str.strip))
def test_a_text_agrees_with_itself_on_everything(measure: Measure, text: str) -> None:
    metrics = [measure(name, output=text, reference=text, context=[text]) for name in METRICS]

    assert {metric.score for metric in metrics} in ({1.0}, {None})
