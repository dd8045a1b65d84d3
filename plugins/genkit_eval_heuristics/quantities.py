"""Numbers in an instruction that bound how much is written: "at most 50 words", "two to four bullet points"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

__all__ = ["NUMBER", "Quantity", "quantities"]

_NUMBERS = {
    "a single": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60,
    "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100, "a hundred": 100, "one hundred": 100,
    "two hundred": 200, "three hundred": 300, "five hundred": 500,
}  # fmt: skip
NUMBER = rf"(?:\d{{1,3}}(?:,\d{{3}})+|\d+|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"

_ADJECTIVES = (
    r"(?:(?:short|brief|full|complete|concise|simple|clear|separate|distinct|main|key|english|markdown|section|"
    r"individual|long|very|different|well-formed)\s+)*"
)
_APPROXIMATELY = re.compile(
    r"(?:\babout|\baround|\broughly|\bapprox(?:imately|\.)?|\bsome|\bcirca|\bnearly|\balmost|~)\s*$", re.IGNORECASE
)
_BETWEEN = re.compile(r"\b(?:between|from)\s*$", re.IGNORECASE)
_MOST = re.compile(
    r"(?:\b(?:at\s+most|no\s+(?:more|longer)\s+than|not\s+(?:be\s+|use\s+|write\s+)?(?:more|longer)\s+than|up\s+to|within|"
    r"maximum(?:\s+of)?|max\.?(?:\s+of)?|not\s+(?:to\s+)?exceed|never\s+exceed|without\s+exceeding|limit\s*(?:of|:|is)?)|"
    r"n['’]t\s+exceed|\b(?:limit(?:ed)?|keep|restrict(?:ed)?|cap(?:ped)?|cut)\b[^,;]{0,40}\b(?:to|at)|≤|<=)\s*:?\s*$",
    re.IGNORECASE,
)
_LESS = re.compile(r"(?:\b(?:fewer\s+than|less\s+than|under|below|shorter\s+than)|<)\s*$", re.IGNORECASE)
_LEAST = re.compile(
    r"(?:\b(?:at\s+least|no\s+(?:fewer|less)\s+than|not\s+(?:fewer|less)\s+than|minimum(?:\s+of)?|min\.?)|≥|>=)\s*:?\s*$",
    re.IGNORECASE,
)
_MORE = re.compile(r"(?:\b(?:more\s+than|longer\s+than|over|above|exceed)|>)\s*$", re.IGNORECASE)
_NOT = re.compile(r"(?:\bno|\bnot|\bcannot|n['’]t|\bnever)\s+(?:\w+\s+){0,2}$", re.IGNORECASE)
_EXACTLY = re.compile(r"\b(?:exactly|precisely|just)\s*$", re.IGNORECASE)
# where a bare number is what is asked for
_PLAIN = re.compile(
    r"(?:^|[,:(]|\b(?:in|with|of|using|use|write|give|provide|list|into|have|contain|contains|be|include|includes|as|then|"
    r"make|produce|draft|compose|reply|only|into|state|show|need))\s*$",
    re.IGNORECASE,
)
_HYPHENED, _ARTICLE = re.compile(r"^\w+-"), re.compile(r"\b(?:a|an)\s+$", re.IGNORECASE)
_ALSO = re.compile(r"(?:please\s+)?(?:write|give|use|provide|include|reply|answer|respond)\b.*\band\s*$", re.IGNORECASE)
_OR_LESS = re.compile(
    r"\s*\(?(?:or\s+(?:less|fewer|shorter)|at\s+(?:the\s+)?most|max(?:imum)?\b|tops\b)", re.IGNORECASE
)
_OR_MORE = re.compile(r"\s*\(?(?:or\s+(?:more|longer)|at\s+(?:the\s+)?least|min(?:imum)?\b)", re.IGNORECASE)
_AFTER_EXACTLY = re.compile(r"\s*(?:exactly|precisely)\b", re.IGNORECASE)
# "two sentences each" says nothing of the whole
_PART_AFTER = re.compile(r"\s*(?:\w+\s+){0,2}(?:each|apiece|per|every)\b", re.IGNORECASE)
# nor does "three words in capital letters"
_SOME_AFTER = re.compile(
    r"\s+(?:(?:in|with)\s+(?:all\s+|only\s+)?(?:capital|upper|lower|caps|bold|italic|quot)"
    r"|(?:that|which)\s+(?:start|end|begin|rhyme|contain|have|are)\b"
    r"|(?:starting|ending|beginning|containing|rhyming)\b)",
    re.IGNORECASE,
)
_TOTAL = re.compile(r"\b(?:a\s+)?total(?:\s+of)?\s*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Quantity:
    """How many of something, and where in the clause it says so."""

    unit: str
    least: int | None
    most: int | None
    start: int
    end: int


def quantities(text: str, units: re.Pattern[str]) -> Iterator[Quantity]:
    """Each "N units" in a clause with the bounds that the words around it give it; "about N" gives none.

    Args:
        units: matches the name of a unit.
    """
    for found in _pattern(units.pattern).finditer(text):
        before, after = _TOTAL.sub("", text[: found.start()]), text[found.end() :]
        if _APPROXIMATELY.search(before) or _PART_AFTER.match(after) or _SOME_AFTER.match(after):
            continue
        bounds = _bounds(found, before, after)
        if bounds:
            yield Quantity(found["unit"].lower(), *bounds, found.start(), found.end())


@lru_cache(maxsize=32)
def _pattern(units: str) -> re.Pattern[str]:
    joined = r"-|–|—|to|and|or|and\s+(?:at\s+most|no\s+more\s+than)"
    return re.compile(
        rf"(?<![\w.,])(?P<n>{NUMBER})(?:\s*(?P<and>{joined})\s*(?P<m>{NUMBER}))?(?:\s+|-){_ADJECTIVES}(?P<unit>{units})\b",
        re.IGNORECASE,
    )


def _bounds(found: re.Match[str], before: str, after: str) -> tuple[int | None, int | None] | None:
    first = _number(found["n"])
    if found["m"]:
        # "at least 2 and at most 5", "between 2 and 5", "2 to 5"
        joined = " ".join(found["and"].lower().split())
        between = not joined.startswith("and") or (_BETWEEN if joined == "and" else _LEAST).search(before)
        return (first, _number(found["m"])) if between and first <= _number(found["m"]) else None
    # "no more than" is looked for before "more than"
    if _MOST.search(before) or _OR_LESS.match(after):
        return None, first
    if _LEAST.search(before) or _OR_MORE.match(after):
        return first, None
    if less := _LESS.search(before):
        return (first, None) if _NOT.search(before[: less.start()]) else (None, first - 1)
    if more := _MORE.search(before):
        return (None, first) if _NOT.search(before[: more.start()]) else (first + 1, None)
    if _EXACTLY.search(before) or _AFTER_EXACTLY.match(after):
        return first, first
    return _plain(found, before)


def _plain(found: re.Match[str], before: str) -> tuple[int, int] | None:
    """The bounds of a number without further words: "in three sentences" is meant exactly, "in 50 words" is not."""
    first = _number(found["n"])
    rough = found["unit"].lower().startswith(("word", "char", "letter")) and first > 1
    named = _PLAIN.search(before) or (_HYPHENED.search(found[0]) and _ARTICLE.search(before)) or _ALSO.match(before)
    return (first, first) if named and not rough else None


def _number(text: str) -> int:
    name = " ".join(text.lower().split())
    return _NUMBERS[name] if name in _NUMBERS else int(name.replace(",", ""))
