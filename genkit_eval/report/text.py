"""Text that is safe on a terminal and in a log, and how wide it is there.

What models, datasets and ids bring along is hostile: it may hold sequences that clear the screen, set the clipboard,
turn the line round or forge a further line. Everything that is shown passes through `one_line`.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["clip", "one_line", "shown_width", "wrap"]

# controls of both sets, marks that turn the direction of writing or are not seen, further line ends, lone surrogates,
# and the tags block, in which whole sentences can hide
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
_NAMED = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
_MORE = "…"


def one_line(text: object) -> str:
    r"""The text on one line, each character that could act on a terminal written out: `\n`, `\x1b`, `\u202e`.

    Applying it again changes nothing.
    """
    return _UNSAFE.sub(_written_out, str(text))


def _written_out(match: re.Match[str]) -> str:
    character = match[0]
    code = ord(character)
    if character in _NAMED:
        return _NAMED[character]
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def shown_width(text: str) -> int:
    """How many columns a terminal gives the text: wide letters two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if unicodedata.combining(character) or character in "\u200c\u200d\ufe0e\ufe0f":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def clip(text: object, width: int) -> str:
    """The text on one line, cut with an ellipsis where it is wider than `width` columns."""
    source = str(text)
    # cut before its characters are looked at: outputs may be megabytes
    line = one_line(source[: width + 1])
    if len(source) <= width + 1 and shown_width(line) <= width:
        return line
    return line[: _fitting(line, width - 1)] + _MORE if width > 0 else ""


def wrap(text: object, width: int, *, lines: int, tail: int = 0) -> list[str]:
    """The text in at most `lines` lines of `width` columns, broken between words; the last one is cut if need be.

    What is cut is the end, or with `tail` what lies before the last so many columns.
    """
    width, source = max(width, 1), str(text)
    room = width * lines + 1
    rest = one_line(source[:room]) + (_MORE if len(source) > room else "")
    out: list[str] = []
    while len(out) < lines - 1 and shown_width(rest) > width:
        end = max(_fitting(rest, width), 1)
        space = rest.rfind(" ", 0, end + 1)
        end = space if space > width // 3 else end
        out.append(rest[:end].rstrip(" "))
        rest = rest[end:].lstrip(" ")
    if not tail or (len(source) <= room and shown_width(rest) <= width):
        return [*out, clip(rest, width)]
    # an error ends with what was found, and with the place in the user's code
    last = _last(one_line(source[-tail:]), min(tail, width - 1))
    return [*out, clip(rest, width - shown_width(last)) + last]


def _last(line: str, width: int) -> str:
    """The end of a line, at most so many columns of it."""
    start = len(line)
    while start and shown_width(line[start - 1 :]) <= width:
        start -= 1
    return line[start:]


def _fitting(text: str, width: int) -> int:
    """How many characters fit into that many columns."""
    used = 0
    for index, character in enumerate(text):
        used += _columns(character)
        if used > width:
            return index
    return len(text)
