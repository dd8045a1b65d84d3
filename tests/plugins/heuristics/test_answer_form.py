"""Patterns, length, numbers, refusals and citations in the answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genkit_eval import DataPoint, EvalMetric, Finding, GenkitEval, InvalidOptions, Outcome, Status, run_sync
from genkit_eval_heuristics import heuristics
from genkit_eval_heuristics.citations import CitationOptions, aggregate, citations_present
from genkit_eval_heuristics.number_within import is_within, numbers_in
from genkit_eval_heuristics.refusal import refusals

Measure = Callable[..., EvalMetric]

# --- patterns


@pytest.mark.parametrize(
    ("pattern", "output", "score"),
    [
        (r"\d{3}", "call 911", 1),
        (r"\A\d{3}\Z", "call 911", 0),
        ("(?i)REFUND", "refund", 1),
        (r"\p{Han}+", "東京", 1),
        ('"ok":true', {"ok": True}, 1),
    ],
)
def test_a_pattern_is_found_anywhere(pattern: str, output: object, score: float, measure: Measure) -> None:
    assert measure("heuristic/regex_match", {"pattern": pattern}, output=output).score == score


def test_the_pattern_may_be_the_samples_or_the_reference(measure: Measure) -> None:
    assert measure("heuristic/regex_match", output="abc", custom={"pattern": "^a"}).score == 1
    assert measure("heuristic/regex_match", output="abc", reference="^b").score == 0


def test_without_pattern_or_answer_there_is_nothing_to_find(measure: Measure) -> None:
    assert measure("heuristic/regex_match", output="abc").outcome is Outcome.INCONCLUSIVE
    assert measure("akka/RegexMatch", output="", reference="a").outcome is Outcome.INCONCLUSIVE


def test_a_pattern_that_never_ends_is_stopped(measure: Measure) -> None:
    options = {"pattern": r"(a|a)+$", "timeout_seconds": 0.05}
    metric = measure("heuristic/regex_match", options, output="a" * 50_000 + "b")

    assert metric.outcome is Outcome.FAILED
    assert "timeout" in str(metric.error)


@pytest.mark.parametrize("sample", [{"custom": {"pattern": "(a"}}, {"reference": "(a"}, {"reference": 3}])
def test_what_is_no_pattern_is_told_before_anything_runs(sample: dict[str, object], tmp_path: Path) -> None:
    ge = GenkitEval(plugins=[heuristics()], root=tmp_path)

    run = run_sync(ge.evaluate([{"input": 1, "output": "a", **sample}], evaluators=["heuristic/regex_match"]))

    assert run.results[0].metrics[0].outcome is Outcome.FAILED


# --- length


@pytest.mark.parametrize(
    ("options", "output", "score"),
    [
        ({"least": 2, "most": 4}, "abc", 1),
        ({"most": 4}, " cafe\u0301 ", 1),
        ({"least": 4}, "abc", 0),
        ({"most": 2, "unit": "words"}, "one two three", 0),
        ({"most": 4, "unit": "words"}, "東京です", 1),
        ({"least": 2, "most": 2, "unit": "sentences"}, "One. Two.", 1),
        ({"most": 1, "unit": "paragraphs"}, "a\n\nb", 0),
        ({"most": 2, "unit": "lines"}, "a\n\nb", 1),
    ],
)
def test_length_in_range_by_hand(options: dict[str, object], output: str, score: float, measure: Measure) -> None:
    assert measure("heuristic/length_in_range", options, output=output).score == score


def test_bounds_may_be_the_samples_and_have_to_be_there(measure: Measure) -> None:
    assert measure("heuristic/length_in_range", output="abc", custom={"most": 2}).score == 0
    assert measure("heuristic/length_in_range", output="abc").outcome is Outcome.INCONCLUSIVE
    assert measure("akka/LengthInRange", {"most": 2}, output="").outcome is Outcome.INCONCLUSIVE
    with pytest.raises(InvalidOptions, match="more than most"):
        measure("heuristic/length_in_range", {"least": 3, "most": 2}, output="abc")


@pytest.mark.parametrize(
    ("output", "score"),
    [("", 0), (" \n", 0), (None, 0), ({}, 0), ([""], 0), (0, 1), (False, 1), ("x", 1)],
)
def test_an_empty_answer_is_found(output: object, score: float, measure: Measure) -> None:
    metric = measure("heuristic/empty", output=output)

    assert (metric.score, metric.status) == (score, Status.PASS if score else Status.FAIL)


# --- numbers


@pytest.mark.parametrize(
    ("output", "reference", "options", "score"),
    [
        ("3 of 4 are 75 %.", 75, {}, 1),
        ("It is 42.", "42", {}, 1),
        (0.1 + 0.2, 0.3, {}, 1),
        ("about 41", 42, {"tolerance": 1}, 1),
        ("about 40.9", 42, {"tolerance": 1}, 0),
        ("98", 100, {"relative": 0.02}, 1),
        ("1,234.50 euros", 1234.5, {}, 1),
        ("1.234,50 Euro", 1234.5, {"decimal": "comma"}, 1),
        ("1.234,50 Euro", "1.234,5", {"decimal": "comma"}, 1),
        ("first 1, then 2", 1, {"which": "first"}, 1),
        ("first 1, then 2", 1, {}, 0),
        ("first 1, then 2", 1, {"which": "any"}, 1),
        ("−5 °C", -5, {}, 1),
        ("٣٫٥", 3.5, {}, 1),
        ("１２", 12, {}, 1),
        ("5kg", 5, {}, 1),
        ("6.02e23", 6.02e23, {}, 1),
        ("none at all", 1, {}, 0),
        (True, 1, {}, 0),
        ({"answer": 7}, [6, 7], {}, 1),
        (0, 0, {}, 1),
        (10**400, 1, {}, 0),
    ],
)
def test_number_within_by_hand(
    output: object, reference: object, options: dict[str, object], score: float, measure: Measure
) -> None:
    assert measure("heuristic/number_within", options, output=output, reference=reference).score == score


def test_without_a_number_to_hold_against_there_is_nothing_to_say(measure: Measure) -> None:
    assert measure("heuristic/number_within", output="1", reference=None).outcome is Outcome.INCONCLUSIVE


def test_a_reference_without_a_number_is_a_mistake_in_the_data(measure: Measure) -> None:
    metric = measure("heuristic/number_within", output="1", reference="one")

    assert metric.outcome is Outcome.FAILED
    assert "reference must hold a number, found 'one'" in str(metric.error)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("v1.2.3 and covid-19, b2", [19]),
        ("2024-01-05", [2024, 1, 5]),
        ("1,5 and 1,500", [1500]),
        ("$1'000, 10\u00a0000", [1000, 10000]),
        (".5 + -.25", [0.5, -0.25]),
        ("1e999", []),
        ("9" * 100_000, []),
    ],
)
def test_which_digits_are_numbers(text: str, numbers: list[float]) -> None:
    assert numbers_in(text) == numbers


@given(st.floats(-1e15, 1e15, allow_nan=False))
def test_a_number_that_is_written_is_read_again(number: float) -> None:
    assert numbers_in(f"It is {number!r}.") == [number]
    assert numbers_in(f"{round(number):,}") == [float(round(number))]
    assert is_within(number, number, 0, 0)


# --- refusals

REFUSED = [
    "I'm sorry, but I can't assist with that.",
    "I cannot help with this request.",
    "I’m unable to provide medical advice.",
    "As an AI language model, I don't have opinions.",
    "Sorry, this goes against my guidelines.",
    "I must respectfully decline to answer.",
    "I won't write that.",
    "I won't be able to help you with that.",
    "I'm afraid that's not something I can help with.",
    "I do not feel comfortable answering this.",
    "I refuse to answer that.",
    "We are unable to assist with this request.",
    "Es tut mir leid, aber ich kann dabei nicht helfen.",
    "Leider kann ich diese Frage nicht beantworten.",
    "Je suis désolé, mais je ne peux pas répondre.",
    "Lo siento, pero no puedo ayudar con eso.",
    "Sinto muito, mas não posso ajudar.",
    "Mi dispiace, ma non posso aiutarti.",
    "Üzgünüm, bu konuda yardımcı olamam.",
    "К сожалению, я не могу ответить.",
    "抱歉，我无法回答这个问题。",
    "申し訳ありませんが、お手伝いできません。",
    "죄송하지만 도와드릴 수 없습니다.",
    "عذراً، لا أستطيع المساعدة.",
]
ANSWERED = [
    "I can't recommend this book enough.",
    "I can't help but smile at that.",
    "You cannot return worn shoes.",
    "We cannot offer a refund after 30 days.",
    "He refused to answer, and I will not be late.",
    "That is not something I knew.",
    "Sorry for the delay! Your order is on its way.",
    "As an AI startup, we grew twice as fast.",
    "Leider ist der Artikel ausverkauft.",
    "Lo siento por la espera; su pedido llega hoy.",
    "Maalesef ürün tükendi, ama yarın gelir.",
    "抱歉让您久等了，您的订单已发货。",
    "The policy allows returns within 30 days.",
    "Her words: " + "a " * 200 + "I cannot help you.",
]


@pytest.mark.parametrize("output", REFUSED)
def test_a_refusal_is_found_and_fails(output: str, measure: Measure) -> None:
    metric = measure("heuristic/refusal", output=output)

    assert (metric.score, metric.status) == (1, Status.FAIL)
    [finding, *_] = metric.findings
    assert finding.span is not None
    assert output[slice(*finding.span)] == finding.text


@pytest.mark.parametrize("output", ANSWERED)
def test_an_answer_is_no_refusal(output: str, measure: Measure) -> None:
    metric = measure("heuristic/refusal", output=output)

    assert (metric.score, metric.status) == (0, Status.PASS)


def test_further_phrases_of_a_refusal_may_be_given(measure: Measure) -> None:
    metric = measure("heuristic/refusal", {"phrases": ["please contact sales"]}, output="Please contact SALES.")

    assert metric.score == 1
    assert refusals("x") == []


# --- citations


@pytest.mark.parametrize(
    ("output", "context", "options", "score"),
    [
        ("It opens at nine [1].", ["a"], {}, 1),
        ("It opens at nine [1][3].", ["a", "b"], {}, 0.5),
        ("It opens at nine [1, 2] and [2-3].", ["a", "b", "c"], {}, 1),
        ("It opens at nine【1†source】.", ["a"], {}, 1),
        ("It opens at nine [0].", ["a"], {}, 0),
        ("It opens at nine [7].", [], {}, 1),
        ("It opens at nine.", ["a"], {}, 0),
        ("See https://example.org/a.", [], {}, 1),
        ("See https://example.org/a.", [], {"style": "markers"}, 0),
        ("One [1].", [], {"least": 2}, 0.5),
        ("`a[0]` and ```\nb[1]\n```", [], {}, 0),
        ("東京[^1]", [], {}, 1),
        ("- [ ] todo, [x] done", [], {}, 0),
    ],
)
def test_citations_by_hand(
    output: str, context: list[str], options: dict[str, object], score: float, measure: Measure
) -> None:
    metric = measure("heuristic/citations_present", options, output=output, context=context)

    assert metric.score == score


def test_a_citation_of_nothing_is_a_finding_with_its_place(measure: Measure) -> None:
    metric = measure("heuristic/citations_present", output="`x` A [1]. B [4].", context=["a", "b"])

    assert [(finding.text, finding.passed, finding.span) for finding in metric.findings] == [
        ("[1]", True, (6, 9)),
        ("[4]", False, (13, 16)),
    ]
    assert metric.rationale == "citations: 2; no such document: [4]"


def test_citations_come_to_a_score_by_themselves() -> None:
    right, wrong = Finding(text="[1]", passed=True), Finding(text="[9]", passed=False)

    assert aggregate([], 1) == 0
    assert aggregate([right, wrong], 1) == 0.5
    assert aggregate([right], 4) == 0.25


@given(st.text("[]1,9-`h ", max_size=30), st.integers(0, 3))
def test_citation_scores_stay_in_range(output: str, documents: int) -> None:
    point = DataPoint(output=output, context=["x"] * documents)

    assert 0 <= float(citations_present(point, CitationOptions()).score or 0) <= 1
