"""Texts as rules compare them: what nobody sees, and case if it does not matter, makes no difference.

Canonically equal texts are equal, runs of blanks of any kind are one space, soft hyphens and marks of writing direction
are nothing, and typographic apostrophes and quotation marks are the straight ones. Without case, letters are folded as
Unicode does, and "İ" is "i". Where a text has a dotless or a dotted capital i, two texts are also the same if they are
by Turkish rules ("ISPARTA" is "ısparta" there, but "sık" is never "sik").
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from genkit_eval_heuristics.structure import is_unspaced

__all__ = ["contained", "ends", "occurrences", "same", "starts"]

# soft hyphen, word joiner, byte order mark, marks of direction
_INVISIBLE = [0x00AD, 0x2060, 0xFEFF, 0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_PLAIN = {**dict.fromkeys(_INVISIBLE), **dict.fromkeys(map(ord, "‘’ʼ"), "'"), **dict.fromkeys(map(ord, "“”„"), '"')}
_TURKISH = {ord("I"): "ı", ord("İ"): "i"}
_TURKISH_LETTER = re.compile("[ıİ]|I\u0307")


def same(one: str, other: str, *, ignore_case: bool) -> bool:
    """Whether two texts are the same."""
    return any(ours == theirs for ours, theirs in _forms(one, other, ignore_case))


def starts(start: str, text: str, *, ignore_case: bool) -> bool:
    """Whether the text starts so, blanks before it apart."""
    return any(
        whole.startswith(part) and _ends_there(whole, len(part)) for part, whole in _forms(start, text, ignore_case)
    )


def ends(end: str, text: str, *, ignore_case: bool) -> bool:
    """Whether the text ends so, blanks after it apart."""
    return any(whole.endswith(part) for part, whole in _forms(end, text, ignore_case))


def contained(phrase: str, text: str, *, ignore_case: bool, whole_words: bool = False) -> bool:
    """Whether the phrase is in the text; as whole words: not as part of a longer one."""
    return any(
        next(_places(part, whole, whole_words), None) is not None for part, whole in _forms(phrase, text, ignore_case)
    )


def occurrences(phrase: str, text: str, *, ignore_case: bool, whole_words: bool = False) -> int:
    """How often the phrase is in the text, without overlaps."""
    return max(sum(1 for _ in _places(part, whole, whole_words)) for part, whole in _forms(phrase, text, ignore_case))


def _forms(one: str, other: str, ignore_case: bool) -> Iterator[tuple[str, str]]:
    """Both texts folded, in each of the ways in which they may be the same."""
    ours, theirs = _seen(one), _seen(other)
    if not ignore_case:
        yield ours, theirs
        return
    yield _folded(ours), _folded(theirs)
    if _TURKISH_LETTER.search(ours) or _TURKISH_LETTER.search(theirs):
        yield _folded(ours.translate(_TURKISH)), _folded(theirs.translate(_TURKISH))


def _seen(text: str) -> str:
    if not text.isascii():
        text = unicodedata.normalize("NFC", text.translate(_PLAIN))
    return " ".join(text.split())


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", text.casefold()).replace("i\u0307", "i")


def _places(phrase: str, text: str, whole_words: bool) -> Iterator[int]:
    """Where the phrase is, without overlaps."""
    at = text.find(phrase) if phrase else -1
    while at >= 0:
        end = at + len(phrase)
        inside = whole_words and (
            (_in_word(text[at - 1 : at]) and _in_word(phrase[0]))
            or (_in_word(text[end : end + 1]) and _in_word(phrase[-1]))
        )
        if _ends_there(text, end) and not inside:
            yield at
            at = text.find(phrase, end)
        else:
            at = text.find(phrase, at + 1)


def _ends_there(text: str, end: int) -> bool:
    """Whether what follows is no mark on the last letter."""
    return end >= len(text) or not unicodedata.combining(text[end])


def _in_word(character: str) -> bool:
    if character.isalnum():
        # where words are not parted, each may end anywhere
        return not is_unspaced(character)
    return character == "_" or (character != "" and unicodedata.combining(character) > 0)
