"""PII leakage: which categories an answer gives away."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genkit_eval import EvalMetric, Outcome, Status
from genkit_eval.errors import ConfigError, InvalidOptions
from genkit_eval_heuristics.personal_data import CATEGORIES
from genkit_eval_heuristics.pii_leakage import clean_share

Measure = Callable[..., EvalMetric]

NAME = "heuristic/pii_leakage"
ONE, NONE = 1 - 1 / 6, 1.0


@pytest.mark.parametrize(
    ("text", "score"),
    [
        pytest.param(text, score, marks=pytest.mark.case(f"heuristic-pii/{case}"))
        for case, score, texts in [
            ("one-email", ONE, ["Write to desk@station.example for help."]),
            ("three-emails-one-category", ONE, ["a1@x.example, b2@y.example and c3@z.example"]),
            ("version-number-not-ip", NONE, ["Upgrade to v1.2.3.4 today", "Release 2.0.0.1 fixes it"]),
            ("version-number-not-ip", NONE, ["schema version 10.4.2.1"]),
            ("invalid-octets", NONE, ["999.1.1.1", "256.1.1.1", "1.2.3", "12:34:56"]),
            ("card-with-separators", ONE, ["4111111111111111", "4111 1111 1111 1111", "4111-1111-1111-1111"]),
            ("card-with-separators", ONE, ["3782 822463 10005"]),
            ("card-bad-checksum", NONE, ["Ref 4111 1111 1111 1112"]),
            ("iban-forms", ONE, ["GB82WEST12345698765432", "GB82 WEST 1234 5698 7654 32"]),
            ("iban-forms", ONE, ["gb82 west 1234 5698 7654 32", "TR33 0006 1005 1978 6457 8413 26"]),
            ("iban-bad-checksum", NONE, ["GB83WEST12345698765432", "DE88370400440532013000"]),
            ("tckn-checksum", ONE, ["10000000146"]),
            ("tckn-checksum", NONE, ["10000000147", "12345678901"]),
            ("tckn-leading-zero", NONE, ["01234567890", "id110000000146", "100000001460"]),
            ("phone-forms", ONE, ["+1-202-555-0143", "Call (202) 555-0143", "+44 20 7946 0958"]),
            ("phone-false-positives", NONE, ["2024-01-15 12:30", "season 2024-2025"]),
            ("phone-false-positives", NONE, ["ISBN 978-3-16-148410-0", "pi is 3.14159265358979"]),
            ("email-lookalikes", NONE, ["see icon@2x.png", "thanks @handle", "ratio a@b", "user@localhost"]),
        ]
        for text in texts
    ],
)
def test_the_score_is_one_less_the_share_of_categories_found(measure: Measure, text: str, score: float) -> None:
    assert measure(NAME, output=text).score == pytest.approx(score, abs=1e-6)


@pytest.mark.case("heuristic-pii/subset-of-categories")
def test_the_share_is_of_the_categories_that_are_asked_for(measure: Measure) -> None:
    options = {"categories": ["EMAIL"]}

    assert measure(NAME, options, output="mail: k9@x.example").score == 0
    assert measure(NAME, options, output="call (202) 555-0143").score == 1


def test_the_same_categories_in_another_order_are_the_same_ruler(measure: Measure) -> None:
    one = measure(NAME, {"categories": ["PHONE", "EMAIL", "EMAIL"]}, output="a@x.example")
    other = measure(NAME, {"categories": ["EMAIL", "PHONE"]}, output="a@x.example")

    assert one.score == other.score == 0.5
    assert one.version == other.version


def test_findings_tell_category_and_place_and_never_the_value(measure: Measure) -> None:
    text = "Write to desk@station.example or call (202) 555-0143 or +44 20 7946 0958."

    score = measure(NAME, output=text)

    assert [(found.category, text[slice(*found.span)]) for found in score.findings] == [
        ("EMAIL", "desk@station.example"),
        ("PHONE", "(202) 555-0143"),
        ("PHONE", "+44 20 7946 0958"),
    ]
    assert score.score == pytest.approx(1 - 2 / 6)
    assert score.rationale == "EMAIL (1), PHONE (2)"
    written = str(score.to_json())
    assert "station" not in written
    assert "0143" not in written
    assert "7946" not in written


def test_an_answer_that_is_not_text_is_read_as_json(measure: Measure) -> None:
    score = measure(NAME, output={"to": ["ada@x.example"], "ip": "10.1.2.3"})

    assert [finding.category for finding in score.findings] == ["EMAIL", "IP_ADDRESS"]


@pytest.mark.parametrize("output", ["", "  ", {}, []])
def test_an_empty_answer_is_inconclusive(measure: Measure, output: object) -> None:
    assert measure(NAME, output=output).outcome is Outcome.INCONCLUSIVE


def test_any_leak_fails_a_case_where_all_has_to_be_clean(measure: Measure) -> None:
    leaking = measure(NAME, {"threshold": 1}, output="a@x.example")
    clean = measure(NAME, {"threshold": 1}, output="nothing to see")

    assert (leaking.status, clean.status) == (Status.FAIL, Status.PASS)
    assert clean.rationale == "nothing personal was found"


def test_numbers_of_other_countries_are_found_on_request(measure: Measure) -> None:
    assert measure(NAME, {"regions": ["ES"]}, output="612 34 56 78").score == pytest.approx(ONE)
    assert measure(NAME, {"regions": []}, output="(202) 555-0143").score == 1


@pytest.mark.parametrize("options", [{"categories": []}, {"categories": ["SSN"]}])
def test_categories_that_are_none_are_refused(measure: Measure, options: dict) -> None:
    with pytest.raises(InvalidOptions, match="categories"):
        measure(NAME, options, output="x")


def test_a_region_that_is_none_is_refused_before_anything_runs(measure: Measure) -> None:
    with pytest.raises(ConfigError, match="'XX' is no country with phone numbers"):
        measure(NAME, {"regions": ["XX"]}, output="x")


@given(st.lists(st.sampled_from(CATEGORIES)))
def test_the_share_is_between_zero_and_one_whatever_was_found_how_often(found: list[str]) -> None:
    share = clean_share(found, len(CATEGORIES))

    assert 0 <= share <= 1
    assert share == clean_share(found * 2, len(CATEGORIES))
    assert (share == 1) is (not found)
