"""Personal data in a text: where it is and of which category, by check digits and plans rather than by looks."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from ipaddress import AddressValueError, IPv6Address
from typing import Literal, get_args

from genkit_eval_heuristics.check_digits import IBAN_LENGTHS, is_card, is_iban, is_tckn
from genkit_eval_heuristics.phone_numbers import REGIONS, phone_numbers

__all__ = ["CATEGORIES", "Category", "Found", "personal_data"]

Category = Literal["EMAIL", "PHONE", "CREDIT_CARD", "TCKN", "IBAN", "IP_ADDRESS"]
CATEGORIES: tuple[Category, ...] = get_args(Category)


@dataclass(frozen=True, slots=True)
class Found:
    """Where something personal stands in a text: [start, end) in characters."""

    category: Category
    start: int
    end: int


def personal_data(
    text: str, *, categories: Collection[Category] = CATEGORIES, regions: Sequence[str] = REGIONS
) -> list[Found]:
    """What is personal in a text, in its order; nothing is found twice.

    Args:
        text: any; digits and separators of all scripts are read.
        categories: the ones to look for.
        regions: the countries whose phone numbers are found without "+" too.
    """
    if not _WORTH_A_LOOK.search(text):
        return []
    plain = text if text.isascii() else text.translate(_to_ascii())
    found: list[Found] = []
    skipped = set() if _MANY_DIGITS.search(plain) else _LONG_NUMBERS
    for category, find in _FINDERS.items():
        if category in skipped or (category == "PHONE" and category not in categories):
            continue
        spans = list(phone_numbers(plain, regions) if category == "PHONE" else find(plain))
        plain = _without(plain, spans)
        if category in categories:
            found += [Found(category, start, end) for start, end in spans]
    return sorted(found, key=lambda item: item.start)


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The text with these places hidden: what is one thing is no other, though an IBAN holds digits of a card."""
    if not spans:
        return text
    parts: list[str] = []
    place = 0
    for start, end in sorted(spans):
        parts += text[place:start], "\0" * (end - start)
        place = end
    return "".join([*parts, text[place:]])


_LONG_NUMBERS = frozenset({"CREDIT_CARD", "TCKN", "PHONE"})
_WORTH_A_LOOK = re.compile(r"[@\d]|::")
_MANY_DIGITS = re.compile(r"[0-9](?:[^A-Za-z0-9,;:]{0,4}[0-9]){6}")
"""What a card, an identity number and a phone number have: seven digits with little between them."""


@cache
def _to_ascii() -> dict[int, str]:
    """Digits, blanks, dashes and signs of all scripts, each as one ASCII character, so that places stay the same."""
    table = {ord("＋"): "+", ord("（"): "(", ord("）"): ")", ord("．"): ".", ord("＠"): "@", ord("："): ":"}
    for code in range(128, sys.maxunicode + 1):
        category = unicodedata.category(chr(code))
        if category == "Nd":
            table[code] = str(unicodedata.decimal(chr(code)))
        elif category == "Zs":
            table[code] = " "
        elif category == "Pd":
            table[code] = "-"
    return table


_LOCAL = re.compile(r'(?:[A-Za-z0-9À-ɏͰ-ϿЀ-ӿ._%+\'-]{1,64}|"[^"\n@]{1,62}")$')
_DOMAIN = re.compile(
    r"(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.)+(?:xn--[a-z0-9-]+|[A-Za-z]{2,24}(?![A-Za-z0-9_-])|(?:[^\x00-\x7f\W\d])+)"
)
_FILE_ENDINGS = frozenset(
    re.findall(r"\w+", "png jpg jpeg gif svg webp ico bmp tif tiff heic avif pdf css js ts json yaml yml xml txt")
)
_SCALE_OR_VERSION = re.compile(r"(?:v\d+|\d+x)", re.IGNORECASE)
_CREDENTIALS = re.compile(r"://[^\s/@]*$")
_REPOSITORY_USERS = frozenset({"git", "hg", "svn"})


def _emails(text: str) -> Iterator[tuple[int, int]]:
    at = text.find("@")
    end = 0
    while at >= 0:
        domain = _DOMAIN.match(text, at + 1)
        local = None if domain is None else _LOCAL.search(text, max(end, at - 64), at)
        if local is not None and domain is not None:
            start = at - len(local[0].lstrip(".'"))
            if _is_email(text, start, at, domain):
                end = domain.end()
                yield start, end
        at = text.find("@", at + 1)


def _is_email(text: str, start: int, at: int, domain: re.Match[str]) -> bool:
    local, (*labels, ending) = text[start:at], domain[0].lower().split(".")
    if not local or local.endswith(".") or ".." in local or text[start - 1 : start] == "@":
        return False
    if ending in _FILE_ENDINGS or any(_SCALE_OR_VERSION.fullmatch(label) for label in labels):
        return False
    if local in _REPOSITORY_USERS and text[domain.end() : domain.end() + 1] in (":", "/"):
        return False
    return _CREDENTIALS.search(text, max(0, start - 80), start) is None


# from the digits back to the letters, as a text has fewer digits than letters
_IBAN_START = re.compile(r"[0-9](?<=(?<![A-Za-z0-9])[A-Za-z]{2}[0-9])[0-9](?=[ -]?[A-Za-z0-9])")


_SEPARATOR = re.compile(r"[ -]")


@cache
def _rest(size: int) -> re.Pattern[str]:
    return re.compile(rf"(?:[ -]?[A-Za-z0-9]){{{size}}}(?![A-Za-z0-9])")


def _ibans(text: str) -> Iterator[tuple[int, int]]:
    end = 0
    for digits in _IBAN_START.finditer(text):
        start = digits.start() - 2
        size = IBAN_LENGTHS.get(text[start : start + 2].upper())
        rest = None if size is None or start < end else _rest(size - 4).match(text, digits.end())
        if rest is not None and is_iban(_SEPARATOR.sub("", text[start : rest.end()])):
            end = rest.end()
            yield start, end


# what may not stand before a number is looked at after its first digit: so the search leaps from digit to digit
_FIRST = r"[1-9](?<![A-Za-z0-9_+].)(?<!\d[.-].)"
# a comma and many digits is the next of a list, a comma and few a fraction
_NUMBER_ENDS = r"(?![A-Za-z0-9_]|[.-]\d|,\d{1,3}(?!\d))"
_CARD = re.compile(
    _FIRST + r"(?:\d{3}([ .-])\d{4}\1\d{4}\1\d{4}(?:\1\d{3})?|\d{3}([ .-])\d{6}\2\d{4,5}|\d{13,18})" + _NUMBER_ENDS,
    re.ASCII,
)
_TCKN = re.compile(_FIRST + r"\d{10}" + _NUMBER_ENDS, re.ASCII)
_NO_DIGIT = re.compile(r"[^0-9]")


def _cards(text: str) -> Iterator[tuple[int, int]]:
    for run in _CARD.finditer(text):
        if is_card(_NO_DIGIT.sub("", run[0])):
            yield run.span()
        elif run[1] is not None and is_card(_NO_DIGIT.sub("", run[0][:19])):
            # the code of three digits stands behind the card
            yield run.start(), run.start() + 19


def _tckns(text: str) -> Iterator[tuple[int, int]]:
    return (run.span() for run in _TCKN.finditer(text) if is_tckn(run[0]))


_IPV4 = re.compile(
    r"[0-9](?<![A-Za-z0-9_.].)(?<![^/]/.)(?<![=<>~!^]=.)\d{0,2}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?![A-Za-z0-9_]|\.\w|-[A-Za-z])",
    re.ASCII,
)
_IPV6 = re.compile(
    r"(?<![A-Za-z0-9_:.])(?:[0-9A-Fa-f]{0,4}:){2,7}(?:(?:\d{1,3}\.){3}\d{1,3}|[0-9A-Fa-f]{1,4})?(?![A-Za-z0-9_:])",
    re.ASCII,
)
_TWO_COLONS = re.compile(r":[0-9A-Fa-f]{0,4}:")
_LONG_GROUP = re.compile(r"(?=[0-9A-Fa-f]*\d)[0-9A-Fa-f]{3,4}")
_OCTETS = frozenset(map(str, range(256)))
_VERSION_WORD = re.compile(
    r"v|ver|vers|version\w*|release\w*|rev|revision|build|firmware|software|patch|update|sürüm\w*|schema|kernel|driver"
    r"|section|chapter|clause|article|paragraph|item|table|figure|step|kapitel|abschnitt|bölüm|madde|oid|§",
    re.IGNORECASE,
)
_IMAGE = re.compile(r"\bdocker \w+ \S+[\s.:=#(-]{0,3}$", re.IGNORECASE)
_LAST_WORD_BACKWARDS = re.compile(r"\n?[\s.:=#(-]{0,3}(§|\w{1,30}(?!\w))")
_WORD_BEFORE = 40


def _addresses(text: str) -> Iterator[tuple[int, int]]:
    sixes = [run.span() for run in _IPV6.finditer(text) if _is_ipv6(run[0])] if _TWO_COLONS.search(text) else []
    yield from sixes
    if text.count(".") > 2:
        # ::ffff:192.0.2.1 is one address
        yield from _ipv4s(_without(text, sixes))


def _ipv4s(text: str) -> Iterator[tuple[int, int]]:
    versions: set[str] = set()
    for run in _IPV4.finditer(text):
        first, *_ = octets = run[0].split(".")
        if first == "255" or not _OCTETS.issuperset(octets):
            # a mask, or no address at all
            continue
        if _is_after_version_word(text, run.start()):
            versions.add(first)
        elif first not in versions:
            # 2.0.0.0 after "version 2.0.0.1" is another version
            yield run.span()


def _is_after_version_word(text: str, place: int) -> bool:
    """Whether what stands just before says that what comes is a version, or the number of a part of a text."""
    start = max(0, place - _WORD_BEFORE)
    before = text[start:place]
    # a search for the word would begin at every letter before it, once for each address
    last = _LAST_WORD_BACKWARDS.match(before[::-1])
    if last is not None and _VERSION_WORD.fullmatch(last[1][::-1]):
        return True
    return "docker " in before.lower() and _IMAGE.search(text, start, place) is not None


def _is_ipv6(text: str) -> bool:
    """Whether it is an address, and cannot be taken for a time, a slice (`1::3`) or a name in code (`a::b`)."""
    if _LONG_GROUP.search(text) is None:
        return False
    try:
        return IPv6Address(text) is not None
    except AddressValueError:
        return False


_FINDERS: dict[Category, Callable[[str], Iterator[tuple[int, int]]]] = {
    "EMAIL": _emails,
    "IBAN": _ibans,
    "CREDIT_CARD": _cards,
    "IP_ADDRESS": _addresses,
    "TCKN": _tckns,
    "PHONE": phone_numbers,
}
"""In the order in which they look: the surest first."""
