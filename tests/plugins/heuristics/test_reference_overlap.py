"""Answer against reference, word by word."""

from __future__ import annotations

import collections
import re
import string
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genkit_eval import DataPoint, EvalMetric, Outcome, Status
from genkit_eval_heuristics.reference_overlap import (
    ExactOptions,
    OverlapOptions,
    exact_match,
    response_quality,
    token_f1,
)
from genkit_eval_heuristics.words import normalised

Measure = Callable[..., EvalMetric]

TEXT = st.lists(
    st.sampled_from(["a", "The", "red", "kite.", "Red", "3.14", "well-known", "über", "東京", "🙂"]), min_size=1
)


def _squad_normal_form(text: str) -> str:
    """As SQuAD's scorer is published."""
    text = "".join(character for character in text.lower() if character not in set(string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


def _squad_f1(prediction: str, truth: str) -> float:
    ours, theirs = _squad_normal_form(prediction).split(), _squad_normal_form(truth).split()
    if not ours or not theirs:
        return float(ours == theirs)
    same = sum((collections.Counter(ours) & collections.Counter(theirs)).values())
    if same == 0:
        return 0.0
    precision, recall = same / len(ours), same / len(theirs)
    return 2 * precision * recall / (precision + recall)


@pytest.mark.parametrize(
    ("output", "reference", "score"),
    [
        pytest.param(
            "The Lantern Bridge!",
            "lantern bridge",
            1.0,
            marks=pytest.mark.case("heuristic-text/articles-punctuation-case"),
        ),
        # precision 2/3, recall 2/2
        pytest.param("the red red kite", "red kite", 0.8, marks=pytest.mark.case("heuristic-text/multiset-overlap")),
        # "wellknown author": precision 1/2, recall 1/3
        pytest.param(
            "well-known author", "well known author", 0.4, marks=pytest.mark.case("heuristic-text/hyphen-joins")
        ),
        pytest.param(
            "pier nine", ["dock four", "pier nine"], 1.0, marks=pytest.mark.case("heuristic-text/best-of-references")
        ),
        ("café", "cafe\u0301", 1.0),
        ("42", 42, 1.0),
        ({"answer": "pier nine"}, "pier nine", 1.0),
        ("pier nine", "", 0.0),
        ("مرحبا بالعالم", "بالعالم", 2 / 3),
        ("🙂 yes", "yes 🙂", 1.0),
    ],
)
def test_token_f1_by_hand(output: object, reference: object, score: float, measure: Measure) -> None:
    metric = measure("heuristic/token_f1", output=output, reference=reference)

    assert metric.score == pytest.approx(score, abs=1e-12)


@pytest.mark.case("heuristic-text/cjk-characters")
def test_scripts_without_blanks_are_read_by_character_on_request(measure: Measure) -> None:
    metric = measure("heuristic/token_f1", {"tokens": "unicode"}, output="東京都", reference="東京")

    assert metric.score == pytest.approx(0.8)
    assert measure("heuristic/token_f1", output="東京都", reference="東京").score == 0


def test_the_letters_i_of_turkish_are_one_in_words_of_any_script(measure: Measure) -> None:
    metric = measure("heuristic/token_f1", {"tokens": "unicode"}, output="İZMİR, IŞIK", reference="izmir ışık")

    assert metric.score == 1


@pytest.mark.case("heuristic-text/answer-is-an-article")
@pytest.mark.parametrize("name", ["heuristic/token_f1", "heuristic/exact_match"])
@pytest.mark.parametrize(
    ("output", "reference", "score"), [("A", "A", 1), ("A", "B", 0), ("B", "A", 0), ("A", "The", 0)]
)
def test_an_answer_of_which_nothing_is_left_is_still_itself(
    name: str, output: str, reference: str, score: float, measure: Measure
) -> None:
    assert measure(name, output=output, reference=reference).score == score


@pytest.mark.case("heuristic-text/decimals-and-symbols")
@pytest.mark.parametrize(("output", "reference"), [("3.14", "314"), ("C++", "C#"), ("-5", "5")])
def test_squad_takes_signs_out_of_numbers_and_names(output: str, reference: str, measure: Measure) -> None:
    assert measure("heuristic/exact_match", output=output, reference=reference).score == 1
    assert measure("heuristic/token_f1", output=output, reference=reference).score == 1
    assert measure("heuristic/exact_match", {"tokens": "exact"}, output=output, reference=reference).score == 0


@pytest.mark.parametrize(
    ("tokens", "output", "score"),
    [
        ("squad", "the pier.", 1),
        ("unicode", "PIER", 1),
        ("unicode", "the pier", 0),
        ("exact", "pier", 1),
        ("exact", "Pier", 0),
    ],
)
def test_exact_match_in_each_reading(tokens: str, output: str, score: float, measure: Measure) -> None:
    assert measure("heuristic/exact_match", {"tokens": tokens}, output=output, reference="pier").score == score


def test_texts_of_signs_are_not_all_the_same(measure: Measure) -> None:
    assert measure("heuristic/exact_match", {"tokens": "unicode"}, output="🙂", reference="🙁").score == 0
    assert measure("heuristic/exact_match", output="!", reference="?").score == 0


@pytest.mark.parametrize("name", ["heuristic/token_f1", "heuristic/exact_match"])
@pytest.mark.parametrize(
    "point", [{"output": "x"}, {"output": " ", "reference": "x"}, {"output": "x", "reference": None}]
)
def test_without_answer_or_reference_nothing_is_compared(name: str, point: dict[str, object], measure: Measure) -> None:
    assert measure(name, **point).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize("name", ["heuristic/token_f1", "heuristic/exact_match", "heuristic/response_quality"])
@pytest.mark.parametrize("tokens", ["squad", "unicode"])
def test_signs_without_words_are_compared_as_they_are(name: str, tokens: str, measure: Measure) -> None:
    assert measure(name, {"tokens": tokens}, output="👍", reference="👎").score == 0
    assert measure(name, {"tokens": tokens}, output=" !? ", reference="!?").score == 1


def test_response_quality_is_the_mean_of_precision_recall_and_f1(measure: Measure) -> None:
    # red, kite: of 3 words two are shared, of 2 words both
    metric = measure("heuristic/response_quality", output="the red red kite", reference="red kite")

    assert metric.score == pytest.approx((2 / 3 + 1 + 0.8) / 3)
    assert metric.details == pytest.approx({"precision": 2 / 3, "recall": 1.0, "f1": 0.8})


@pytest.mark.parametrize(("output", "score"), [("x" * 50, 0.5), ("x" * 300, 1.0), ("", 0.0), ("  ", 0.0)])
def test_response_quality_without_a_reference_is_length(output: str, score: float, measure: Measure) -> None:
    metric = measure("heuristic/response_quality", output=output)

    assert metric.score == score
    assert metric.status is (Status.PASS if score >= 0.5 else Status.FAIL)


def test_an_empty_answer_has_no_quality_whatever_the_reference(measure: Measure) -> None:
    assert measure("heuristic/response_quality", output="", reference="red kite").score == 0


@given(TEXT.map(" ".join), TEXT.map(" ".join))
def test_the_scorer_of_squad_says_the_same(output: str, reference: str) -> None:
    point = DataPoint(output=output, reference=reference)

    if _squad_normal_form(output) and _squad_normal_form(reference):
        assert token_f1(point, OverlapOptions()).score == pytest.approx(_squad_f1(output, reference), abs=1e-9)
        same = _squad_normal_form(output) == _squad_normal_form(reference)
        assert exact_match(point, ExactOptions()).score == same


@given(st.text(max_size=40))
def test_normalising_is_that_of_squad_but_for_composed_characters(text: str) -> None:
    composed = normalised(text)

    if composed.isascii() and _squad_normal_form(text):
        assert composed == _squad_normal_form(text)


@given(st.text(max_size=30), st.text(max_size=30), st.sampled_from(["squad", "unicode"]))
def test_scores_stay_in_range_and_f1_is_symmetric(one: str, other: str, tokens: str) -> None:
    options = OverlapOptions.model_validate({"tokens": tokens})
    there = token_f1(DataPoint(output=one, reference=other), options)
    back = token_f1(DataPoint(output=other, reference=one), options)
    quality = response_quality(DataPoint(output=one, reference=other), options)

    assert quality.score is not None
    assert 0 <= float(quality.score) <= 1
    if there.score is not None and back.score is not None:
        assert 0 <= float(there.score) <= 1
        assert there.score == pytest.approx(float(back.score))


@given(st.permutations(["red", "kite", "pier", "nine"]))
def test_the_order_of_words_does_not_count(words: list[str]) -> None:
    score = token_f1(DataPoint(output=" ".join(words), reference="nine pier kite red"), OverlapOptions())

    assert score.score == 1
