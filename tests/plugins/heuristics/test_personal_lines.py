"""The labels of the lines are right by libraries that know these numbers."""

from __future__ import annotations

import ipaddress
import unicodedata

import phonenumbers
import pytest
from stdnum import iban, luhn
from stdnum.tr import tckimlik

from tests.plugins.heuristics.personal_lines import Line, labelled_lines

REGIONS = ("US", "GB", "DE", "FR", "TR", "IN")


def _values(category: str) -> list[str]:
    found = [
        line.text[label.start : label.end]
        for line in labelled_lines()
        for label in line.labels
        if label.category == category
    ]
    return [unicodedata.normalize("NFKC", value) for value in found]


def _is_phone(value: str) -> bool:
    if value.startswith("00"):
        value = f"+{value[2:]}"
    numbers = [phonenumbers.parse(value, region) for region in REGIONS]
    return any(phonenumbers.is_valid_number(number) for number in numbers)


def test_there_are_more_than_three_hundred_lines_with_every_category() -> None:
    lines = labelled_lines()

    assert len(lines) >= 300
    assert sum(1 for line in lines if not line.labels) >= 100
    assert {label.category for line in lines for label in line.labels} == {
        "EMAIL",
        "PHONE",
        "CREDIT_CARD",
        "TCKN",
        "IBAN",
        "IP_ADDRESS",
    }


@pytest.mark.parametrize("held_out", [False, True])
def test_both_parts_have_lines_with_and_without_personal_data(held_out: bool) -> None:
    part: list[Line] = [line for line in labelled_lines() if line.held_out is held_out]

    assert len(part) >= 100
    assert 0.3 < sum(1 for line in part if line.labels) / len(part) < 0.7


@pytest.mark.parametrize("value", _values("CREDIT_CARD"))
def test_cards_have_their_check_digit(value: str) -> None:
    assert luhn.is_valid(value.replace(" ", "").replace("-", ""))


@pytest.mark.parametrize("value", _values("IBAN"))
def test_ibans_have_their_check_digits(value: str) -> None:
    assert iban.is_valid(value)


@pytest.mark.parametrize("value", _values("TCKN"))
def test_identity_numbers_have_their_check_digits(value: str) -> None:
    assert tckimlik.is_valid(value)


@pytest.mark.parametrize("value", _values("IP_ADDRESS"))
def test_addresses_are_addresses(value: str) -> None:
    assert ipaddress.ip_address(value)


@pytest.mark.parametrize("value", _values("PHONE"))
def test_phone_numbers_are_numbers_of_a_country(value: str) -> None:
    assert _is_phone(value)
