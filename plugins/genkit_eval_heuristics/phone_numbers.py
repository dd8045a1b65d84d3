"""Phone numbers in a text: those that the numbering plan of a country has, and that are written like one.

A number with "+" or "00" may be of any country. One without is looked for in the plans of some countries only, and has
to look like one: with the leading 0 it is dialled with, parted as that country parts it, or after a word like "phone".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Literal

from genkit_eval.errors import DataError

if TYPE_CHECKING:
    from phonenumbers import PhoneMetadata

__all__ = ["REGIONS", "check_region", "number_kind", "phone_numbers"]

REGIONS = ("US", "GB", "DE", "FR", "TR", "IN")
"""The countries whose numbers are also found as they are written at home; US stands for all of North America."""

_RUN = re.compile(
    # the first sign comes before what may not stand before it: so the search leaps from one to the next
    r"[+(\d](?<![A-Za-z0-9_#$€£¥@].)(?<!\d[.,:/].)[ (]{0,2}\d?(?:[ ().\-/]{0,3}\d){6,60}"
    r"(?![A-WYZa-wyz0-9_%]|[Xx](?!\d))(?![.,:]\d)",
    re.ASCII,
)
_GROUP = re.compile(r"[0-9]+")
_DATE = re.compile(
    r"(?<!\d)(?:(?:19|20)\d\d[-./](?:0?[1-9]|1[0-2])[-./](?:0?[1-9]|[12]\d|3[01])"
    r"|(?:0?[1-9]|[12]\d|3[01])[-./](?:0?[1-9]|[12]\d|3[01])[-./](?:19|20)\d\d)(?![\d])"
)
_DECIMAL_OR_LIST = re.compile(r"\d+\.\d+|[^/]*/[^/]*/.*", re.ASCII)
_BOOK = re.compile(r"97[89]\b")
_WORD = re.compile(r"[^\W\d_]+")
_PHONE_WORDS = frozenset(
    _WORD.findall(
        "tel tél telefon telephone téléphone teléfono telefono telefoon telefonnummer phone phones iphone smartphone "
        "call calls called calling mobile mobil mobilnummer cell cellphone cellular handy handynummer rufnummer fax "
        "whatsapp viber gsm cep dial ring sms text hotline portable 电话 電話 手机 전화 телефон טלפון هاتف"
    )
)
_OTHER_WORDS = frozenset(
    _WORD.findall(
        "order orders invoice ticket case ref reference sku isbn issn ean upc part serial model article account acct "
        "id zoom no nr kundennummer bestellnummer"
    )
)
_BEFORE, _WORDS_BEFORE = 30, 4
_LEAST, _MOST, _MOST_AT_HOME = 7, 15, 12
_LEAST_WITHOUT_TRUNK = 10
_BESIDE = 4
"""How many digits that are none of its own may stand before a number: a year, a room. More are another number."""


def phone_numbers(text: str, regions: Sequence[str] = REGIONS) -> Iterator[tuple[int, int]]:
    """The spans of phone numbers in a text of ASCII digits and separators."""
    place = 0
    while (run := _RUN.search(text, place)) is not None:
        place = run.end()
        for start, end in _between_dates(text, run.start(), run.end()):
            found = _first_in_run(text, start, end, regions)
            if found is not None:
                yield found
                # the rest of a run may be cut within the next number: it is looked for anew
                place = found[1]
                break


def _between_dates(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """What of a run can be phone numbers: no dates, decimals, lists or numbers of books."""
    for date in _DATE.finditer(text, start, end):
        if date.start() > start:
            yield start, date.start()
        start = date.end()
    if not (_DECIMAL_OR_LIST.fullmatch(text, start, end) or _BOOK.match(text, start, end)):
        yield start, end


def check_region(region: str) -> None:
    """Refuse what is no country.

    Raises:
        DataError: there is no numbering plan of it.
    """
    _plan_of(region)


def _first_in_run(text: str, start: int, stop: int, regions: Sequence[str]) -> tuple[int, int] | None:
    """The first number in a run of digits and separators: what stands beside it is parted from it by a blank."""
    groups = [group.span() for group in _GROUP.finditer(text, start, stop)]
    skipped = 0
    for first, (begin, end) in enumerate(groups):
        if skipped > _BESIDE:
            break
        skipped += end - begin
        if first and not _apart(text, groups[first - 1], groups[first]):
            continue
        known_by = _known_by(text, begin)
        last = _last_group(text, groups, first, known_by, regions)
        if last is not None:
            return _with_sign(text, begin, groups[last][1], start), groups[last][1]
        if known_by == "plus":
            # of no country; its end is not a number of another
            break
    return None


def _known_by(text: str, start: int) -> Literal["plus", "word", "looks", "nothing"]:
    """What stands before digits and says what they are."""
    sign = start - 1
    while sign >= 0 and text[sign] in " (":
        sign -= 1
    if sign >= 0 and text[sign] == "+":
        return "plus"
    before = text[max(0, start - _BEFORE) : start].lower()
    words = _WORD.findall(before[_after_digits(before) :])[-_WORDS_BEFORE:]
    if not _PHONE_WORDS.isdisjoint(words):
        return "word"
    return "nothing" if words and words[-1] in _OTHER_WORDS else "looks"


def _after_digits(text: str) -> int:
    """Where the last part of a text without digits and line breaks begins."""
    for place in range(len(text), 0, -1):
        if text[place - 1].isdigit() or text[place - 1] == "\n":
            return place
    return 0


def _last_group(
    text: str, groups: Sequence[tuple[int, int]], first: int, known_by: str, regions: Sequence[str]
) -> int | None:
    """The last group of the longest number that starts with this group, or None."""
    for last in range(min(len(groups), first + 8) - 1, first - 1, -1):
        if last + 1 < len(groups) and not _apart(text, groups[last], groups[last + 1]):
            continue
        parts = [text[start:end] for start, end in groups[first : last + 1]]
        size = sum(map(len, parts))
        if size < _LEAST:
            break
        if size <= _MOST and _is_number(parts, known_by, regions):
            return last
    return None


def _apart(text: str, before: tuple[int, int], after: tuple[int, int]) -> bool:
    between = text[before[1] : after[0]]
    return " " in between or "/" in between


def _with_sign(text: str, start: int, end: int, least: int) -> int:
    """Where a number starts with its plus, and with its bracket if that ends inside it."""
    first, signs = start, "+(" if ")" in text[start:end] else "+"
    while first > least and text[first - 1] in "+( ":
        first -= 1
        if text[first] in signs:
            start = first
    return start


def _is_number(parts: Sequence[str], known_by: str, regions: Sequence[str]) -> bool:
    digits = "".join(parts)
    if known_by == "plus":
        return _is_international(digits)
    if digits.startswith("00"):
        return _is_international(digits[2:])
    if len(digits) > _MOST_AT_HOME or known_by == "nothing" or (known_by == "looks" and not _looks_like_one(parts)):
        return False
    return any(_is_national(digits, parts, region, named=known_by == "word") for region in regions)


def _looks_like_one(parts: Sequence[str]) -> bool:
    """Whether digits with nothing else about them can be a number: it starts with 0, or has groups of some length."""
    if parts[0].startswith("0"):
        return True
    groups = parts[1:] if parts[0] == "1" else parts
    return len(groups) > 1 and min(map(len, groups)) > 1


@lru_cache(maxsize=4096)
def _is_international(digits: str) -> bool:
    # 20 ms, which a run without this evaluator need not pay
    from phonenumbers import NumberParseException, is_valid_number, parse

    try:
        return is_valid_number(parse(f"+{digits}"))
    except NumberParseException:
        return False


def _is_national(digits: str, parts: Sequence[str], region: str, *, named: bool) -> bool:
    """Whether a country has this number, and it is written like one."""
    plan = _plan_of(region)
    own = digits.removeprefix(plan.trunk)
    kind = plan.kind(own, lacks_trunk=plan.trunk == "0" and len(own) == len(digits))
    if kind is None:
        return False
    if named:
        return True
    if digits.startswith("0"):
        return len(parts) > 1 or kind == _MOBILE
    return [len(part) for part in parts if part != plan.trunk] in _partings(plan.country_code, own, kind)


@lru_cache(maxsize=4096)
def _partings(country_code: int, own: str, kind: str) -> Sequence[Sequence[int]]:
    """How many digits the groups of the number have at home."""
    from phonenumbers import PhoneNumber, PhoneNumberFormat, format_number

    number = PhoneNumber(
        country_code=country_code, national_number=int(own), italian_leading_zero=own.startswith("0") or None
    )
    groups = [len(group) for group in _GROUP.findall(format_number(number, PhoneNumberFormat.NATIONAL))]
    # the 0 of a mobile number is often left out where its length alone shows what it is
    return [groups, [groups[0] - 1, *groups[1:]]] if kind == _MOBILE else [groups]


# --- numbering plans ---

_MOBILE = "mobile"
_KINDS = (
    "premium_rate",
    "toll_free",
    "shared_cost",
    "voip",
    "personal_number",
    "pager",
    "uan",
    "voicemail",
    "fixed_line",
    _MOBILE,
)
"""As the library tries them: the first that has a number counts."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """What of a country's numbering plan tells quickly that digits are none of its numbers."""

    country_code: int
    trunk: str
    lengths: frozenset[int]
    pattern: re.Pattern[str]

    def kind(self, own: str, *, lacks_trunk: bool) -> str | None:
        """What these digits are at home, or None; without the leading 0 of its plan only a mobile's number."""
        if lacks_trunk and len(own) < _LEAST_WITHOUT_TRUNK:
            return None
        if len(own) not in self.lengths or self.pattern.fullmatch(own) is None:
            return None
        kind = number_kind(self.country_code, own)
        return None if lacks_trunk and kind != _MOBILE else kind


@cache
def _plan_of(region: str) -> _Plan:
    from phonenumbers import PhoneMetadata

    plan = PhoneMetadata.metadata_for_region(region)
    general = None if plan is None else plan.general_desc
    if plan is None or general is None:
        raise DataError(f"'{region}' is no country with phone numbers: expected a code of two letters, like 'DE'")
    pattern = re.compile(general.national_number_pattern or "")
    return _Plan(plan.country_code or 0, plan.national_prefix or "", frozenset(general.possible_length), pattern)


@lru_cache(maxsize=4096)
def number_kind(country_code: int, own: str) -> str | None:
    """What a number without its country code is, like "mobile"; None if there is no such number.

    It is what the library says of it (`is_valid_number`, `number_type`), in a tenth of the time.
    """
    areas = _areas_of(country_code)
    if len(areas) == 1:
        return areas[0].kind(own)
    for area in areas:
        if area.leading is None:
            kind = area.kind(own)
            if kind is not None:
                return kind
        elif area.leading.match(own):
            return area.kind(own)
    return None


@dataclass(frozen=True, slots=True)
class _Area:
    """One of the countries that have a country code together."""

    leading: re.Pattern[str] | None
    general: re.Pattern[str]
    kinds: Sequence[tuple[str, frozenset[int], re.Pattern[str]]]
    """With the lengths that its numbers have, where those are not as of all."""

    def kind(self, own: str) -> str | None:
        if self.general.fullmatch(own) is None:
            return None
        size = len(own)
        for kind, lengths, pattern in self.kinds:
            if (not lengths or size in lengths) and pattern.fullmatch(own) is not None:
                return kind
        return None


@cache
def _areas_of(country_code: int) -> Sequence[_Area]:
    from phonenumbers import COUNTRY_CODE_TO_REGION_CODE, PhoneMetadata

    plans = [PhoneMetadata.metadata_for_region(region) for region in COUNTRY_CODE_TO_REGION_CODE[country_code]]
    return [_area(plan) for plan in plans if plan is not None]


def _area(plan: PhoneMetadata) -> _Area:
    kinds = []
    for kind in _KINDS[:-1] if plan.same_mobile_and_fixed_line_pattern else _KINDS:
        numbers = getattr(plan, kind)
        if numbers is not None and numbers.national_number_pattern:
            pattern = re.compile(numbers.national_number_pattern)
            kinds.append((kind, frozenset(numbers.possible_length), pattern))
    general = None if plan.general_desc is None else plan.general_desc.national_number_pattern
    leading = None if plan.leading_digits is None else re.compile(plan.leading_digits)
    return _Area(leading, re.compile(general or "(?!)"), kinds)
