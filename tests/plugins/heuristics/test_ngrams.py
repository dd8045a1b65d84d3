"""ROUGE, BLEU and chrF, beside the libraries that define them."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF

from genkit_eval import DataPoint, EvalMetric, Outcome
from genkit_eval_heuristics.bleu import BleuOptions, ChrfOptions, bleu, chrf
from genkit_eval_heuristics.rouge import RougeOptions, rouge_l, rouge_n

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from rouge_score.rouge_scorer import RougeScorer

Measure = Callable[..., EvalMetric]

SENTENCE = st.lists(
    st.sampled_from(["the", "The", "red", "kites", "flying", "over.", "pier-9", "über", "東京", "🙂"]),
    min_size=1,
    max_size=12,
).map(" ".join)


@pytest.mark.parametrize(
    ("name", "score"),
    [
        # answer: police killed the gunman; reference: police kill the gunman: 3 of 4 words
        ("heuristic/rouge_1", 3 / 4),
        # of 3 pairs: the gunman
        ("heuristic/rouge_2", 1 / 3),
        # police, the, gunman
        ("heuristic/rouge_l", 3 / 4),
    ],
)
def test_rouge_by_hand(name: str, score: float, measure: Measure) -> None:
    metric = measure(name, output="Police killed the gunman", reference="police kill the gunman")

    assert metric.score == pytest.approx(score)


@pytest.mark.parametrize(("measured", "score"), [("precision", 1.0), ("recall", 0.5), ("f1", 2 / 3)])
def test_each_share_can_be_the_score(measured: str, score: float, measure: Measure) -> None:
    metric = measure("heuristic/rouge_1", {"measure": measured}, output="a b", reference="a b c d")

    assert metric.score == pytest.approx(score)
    assert metric.details == pytest.approx({"precision": 1.0, "recall": 0.5, "f1": 2 / 3})


def test_the_best_of_several_references_counts(measure: Measure) -> None:
    point = {"output": "pier nine", "reference": ["dock four", "pier nine"]}

    for name in ("rouge_1", "rouge_2", "rouge_l", "bleu", "chrf"):
        assert measure(f"heuristic/{name}", **point).score == pytest.approx(1.0), name


def test_stems_are_compared_on_request(measure: Measure) -> None:
    point = {"output": "flying kites", "reference": "flies kite"}

    assert measure("heuristic/rouge_1", **point).score == 0
    assert measure("heuristic/rouge_1", {"stem": True}, **point).score == 1


@pytest.mark.parametrize("name", ["heuristic/rouge_1", "heuristic/rouge_l"])
def test_other_scripts_are_read_on_request(name: str, measure: Measure) -> None:
    # 2 of 3 characters, 2 of 2
    unicode = measure(name, {"tokens": "unicode"}, output="東京都", reference="東京")
    plain = measure(name, output="東京都", reference="東京")

    assert unicode.score == pytest.approx(0.8)
    assert plain.outcome is Outcome.INCONCLUSIVE
    assert "tokens='unicode'" in str(plain.rationale)


def test_chrf_reads_any_script_and_bleu_is_told_how(measure: Measure) -> None:
    point = {"output": "東京都に住む人", "reference": "東京都に住む人々"}

    assert float(measure("heuristic/chrf", **point).score or 0) > 0.7
    assert measure("heuristic/bleu", **point).score == 0
    assert float(measure("heuristic/bleu", {"tokenize": "char"}, **point).score or 0) > 0.8


@pytest.mark.parametrize("name", ["rouge_1", "rouge_2", "rouge_l", "bleu", "chrf"])
@pytest.mark.parametrize("point", [{"output": "x"}, {"output": "", "reference": "x"}, {"output": "x", "reference": ""}])
def test_without_answer_or_reference_nothing_is_compared(name: str, point: dict[str, str], measure: Measure) -> None:
    assert measure(f"heuristic/{name}", **point).outcome is Outcome.INCONCLUSIVE


def test_one_word_has_no_pairs(measure: Measure) -> None:
    assert measure("heuristic/rouge_2", output="red", reference="red").score == 0


@given(SENTENCE, SENTENCE, st.booleans())
def test_rouge_is_that_of_rouge_score(output: str, reference: str, stem: bool) -> None:
    theirs = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=stem).score(reference, output)
    point, options = DataPoint(output=output, reference=reference), RougeOptions(stem=stem)

    ours = {
        "rouge1": rouge_n(1, point, options),
        "rouge2": rouge_n(2, point, options),
        "rougeL": rouge_l(point, options),
    }
    for name, score in ours.items():
        if score.outcome is not Outcome.INCONCLUSIVE:
            assert score.score == pytest.approx(theirs[name].fmeasure, abs=1e-9)


@given(SENTENCE, SENTENCE, st.sampled_from(["13a", "intl", "zh", "char"]))
@settings(max_examples=50)
def test_bleu_and_chrf_are_those_of_sacrebleu(output: str, reference: str, tokenize: str) -> None:
    point = DataPoint(output=output, reference=[reference, "the red kite"])
    options = BleuOptions.model_validate({"tokenize": tokenize})
    known = [reference, "the red kite"]

    assert bleu(point, options).score == pytest.approx(
        BLEU(effective_order=True, tokenize=tokenize).sentence_score(output, known).score / 100, abs=1e-9
    )
    assert chrf(point, ChrfOptions()).score == pytest.approx(CHRF().sentence_score(output, known).score / 100, abs=1e-9)


@given(st.text(max_size=20), st.text(max_size=20))
def test_scores_stay_in_range(output: str, reference: str) -> None:
    point = DataPoint(output=output, reference=reference)
    options = RougeOptions(tokens="unicode")

    for score in (
        rouge_n(1, point, options),
        rouge_l(point, options),
        bleu(point, BleuOptions()),
        chrf(point, ChrfOptions()),
    ):
        assert score.score is None or 0 <= float(score.score) <= 1
