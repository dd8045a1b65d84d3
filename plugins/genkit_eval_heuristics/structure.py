"""How a text is built: its words, sentences, paragraphs, lists, headings, tables."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from regex import Pattern

__all__ = [
    "COUNTED",
    "bullets",
    "characters",
    "emojis",
    "has_table",
    "headings",
    "is_unspaced",
    "lines",
    "numbered",
    "paragraphs",
    "sentences",
    "words",
]

_FENCED = re.compile(r"^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1[^\n]*$|\Z)", re.DOTALL | re.MULTILINE)
_BULLET = re.compile(r"^([ \t]*)(?:[-*+][ \t]+|[•‣◦·–—・][ \t]*)(?=\S)(?![-*_][ \t]*[-*_][ \t]*$)", re.MULTILINE)
_NUMBERED = re.compile(r"^([ \t]*)\(?\d{1,3}[.)][ \t]+(?=\S)", re.MULTILINE)
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+\S|^(?=.*\w)(?![ \t]*[-*+|>]).+\n {0,3}(?:={2,}|-{3,})[ \t]*$", re.MULTILINE)
_RULE = r"[ \t]*+:?-++:?[ \t]*+"
_TABLE = re.compile(
    rf"^[^\n|]*\|.*\n[ \t]*+\|?{_RULE}(?:\|{_RULE})++\|?[ \t]*+$|^[ \t]*+\|.*\|[ \t]*\n[ \t]*+\|{_RULE}\|[ \t]*+$",
    re.MULTILINE,
)
_ABBREVIATION = re.compile(
    r"\b(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|approx|e\.g|i\.e)\.(?=\s)|\bNo\.(?=\s*\d)"
    r"|\b(?:etc|Inc|Ltd|Co|a\.m|p\.m|(?:[A-Z]\.){1,5}[A-Z])\.(?=\s+[a-z])"
)
_SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’»)\]*_]*+(?=\s|$)|[。！？]+[」』”’）]*|[؟۔।]+")
# looked for at the start of each part only, so that a long run of signs takes no longer than it is
_ASCII_WORD = re.compile(r"(?<!\S)[^\sA-Za-z0-9]*+[A-Za-z0-9]\S*+")
_MARKER = re.compile(r"^[ \t]*(?:[-*+•‣◦]|\(?\d{1,3}[.)]|#{1,6})[ \t]+", re.MULTILINE)


def words(text: str) -> int:
    """How many words: what stands between blanks and has a letter or digit in it.

    "well-known" and "don't" are one word. Chinese and Japanese characters, and letters of Thai, Lao, Khmer and Myanmar,
    which are written without blanks, count one each.
    """
    if text.isascii():
        return len(_ASCII_WORD.findall(text))
    apart = _unspaced().findall(text)
    return len(apart) + sum(1 for part in _unspaced().sub(" ", text).split() if _has_word(part))


def _has_word(part: str) -> bool:
    return any(character.isalnum() for character in part)


@lru_cache(maxsize=1)
def _unspaced() -> Pattern[str]:
    # 10 ms, which ASCII need not pay; the library of the language does not know scripts
    import regex

    scripts = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
    return regex.compile(rf"[[{scripts}]&&\p{{L}}]\p{{M}}*ー*", regex.VERSION1)


def is_unspaced(text: str) -> bool:
    """Whether there is a letter of a script that is written without blanks."""
    return not text.isascii() and _unspaced().search(text) is not None


def sentences(text: str) -> int:
    """How many sentences: what ends with . ! ? or a mark of that kind before a blank, or with its line.

    Points in numbers and common English abbreviations end none; a list's item or a heading is at least one.
    """
    count = 0
    for line in _MARKER.sub("", _ABBREVIATION.sub("x", text)).splitlines():
        parts = _SENTENCE_END.split(line)
        count += sum(1 for part in parts if _has_word(part))
    return count


def paragraphs(text: str) -> int:
    """How many paragraphs: blocks of text between blank lines; headings and rules are none."""
    blocks = re.split(r"\n[ \t]*(?:\n[ \t]*)+", text.replace("\r\n", "\n").strip())
    return sum(1 for block in blocks if _has_word(block) and not re.fullmatch(r" {0,3}#{1,6}[ \t][^\n]*", block))


def lines(text: str) -> int:
    """How many lines that are not blank."""
    return sum(1 for line in text.splitlines() if line.strip())


def characters(text: str) -> int:
    """How many characters, in composed form, without blanks around the text."""
    text = text.strip()
    return len(text) if text.isascii() else len(unicodedata.normalize("NFC", text))


def bullets(text: str) -> int:
    """How many items of bulleted lists, at the outermost level."""
    return _items(_BULLET, text)


def numbered(text: str) -> int:
    """How many items of numbered lists, at the outermost level."""
    return _items(_NUMBERED, text)


def _items(marker: re.Pattern[str], text: str) -> int:
    indents = [len(found[1].expandtabs(4)) for found in marker.finditer(_unfenced(text))]
    # an item indented by one blank is meant to be of the same level
    outermost = min(indents, default=0) + 1
    return sum(1 for indent in indents if indent <= outermost)


def headings(text: str) -> int:
    """How many Markdown headings."""
    return len(_HEADING.findall(_unfenced(text)))


def has_table(text: str) -> bool:
    """Whether there is a Markdown table, or one of HTML."""
    return _TABLE.search(text) is not None or "<table" in text.lower()


def emojis(text: str) -> int:
    """How many emojis; (c), (r) and digits, which may be shown as such, are none."""
    return 0 if text.isascii() else len(_emoji().findall(text))


@lru_cache(maxsize=1)
def _emoji() -> Pattern[str]:
    # as above
    import regex

    return regex.compile(r"\p{Emoji_Presentation}|\p{Extended_Pictographic}\uFE0F")


def _unfenced(text: str) -> str:
    return _FENCED.sub("", text) if "```" in text or "~~~" in text else text


COUNTED: Mapping[str, Callable[[str], int]] = {
    "bullets": bullets,
    "numbered": numbered,
    "headings": headings,
    "words": words,
    "sentences": sentences,
    "paragraphs": paragraphs,
    "lines": lines,
    "characters": characters,
}
"""What has a number, and how it is counted."""
