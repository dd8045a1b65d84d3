"""Text as words: what metrics that count words and word sequences have in common."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from pydantic import JsonValue

from genkit_eval._json import dump, json_text
from genkit_eval.errors import shortened

if TYPE_CHECKING:
    from regex import Pattern

__all__ = ["ngrams", "references", "shown", "text_of", "tokens"]

TEXT_KEYS = ("answer", "text", "content", "page_content")

_ASCII_WORD = re.compile(r"[a-z0-9]+(?:(?<=[0-9])[.,](?=[0-9])[a-z0-9]+)*")
# soft hyphen, joiners and the byte order mark: nobody sees them inside a word
_INVISIBLE = dict.fromkeys([0x00AD, 0x200C, 0x200D, 0x2060, 0xFEFF])


def tokens(text: str) -> list[str]:
    """The words of a text, in order: Unicode words without punctuation, after NFKC and case folding.

    A word is a run of letters, marks and digits; a point or comma between two digits belongs to it ("3.14", "1,000").
    Scripts that do not part words by spaces, and Korean, are read by character: Han, Hiragana, Katakana, Hangul, Thai,
    Lao, Khmer, Myanmar. Signs and symbols are left out, so "-5" is "5", and "C++" is "c". The four letters i of Turkish
    are one, as "I" is the capital of "i" elsewhere and of "ı" there.

    >>> tokens("The Café's π is 3.14, 東京!")
    ['the', 'café', 's', 'π', 'is', '3.14', '東', '京']
    """
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    folded = (
        unicodedata.normalize("NFKC", text.translate(_INVISIBLE)).casefold().replace("i\u0307", "i").replace("ı", "i")
    )
    # folding may take a character apart again
    return _word().findall(unicodedata.normalize("NFKC", folded))


@lru_cache(maxsize=1)
def _word() -> Pattern[str]:
    # 10 ms, which ASCII need not pay; the library of the language knows neither scripts nor marks
    import regex

    apart = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー"
    start, character = rf"[[\p{{L}}\p{{N}}]--[{apart}]]", rf"[[\p{{L}}\p{{M}}\p{{N}}]--[{apart}]]"
    run = rf"{start}{character}*(?:(?<=\p{{Nd}})[.,](?=\p{{Nd}}){character}+)*"
    return regex.compile(rf"[[{apart}]&&[\p{{L}}\p{{N}}]]\p{{M}}*|{run}", regex.VERSION1)


def ngrams(words: Sequence[str], size: int) -> Counter[tuple[str, ...]]:
    """How often each sequence of `size` neighbouring words occurs; empty where there are fewer words.

    `(ngrams(a, n) & ngrams(b, n)).total()` is how many of them two texts share, each as often as both have it.
    """
    return Counter(zip(*(words[start:] for start in range(size)), strict=False))


def text_of(value: JsonValue) -> str:
    """The text to read in a value, such as an output, a reference or a retrieved document.

    Text is read as it is. Of an object, what it holds under `answer`, `text`, `content` or `page_content` (the first of
    them that is there), else all its values; of a list, all items. Numbers and booleans are read as JSON has them, null
    is nothing.
    """
    return "\n".join(_texts(value))


def references(reference: JsonValue) -> list[str]:
    """The right answers: each item of a list of texts, numbers and booleans, else the one text that a value is read as.

    Null is no answer.
    """
    if isinstance(reference, list) and not any(isinstance(item, list | dict) for item in reference):
        return [text_of(item) for item in reference if item is not None]
    return [] if reference is None else [text_of(reference)]


def shown(value: JsonValue) -> str:
    """A value as messages show it: the beginning of its JSON."""
    # a long text is not written whole for that
    return shortened(dump(value[:100] if isinstance(value, str) else value).decode())


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        key = next((key for key in TEXT_KEYS if key in value), None)
        for item in value.values() if key is None else (value[key],):
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif value is not None:
        yield json_text(value)
