"""Check digits, against python-stdnum."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stdnum import iban, luhn
from stdnum.tr import tckimlik

from genkit_eval_heuristics.check_digits import IBAN_LENGTHS, is_card, is_iban, is_luhn, is_tckn

DIGITS = st.text("0123456789", max_size=20)
IBANS = (
    "AE070331234567890123456 AT611904300234573201 BR1800360305000010009795493C1 CH9300762011623852957 "
    "CZ6508000000192000145399 DE89370400440532013000 DK5000400440116243 ES9121000418450200051332 FI2112345600000785 "
    "FR1420041010050500013M02606 GB82WEST12345698765432 GR1601101250000000012300695 HU42117730161111101800000000 "
    "IE29AIBK93115212345678 IT60X0542811101000000123456 KZ86125KZT5004100100 LU280019400644750000 "
    "LV80BANK0000435195001 MT84MALT011000012345MTLCAST001S NL91ABNA0417164300 NO9386011117947 "
    "PL61109010140000071219812874 PT50000201231234567890154 QA58DOHB00001234567890ABCDEFG RO49AAAA1B31007593840000 "
    "SA0380000000608010167519 SE4550000000058398257466 TR330006100519786457841326 UA213223130000026007233566001"
)


@given(DIGITS)
def test_luhn_agrees(digits: str) -> None:
    assert is_luhn(digits) == luhn.is_valid(digits)


@given(st.text("0123456789", min_size=9, max_size=12), st.booleans())
def test_identity_numbers_agree(digits: str, checked: bool) -> None:
    if checked and len(digits) == 9:
        digits += tckimlik.calc_check_digits(digits)

    assert is_tckn(digits) == tckimlik.is_valid(digits)


@pytest.mark.parametrize("number", IBANS.split(" "))
def test_examples_of_many_countries_are_ibans_and_one_other_digit_makes_them_none(number: str) -> None:
    other = number[:-1] + ("7" if number[-1] != "7" else "8")

    assert is_iban(number)
    assert is_iban(number.lower())
    assert iban.is_valid(number)
    assert not is_iban(other)
    assert not is_iban(number + "0")


@given(st.sampled_from(sorted(IBAN_LENGTHS)), st.data())
def test_an_iban_needs_the_length_of_its_country(country: str, data: st.DataObject) -> None:
    rest = data.draw(st.text("0123456789", min_size=10, max_size=30))
    number = country + iban.calc_check_digits(f"{country}00{rest}") + rest

    assert is_iban(number) == (len(number) == IBAN_LENGTHS[country])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "GB",
        "GB٨٢WEST12345698765432",
        "GB82WEST1234569876543²",
        "GBXXWEST12345698765432",
        "XX82WEST12345698765432",
        "GB83WEST12345698765432",
    ],
)
def test_what_only_looks_like_an_iban_is_none(text: str) -> None:
    assert not is_iban(text)


@pytest.mark.parametrize(
    ("digits", "card"),
    [
        ("4111111111111111", True),
        ("5555555555554444", True),
        ("2221361341252422", True),
        ("378282246310005", True),
        ("36440242646285", True),
        ("6011401419314178", True),
        ("3528402344834788", True),
        ("6212245040008833", True),
        ("2202326502014625", True),
        ("9792016849340723", True),
        ("6759247045585301", True),
        ("4111111111111112", False),
        # check digit right, but no issuer has it: a telephone's own number, an article, nothing at all
        ("490154203237518", False),
        ("4006381333931", False),
        ("0000000000000000", False),
        ("1234567812345670", False),
    ],
)
def test_a_card_has_an_issuer_and_a_check_digit(digits: str, card: bool) -> None:
    assert is_card(digits) is card
