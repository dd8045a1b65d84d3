"""An instruction as clauses: its sentences, without those that ask for nothing, and with quoted texts set aside."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

MAX_INSTRUCTION, MAX_CLAUSE = 20_000, 1_000
"""What is longer is a text and no instruction; it also bounds how long the search for instructions takes."""

__all__ = ["MAX_INSTRUCTION", "QUOTE", "Clause", "clauses", "is_negated", "listed"]

QUOTE = r"⟦\d+⟧"
"""What stands for a quoted text in a clause."""

_QUOTED = re.compile(
    r"\"([^\"\n]{1,300})\"|“([^”\n]{1,300})”|„([^“”\n]{1,300})[“”]|«([^»\n]{1,300})»|「([^」\n]{1,300})」"
    r"|『([^』\n]{1,300})』|‘([^’\n]{1,300})’(?!\w)|`([^`\n]{1,300})`|(?<!\w)'([^'\n]{1,300})'(?!\w)"
)
_END = re.compile(r"(?<=[.!?;])(?<!\bmax\.)(?<!\bmin\.)(?<!\be\.g\.)(?<!\bi\.e\.)\s+|\n+", re.IGNORECASE)
_MARKER = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_WORD = r"[^\W\d_][\w-]*"
_SINGLE = r"\s*(?:,\s*(?:and\s+|or\s+)?|/|\s(?:and|or)\s)\s*"
_QUOTES = re.compile(rf"\s*:?\s*[(\[]?({QUOTE}(?:{_SINGLE}{QUOTE})*)[)\]]?", re.IGNORECASE)
_WORDS = re.compile(
    rf"\s*:?\s*({_WORD}(?:\s*,\s*(?!and\b|or\b){_WORD})*(?:\s*,?\s+(?:and|or)\s+{_WORD})?)", re.IGNORECASE
)
# a list does not start so
_NO_ITEM = frozenset(
    ["a", "an", "and", "are", "as", "at", "be", "for", "from", "in", "is", "it", "of", "or", "that", "the"]
)

# asked for only sometimes, or not at all, or of something else than the answer
_ASKS_NOTHING = re.compile(
    r"""
    \b(?:if|when|whenever|unless|wherever|where|in\ case|in\ the\ event|provided\ that|whether)\b
    | \b(?:may|might|can|could)\b (?!\s*(?:not\b|n['’]t|only\b))
    | \b(?:feel\ free|optional(?:ly)?|ideally|prefer(?:ably)?|aim\ (?:for|to)|try\ to|for\ (?:example|instance))\b
    | (?:\bnot|n['’]t|\bno|\bnever) \s+ (?:\w+\s+)?
      (?:have\ to|has\ to|needs?|required|necessary|obliged|matter|worry|care|mind|afraid|hesitate)\b
    | \bneed(?:n['’]t|\s+not)\b | \bmatters?\s+not\b | \b(?:nobody|no\ one|none\ of)\b
    | \b(?:tell|say|mention|claim|reveal|assume|note|think|state)s?\s+ (?:(?:to\s+)?the\s+\w+\s+)? that\b
    | \b(?:do\ not|don['’]t|never)\s+(?:tell|limit|restrict|explain|assume)\b
    | \b(?:write|create|implement|generate|build)\b .{0,40}
      \b(?:code|function|script|program|sql|query|class|method|endpoint)\b
    | ^\s* (?:each|every|the\ users?|users?|(?:(?:the|our|your)\s+)?customers?
             |the\s+(?:input|question|document|article|context|request))\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
# up to six words may come between, in the same part of the sentence
_NEGATED = re.compile(
    r"(?:\bdo\s+not|\bdon['’]t|\bnever|\bnot|\bwithout|\bavoid|\bno|\brather\s+than|\binstead\s+of|\bnor|n['’]t|"
    r"\brefrain\s+from|\bexclude|\bomit|\bfree\s+of)\b(?:[\s,]+(?!(?:but|and|that|which)\b)[\w-]+){0,6}\s*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Clause:
    """A sentence of an instruction."""

    text: str
    """Each quoted text in it as ⟦n⟧."""
    said: str
    """As it was written."""
    quotes: Sequence[str]
    """The quoted texts of the whole instruction, by n."""

    def quoted(self, text: str) -> list[str]:
        """The texts that are quoted in a part of the clause."""
        return [self.quotes[int(number)] for number in re.findall(r"⟦(\d+)⟧", text)]


def clauses(instruction: str) -> list[Clause]:
    """The sentences that ask for something unconditionally, in order."""
    quotes: list[str] = []

    def aside(found: re.Match[str]) -> str:
        quotes.append(next(text for text in found.groups() if text is not None).strip())
        return f"⟦{len(quotes) - 1}⟧"

    def restored(text: str) -> str:
        return re.sub(r"⟦(\d+)⟧", lambda found: f'"{quotes[int(found[1])]}"', text)

    masked = _QUOTED.sub(aside, instruction.replace("⟦", "[").replace("⟧", "]"))
    parts = [_MARKER.sub("", part).strip() for part in _END.split(masked)]
    return [
        Clause(part.rstrip(".!; "), restored(part), quotes)
        for part in parts
        if part and len(part) <= MAX_CLAUSE and not part.endswith("?") and not _ASKS_NOTHING.search(part)
    ]


def is_negated(before: str) -> bool:
    """Whether what comes after this part of a sentence is negated: "do not use any …"."""
    return _NEGATED.search(before) is not None


def listed(clause: Clause, text: str) -> tuple[list[str], str]:
    """The items at the start of a text, and what comes after them.

    `⟦0⟧, ⟦1⟧ and ⟦2⟧` is a list, and so are two words or more as in `apple, banana or cherry`.
    """
    if quoted := _QUOTES.match(text):
        return clause.quoted(quoted[1]), text[quoted.end() :]
    found = _WORDS.match(text)
    items = re.split(r"\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or)\s+", found[1]) if found else []
    if found is None or len(items) < 2 or items[0].lower() in _NO_ITEM:
        return [], text
    return items, text[found.end() :]
