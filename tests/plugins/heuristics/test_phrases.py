"""Phrases and labels in the answer."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genkit_eval import DataPoint, EvalMetric, Finding, Outcome, Status
from genkit_eval_heuristics.folding import contained, ends, occurrences, same, starts
from genkit_eval_heuristics.phrases import (
    ForbiddenOptions,
    PhraseOptions,
    aggregate_all,
    aggregate_any,
    contains_all,
    contains_none,
)

Measure = Callable[..., EvalMetric]

WORDS = st.lists(st.sampled_from(["pier", "nine", "İzmir", "ısı", "東京", "שלום", "🙂"]), max_size=5)


def test_contains_all_is_the_share_of_phrases_that_are_there(measure: Measure) -> None:
    metric = measure("rule/contains_all", output="Refunds take 30 days.", expect={"phrases": ["refund", "14 days"]})

    assert (metric.score, metric.status) == (0.5, Status.FAIL)
    assert metric.rationale == "'14 days' is missing"
    assert [(finding.text, finding.passed) for finding in metric.findings] == [("refund", True), ("14 days", False)]


@pytest.mark.parametrize(
    ("name", "options", "output", "score"),
    [
        ("rule/contains_all", {"phrases": ["red", "kite"]}, "A RED kite", 1),
        ("rule/contains_all", {"phrases": ["red"], "ignore_case": False}, "A RED kite", 0),
        ("rule/contains_all", {"phrases": ["art"], "whole_words": True}, "party", 0),
        ("rule/contains_all", {"phrases": ["東京", "nine"], "whole_words": True}, "駅は東京都にnine時", 1),
        ("rule/contains_all", {"phrases": ["ภาษา"], "whole_words": True}, "ภาษาไทย", 1),
        ("rule/contains_all", {"phrases": ["red kite"]}, "a red\n kite", 1),
        ("rule/contains_all", {"phrases": ["red"]}, "", 0),
        ("rule/contains_all", {"phrases": ["red"]}, {"answer": "red"}, 1),
        ("rule/contains_any", {"phrases": ["red", "blue"]}, "a blue kite", 1),
        ("rule/contains_any", {"phrases": ["red", "blue"]}, "a green kite", 0),
        ("rule/contains_none", {"forbidden": ["red", "blue"]}, "a green kite", 1),
        ("rule/contains_none", {"forbidden": ["red", "blue"]}, "a blue kite", 0.5),
        ("rule/starts_with", {"prefixes": ["dear", "hello"]}, "  Hello you", 1),
        ("rule/starts_with", {"prefixes": ["you"]}, "Hello you", 0),
        ("rule/ends_with", {"suffixes": ["regards."]}, "Kind regards.\n", 1),
        ("rule/ends_with", {"suffixes": ["regards"]}, "Kind regards.", 0),
    ],
)
def test_each_rule_by_hand(
    name: str, options: dict[str, object], output: object, score: float, measure: Measure
) -> None:
    metric = measure(name, options, output=output)

    assert metric.score == score
    assert metric.status is (Status.PASS if score == 1 else Status.FAIL)


@pytest.mark.parametrize(
    "name", ["rule/contains_all", "rule/contains_any", "rule/contains_none", "rule/starts_with", "rule/ends_with"]
)
def test_without_phrases_there_is_nothing_to_check(name: str, measure: Measure) -> None:
    assert measure(name, output="x").outcome is Outcome.INCONCLUSIVE


def test_a_blank_phrase_is_refused(measure: Measure) -> None:
    metric = measure("rule/contains_all", output="x", custom={"phrases": [" "]})

    assert metric.outcome is Outcome.FAILED
    assert "custom.phrases" in str(metric.error)


def test_the_start_and_the_end_may_stand_in_the_reference(measure: Measure) -> None:
    assert measure("rule/starts_with", output="pier nine", reference="Pier").score == 1
    assert measure("rule/ends_with", output="pier nine", reference=["ten", "nine"]).score == 1


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("İstanbul", "istanbul", True),
        ("ISPARTA", "ısparta", True),
        ("ISPARTA", "isparta", True),
        ("DIŞ", "dış", True),
        ("sık", "sik", False),
        ("café", "CAFE\u0301", True),
        ("Straße", "STRASSE", True),
        ("don’t", "don't", True),
        ("\u200fשלום\u200e", "שלום", True),
        ("a\u00a0 b", "a b", True),
        ("東京", "東京都", False),
        ("e", "é", False),
    ],
)
def test_what_makes_no_difference(one: str, other: str, expected: bool) -> None:
    assert same(one, other, ignore_case=True) is expected


@pytest.mark.parametrize(
    ("phrase", "text", "expected"),
    [
        ("東京", "私は東京都に住む", True),
        ("ılık", "ÇOK ILIK BİR GÜN", True),
        ("🙂", "fine 🙂!", True),
        ("x", "x\u0301", False),
        ("cafe", "café", False),
        ("بالعالم", "مرحبا بالعالم!", True),
    ],
)
def test_what_is_contained(phrase: str, text: str, expected: bool) -> None:
    assert contained(phrase, text, ignore_case=True) is expected


def test_whole_words_end_where_a_letter_does_not_go_on() -> None:
    assert contained("art", "state of the art.", ignore_case=True, whole_words=True)
    assert not contained("art", "arte", ignore_case=True, whole_words=True)
    assert contained("C++", "in C++17 or C++", ignore_case=True, whole_words=True)
    assert occurrences("go", "go, ago, Go go", ignore_case=True, whole_words=True) == 3


def test_a_mark_on_the_last_letter_is_not_cut_off() -> None:
    assert not starts("x", "x\u0301y", ignore_case=True)
    assert ends("y", "x\u0301y", ignore_case=True)


def test_findings_come_to_a_score_by_themselves() -> None:
    findings = [Finding(text="a", passed=True), Finding(text="b", passed=False)]

    assert aggregate_all(findings) == 0.5
    assert aggregate_any(findings) == 1
    assert aggregate_any(findings[1:]) == 0


@given(WORDS, WORDS.filter(bool))
def test_scores_stay_in_range_and_the_order_of_phrases_does_not_count(answer: list[str], phrases: list[str]) -> None:
    point = DataPoint(output=" ".join(answer))
    score = contains_all(point, PhraseOptions(phrases=phrases)).score
    turned = contains_all(point, PhraseOptions(phrases=phrases[::-1])).score
    absent = contains_none(point, ForbiddenOptions(forbidden=phrases)).score

    assert score == turned
    assert float(score or 0) + float(absent or 0) == pytest.approx(1)


TURKISH = st.lists(st.sampled_from(["İzmir", "ısı", "şirin", "DIŞ"]), max_size=5)
ENGLISH = st.lists(st.sampled_from(["pier", "Nine", "東京", "שלום", "Straße"]), max_size=5)


@given(st.sampled_from([TURKISH, ENGLISH]).flatmap(lambda words: st.tuples(words, words, words.filter(bool))))
def test_a_part_is_contained_in_the_whole(parts: tuple[list[str], list[str], list[str]]) -> None:
    before, after, part = parts
    whole = [*before, *part, *after]

    assert contained(" ".join(part), " ".join(whole), ignore_case=True)
    assert contained(" ".join(part).casefold(), " ".join(whole), ignore_case=True)


@pytest.mark.parametrize(
    ("options", "point", "score"),
    [
        ({}, {"output": "Billing", "expect": {"label": "billing"}}, 1),
        ({"ignore_case": False}, {"output": "Billing", "expect": {"label": "billing"}}, 0),
        ({}, {"output": "billing, I think", "expect": {"label": "billing"}}, 0),
        ({}, {"output": {"label": "billing"}, "expect": {"label": "billing"}}, 1),
        ({"field": "result.intent"}, {"output": {"result": {"intent": "billing"}}, "reference": "billing"}, 1),
        ({}, {"output": ' {"label": "billing"}', "reference": "billing"}, 1),
        ({"field": "intent"}, {"output": '{"intent": "refund"}', "reference": "billing"}, 0),
        ({}, {"output": "{billing}", "reference": "{billing}"}, 1),
        ({}, {"output": 3, "reference": [2, 3]}, 1),
        ({}, {"output": False, "reference": False}, 1),
    ],
)
def test_label_match_by_hand(
    options: dict[str, object], point: dict[str, object], score: float, measure: Measure
) -> None:
    assert measure("rule/label_match", options, **point).score == score


@pytest.mark.parametrize("output", ["", " ", None, {"intent": "billing"}, {"label": None}, ["billing"]])
def test_an_answer_without_a_label_fails_and_names_what_was_expected(output: object, measure: Measure) -> None:
    metric = measure("rule/label_match", output=output, expect={"label": "billing"})

    assert (metric.score, metric.status) == (0, Status.FAIL)
    assert metric.rationale == "the answer has no label: expected 'billing'"


def test_without_an_expected_label_nothing_is_compared(measure: Measure) -> None:
    assert measure("rule/label_match", output="billing").outcome is Outcome.INCONCLUSIVE
