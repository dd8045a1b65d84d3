"""Lines of a report: spans of text with an ink, turned into plain or coloured text at the very end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from genkit_eval.report.text import one_line

__all__ = ["Ink", "Line", "Span", "blank", "line", "rendered"]


class Ink(StrEnum):
    """What a span means; on a terminal it has a colour."""

    PLAIN = ""
    STRONG = "1"
    FAINT = "2"
    BAD = "31"
    GOOD = "32"
    ODD = "33"


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a line."""

    text: str
    ink: Ink = Ink.PLAIN


Line = tuple[Span, ...]


def line(*parts: str | Span) -> Line:
    """A line from pieces; text alone has no ink."""
    return tuple(part if isinstance(part, Span) else Span(part) for part in parts)


def blank() -> Line:
    """An empty line."""
    return ()


def rendered(lines: Iterable[Line], *, colour: bool) -> Iterator[str]:
    """Each line as text; whatever its spans hold, nothing but our own colours acts on the terminal."""
    for spans in lines:
        yield "".join(_painted(span, colour=colour) for span in spans).rstrip(" ")


def _painted(span: Span, *, colour: bool) -> str:
    text = one_line(span.text)
    return f"\x1b[{span.ink.value}m{text}\x1b[0m" if colour and span.ink and text.strip() else text
