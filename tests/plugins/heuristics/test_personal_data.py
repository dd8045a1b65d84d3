"""Personal data in texts: what is found, where, and what is none."""

from __future__ import annotations

import sys
from itertools import pairwise

import phonenumbers
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from genkit_eval import ConfigError, GenkitEval, run_sync
from genkit_eval.testing import data_point
from genkit_eval_heuristics import heuristics
from genkit_eval_heuristics.personal_data import CATEGORIES, Found, personal_data
from genkit_eval_heuristics.phone_numbers import number_kind
from tests.plugins.heuristics.personal_lines import Line, labelled_lines

TEXTS = st.lists(
    st.sampled_from(
        ["a@b.example", "+1 202-555-0143", "(202) 555-0143", "4111 1111 1111 1111", "GB82 WEST 1234 5698 7654 32"]
    )
    | st.sampled_from(
        ["10000000146", "10.1.2.3", "2001:db8::1", "12", "2024-01-15", "9", "::", "word", "ödeme", "東京"]
    )
    | st.sampled_from(".,-/ +()@:\0\n😀"),
    max_size=12,
).map("".join)


def _values(text: str, **options: object) -> list[tuple[str, str]]:
    return [(found.category, text[found.start : found.end]) for found in personal_data(text, **options)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Write to desk@station.example.", "desk@station.example"),
        ("用户邮箱是wang@example.cn，请查收", "wang@example.cn"),
        ("メールはtanaka@example.jpまで", "tanaka@example.jp"),
        ("'tom@example.com'", "tom@example.com"),
        ("ünal@örnek.example", "ünal@örnek.example"),
        ("a@sub.例子.中国", "a@sub.例子.中国"),
    ],
)
def test_an_email_address_is_found_whole(text: str, value: str) -> None:
    assert _values(text) == [("EMAIL", value)]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("see icon@2x.png", marks=pytest.mark.case("heuristic-pii/email-lookalikes")),
        pytest.param("thanks @handle", marks=pytest.mark.case("heuristic-pii/email-lookalikes")),
        pytest.param("ratio a@b", marks=pytest.mark.case("heuristic-pii/email-lookalikes")),
        pytest.param("user@localhost", marks=pytest.mark.case("heuristic-pii/email-lookalikes")),
        "lodash@4.17.21",
        "postgres://app:secret@db.example.com/x",
        "git@github.com:acme/tools.git",
        "@alice@social.example",
        "a..b@example.com x.@example.com",
        "@example.com",
        "A@B.T",
    ],
)
def test_what_only_has_an_at_sign_is_no_email_address(text: str) -> None:
    assert _values(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "+1-202-555-0143",
        "Call (202) 555-0143",
        "+44 20 7946 0958",
        "0532 123 45 67",
        "532 123 45 67",
        "05321234567",
        "98765 43210",
        "01 23 45 67 89",
        "06.12.34.56.78",
        "030/901820",
        "0049 30 901820",
        "+49 (0)30 901820",
        "phone: 2025550143",
        "text me: 212 555 0187",
        "1-800-555-0123",
        "٠٥٣٢ ١٢٣ ٤٥ ٦٧",
        "+٩٠ ٥٣٢ ١٢٣ ٤٥ ٦٧",
        "in 2024 (202) 555-0143",
        "415-555-2671x123",
    ],
)
def test_a_phone_number_is_one_of_its_countrys_plan(text: str) -> None:
    assert [category for category, _ in _values(text)] == ["PHONE"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("2024-01-15 12:30", marks=pytest.mark.case("heuristic-pii/phone-false-positives")),
        pytest.param("season 2024-2025", marks=pytest.mark.case("heuristic-pii/phone-false-positives")),
        pytest.param("ISBN 978-3-16-148410-0", marks=pytest.mark.case("heuristic-pii/phone-false-positives")),
        pytest.param("pi is 3.14159265358979", marks=pytest.mark.case("heuristic-pii/phone-false-positives")),
        "+1 (555) 010-9999",
        "order 2025550143",
        "part no. 212-555-0187",
        "ID: 2125550187",
        "15/01/2024 10:00",
        "03.04.2025",
        "1,234,567.89",
        "83 149 300 in 2019",
        "1705312200",
        "987 6543 2100",
        "0.00012345678",
        "x2025550143",
        "2125550187abc",
        "0.5321234567",
        "978 0 306 40615 7",
        "01/02/03/04/05",
    ],
)
def test_other_digits_are_no_phone_number(text: str) -> None:
    assert _values(text) == []


def test_numbers_at_home_are_those_of_the_countries_that_are_asked_for() -> None:
    text = "612 34 56 78"

    assert _values(text) == []
    assert _values(text, regions=["ES"]) == [("PHONE", text)]


def test_numbers_side_by_side_are_two() -> None:
    assert _values("0532 123 45 67 0212 345 67 89") == [("PHONE", "0532 123 45 67"), ("PHONE", "0212 345 67 89")]


def test_a_date_beside_a_number_does_not_hide_it() -> None:
    assert _values("2024-01-15 0532 123 45 67, 01.02.2024") == [("PHONE", "0532 123 45 67")]


def test_many_numbers_in_a_row_are_all_found() -> None:
    numbers = ["0532 123 45 67", "0212 345 67 89"] * 20

    assert [value for _, value in _values(" ".join(numbers))] == numbers


@pytest.mark.parametrize("text", ["1 " * 50_000 + "x", "a." * 50_000 + "@", "@a." * 30_000, ":" * 100_000])
def test_a_long_text_without_any_is_read_to_its_end(text: str) -> None:
    assert _values(text + " a@b.example")[-1] == ("EMAIL", "a@b.example")


@given(st.integers(1, 10**14))
@example(442079460958)
@example(12025550143)
def test_a_number_with_a_plus_is_found_if_phonenumbers_knows_it(digits: int) -> None:
    text = f"+{digits}"
    try:
        valid = phonenumbers.is_valid_number(phonenumbers.parse(text))
    except phonenumbers.NumberParseException:
        valid = False

    assert (len(personal_data(text)) == 1) is valid


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4111 1111 1111 1111 123", "4111 1111 1111 1111"),
        ("card 4111-1111-1111-1111, 04/27", "4111-1111-1111-1111"),
        ("4111 1111 1111 1111 04/27", "4111 1111 1111 1111"),
        ("３７８２ ８２２４６３ １０００５", "３７８２ ８２２４６３ １０００５"),
        ("カード番号は4743957551313732です", "4743957551313732"),
    ],
)
def test_a_card_is_found_without_what_stands_around_it(text: str, value: str) -> None:
    assert _values(text) == [("CREDIT_CARD", value)]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("GB82 WEST 1234 5698 7654 32 is mine", ["GB82 WEST 1234 5698 7654 32"]),
        ("DK50 0040 0440 1162 43 og FI21 1234 5600 0007 85", ["DK50 0040 0440 1162 43", "FI21 1234 5600 0007 85"]),
        ("GB82WEST12345698765432X", []),
        ("IDGB82WEST12345698765432", []),
    ],
)
def test_an_iban_ends_where_its_country_says(text: str, values: list[str]) -> None:
    assert _values(text) == [("IBAN", value) for value in values]


@pytest.mark.parametrize(
    "text",
    [
        "10.4.2.1",
        "http://192.0.2.10/index.html",
        "ssh admin@198.51.100.7",
        "10.0.0.1:8080",
        "10.0.0.0/8",
        "It is 192.168.0.1.",
        "2001:db8:85a3::8a2e:370:7334",
        "http://[2001:db8::1]:8080/",
        "fe80::1ff:fe23:4567:890a%eth0",
        "::ffff:192.0.2.128",
    ],
)
def test_an_address_is_found(text: str) -> None:
    assert [category for category, _ in _values(text)] == ["IP_ADDRESS"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Upgrade to v1.2.3.4 today", marks=pytest.mark.case("heuristic-pii/version-number-not-ip")),
        pytest.param("Release 2.0.0.1 fixes it", marks=pytest.mark.case("heuristic-pii/version-number-not-ip")),
        pytest.param("schema version 10.4.2.1", marks=pytest.mark.case("heuristic-pii/version-number-not-ip")),
        *(
            pytest.param(text, marks=pytest.mark.case("heuristic-pii/invalid-octets"))
            for text in ("999.1.1.1", "256.1.1.1", "1.2.3", "12:34:56")
        ),
        "Release 2.0.0.1 fixes what 2.0.0.0 broke",
        "thing==1.2.3.4",
        "docker run nginx:1.25.3.1",
        "app-1.2.3.4.tar.gz",
        "/pub/1.2.3.4/notes",
        "1.3.6.1.4.1.311",
        "Section 3.2.1.4",
        "netmask 255.255.255.0",
        "1.000.000.000",
        "std::vector a::b dead::beef x[::2] [1::3]",
        "00:1A:2B:3C:4D:5E",
        "00:11:22:33:44:55:66:77",
        "10:20:30:40",
    ],
)
def test_versions_sections_times_and_code_are_no_addresses(text: str) -> None:
    assert _values(text) == []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("01234567890", marks=pytest.mark.case("heuristic-pii/tckn-leading-zero")),
        pytest.param("id110000000146", marks=pytest.mark.case("heuristic-pii/tckn-leading-zero")),
        pytest.param("100000001460", marks=pytest.mark.case("heuristic-pii/tckn-leading-zero")),
        "10000000146.5",
        "-1.10000000146",
    ],
)
def test_an_identity_number_stands_alone(text: str) -> None:
    assert _values(text) == []


def test_identity_numbers_of_a_list_are_found_each() -> None:
    assert _values("10000000146,62601815964") == [("TCKN", "10000000146"), ("TCKN", "62601815964")]


def test_a_category_that_is_not_asked_for_still_keeps_its_digits() -> None:
    assert _values("TR33 0006 1005 1978 6457 8413 26", categories={"PHONE", "CREDIT_CARD"}) == []


@given(TEXTS)
def test_what_is_found_lies_in_the_text_and_nothing_twice(text: str) -> None:
    found = personal_data(text)

    assert all(0 <= item.start < item.end <= len(text) for item in found)
    assert all(item.category in CATEGORIES for item in found)
    assert all(one.end <= other.start for one, other in pairwise(found))


@given(TEXTS, st.sampled_from(CATEGORIES))
def test_asking_for_one_category_finds_what_asking_for_all_finds_of_it(text: str, category: str) -> None:
    assert personal_data(text, categories={category}) == [
        found for found in personal_data(text) if found.category == category
    ]


@given(st.text(max_size=60))
def test_any_text_can_be_read(text: str) -> None:
    assert isinstance(personal_data(text), list)


def _counts(lines: list[Line]) -> tuple[int, int, int]:
    """Labels that were found, what was found that is none, labels that were not found."""
    right, wrong, labels = 0, 0, 0
    for line in lines:
        left = list(line.labels)
        labels += len(left)
        for item in personal_data(line.text):
            hits = [label for label in left if _meets(item, label.category, label.start, label.end)]
            if hits:
                left.remove(hits[0])
                right += 1
            else:
                wrong += 1
    return right, wrong, labels - right


def _meets(item: Found, category: str, start: int, end: int) -> bool:
    return item.category == category and item.start < end and start < item.end


@pytest.mark.parametrize("held_out", [False, True], ids=["tuned on", "held out"])
def test_precision_and_recall_on_the_labelled_lines(held_out: bool, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [line for line in labelled_lines() if line.held_out is held_out]

    right, wrong, missed = _counts(lines)

    precision, recall = right / (right + wrong), right / (right + missed)
    with capsys.disabled():
        name = "held out" if held_out else "tuned on"
        print(f"\npersonal data, {len(lines)} lines {name}: precision {precision:.3f}, recall {recall:.3f}")
    assert precision >= 0.95
    assert recall >= 0.95


def test_without_the_numbering_plans_phones_are_refused_before_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    # as if the extra were not installed
    monkeypatch.setitem(sys.modules, "phonenumbers", None)
    ge = GenkitEval(plugins=[heuristics()])
    point = data_point(output="Write to ann@example.org")

    with pytest.raises(ConfigError, match=r"genkit-eval\[pii\].*categories="):
        run_sync(ge.score(point, "heuristic/pii_leakage"))
    (metric,) = run_sync(ge.score(point, ge.ref("heuristic/pii_leakage", categories=["EMAIL", "IBAN"])))

    assert metric.score == 0.5


_TYPES = phonenumbers.PhoneNumberType
_KINDS = {_TYPES.to_string(code).lower(): code for code in _TYPES.values()}


@given(
    st.sampled_from([1, 7, 33, 39, 44, 47, 49, 61, 90, 91, 262, 599]),
    st.sampled_from(["", "2125", "30", "15", "532", "98765", "7400", "612"]),
    st.from_regex(r"[1-9][0-9]{5,8}", fullmatch=True),
)
def test_a_number_is_of_the_kind_that_the_library_says(country_code: int, first: str, rest: str) -> None:
    number = phonenumbers.PhoneNumber(country_code=country_code, national_number=int(first + rest))
    known = phonenumbers.number_type(number)

    kind = number_kind(country_code, first + rest)

    assert (kind is not None) is phonenumbers.is_valid_number(number)
    assert _KINDS[kind or "unknown"] == (_TYPES.FIXED_LINE if known == _TYPES.FIXED_LINE_OR_MOBILE else known)


@pytest.mark.parametrize(
    ("text", "found"),
    [("192.0.2.1\n", 20_000), ("desk@station.example ", 10_000), ("Version: 10.2.0.1\n", 0), ("(555) 123-4567, ", 0)],
)
def test_a_long_text_of_nothing_else_is_gone_through_to_its_end(text: str, found: int) -> None:
    assert len(personal_data(text * max(found, 5_000))) == found
