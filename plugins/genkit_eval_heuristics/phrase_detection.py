"""What an instruction says of phrases in the answer: to use or leave out, repeat, start and end with, choose from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from genkit_eval_heuristics.checks import Check
from genkit_eval_heuristics.clauses import QUOTE, Clause, is_negated, listed
from genkit_eval_heuristics.form_detection import Detector
from genkit_eval_heuristics.quantities import NUMBER, quantities

__all__ = ["PHRASE_DETECTORS"]

_I = re.IGNORECASE

# --- to use or leave out

_NOUN = (
    r"(?:(?:exact|following|same|literal)\s+)?"
    r"(?P<noun>words?|phrases?|key\s?words?|terms?|sentences?|texts?|strings?|expressions?)"
)
_PHRASES = re.compile(
    r"(?P<verb>\b(?:includ(?:e|es|ing)|contain(?:s|ing)?|mention(?:s|ing)?|use|uses|using|incorporate|add|avoid|exclude|"
    r"omit|without|say|have|(?<=but\s)not|with(?=\s+(?:these|the)\s+(?:following\s+)?key\s?words?)))\b"
    rf"(?:\s+(?:the|these|any|all|both|of|a)\b)*\s*(?:{_NOUN})?(?:\s+(?=⟦))?",
    _I,
)
_LIKE = re.compile(r"^\s*(?:like|such\s+as)\s+(?=⟦)", _I)
_FORBIDDING = re.compile(r"avoid|exclude|omit|without|not", _I)
# "use ⟦0⟧" may mean a tool
_VAGUE = ("use", "uses", "using", "have", "add")
_OF_JSON = re.compile(r"\bkeys?\b|\bjson\b|\{", _I)


def _phrases(clause: Clause) -> Iterator[Check]:
    if _OF_JSON.search(clause.text):
        return
    for found in _PHRASES.finditer(clause.text):
        rest = _LIKE.sub("", clause.text[found.end() :])
        forbidden = _FORBIDDING.match(found["verb"]) is not None or is_negated(clause.text[: found.start()])
        if found["noun"] is None and found["verb"].lower() in _VAGUE and not forbidden:
            continue
        bounds = None if forbidden else _times(rest)
        for text in _named(clause, rest, found["noun"]):
            if bounds:
                yield Check("count", (text,), *bounds, said=clause.said)
            else:
                yield Check("exclude" if forbidden else "include", (text,), said=clause.said)


_LONE_WORD = re.compile(
    rf"\s*(?!count\b|limit\b)([^\W\d_][\w-]*)(?:\s+in\s+.*|(?:\s+[a-z]+){{0,3}}\s+(?:once|twice|{NUMBER}\s+times)\b.*)?",
    _I,
)


def _named(clause: Clause, rest: str, noun: str | None) -> list[str]:
    """The phrases that come next: quoted; or bare, after "the words" and the like."""
    if re.match(r"\s*:?\s*[(\[]?⟦", rest):
        return listed(clause, rest)[0]
    if noun is None or not re.match(r"words?|terms?|key", noun, _I):
        return []
    found = _LONE_WORD.fullmatch(rest)
    return listed(clause, rest)[0] or ([found[1]] if found and not noun.lower().endswith("s") else [])


def _times(text: str) -> tuple[int | None, int | None] | None:
    """The bounds in "at least three times" or "only once"."""
    text = re.sub(r"\bonce\b", "1 times", re.sub(r"\btwice\b", "2 times", text, flags=_I), flags=_I)
    # "⟦0⟧ three times" is as plain as a number at the start
    text = re.sub(rf"{QUOTE}\s+(?={NUMBER}\s+times)", ", ", text, flags=_I)
    quantity = next(quantities(text, re.compile("times")), None)
    return (quantity.least, quantity.most) if quantity else None


_APPEARS = re.compile(
    rf"\bthe\s+{_NOUN}\s+(?P<it>{QUOTE}|[^\W\d_][\w-]*)\s+(?:must|should|has\s+to|shall)\s+(?P<not>not\s+)?"
    r"(?:appear|occur|be\s+(?:used|mentioned|included))",
    _I,
)


def _appearing(clause: Clause) -> Iterator[Check]:
    found = _APPEARS.search(clause.text)
    if found:
        texts = tuple(clause.quoted(found["it"])) or (found["it"],)
        bounds = _times(clause.text[found.end() :])
        if found["not"]:
            yield Check("exclude", texts, said=clause.said)
        elif bounds:
            yield Check("count", texts, *bounds, said=clause.said)
        else:
            yield Check("include", texts, said=clause.said)


_REPEAT = re.compile(rf"\b(?:repeat|quote|reproduce)\b[^⟦,;]{{0,40}}({QUOTE})", _I)


def _repeated(clause: Clause) -> Iterator[Check]:
    found = _REPEAT.search(clause.text)
    if found and not is_negated(clause.text[: found.start()]):
        bounds = _times(clause.text[found.start(1) :])
        texts = tuple(clause.quoted(found[1]))
        yield Check("count", texts, *bounds, said=clause.said) if bounds else Check("repeat", texts, said=clause.said)


# --- to start and end with

_WITH_THE_WORD = r"\bwith\s+the\s+word\s+(?!count\b|limit\b)(?P<word>[^\W\d_][\w-]*)\s*$"
_ENDS = {
    "starts": re.compile(
        rf"\b(?:start|begin|open)(?:s|ing|ning)?\b[^⟦;]{{0,50}}?\bwith\b[^⟦;]{{0,40}}?({QUOTE})"
        rf"|\bthe\s+(?:very\s+)?first\s+(?:word|words|line)\b[^⟦;]{{0,40}}\bbe\b\s*({QUOTE})"
        rf"|\b(?:start|begin|open)(?:s|ing|ning)?\b[^⟦;]{{0,50}}?{_WITH_THE_WORD}",
        _I,
    ),
    "ends": re.compile(
        rf"\b(?:end|finish|conclude|close|sign\s+off)(?:s|es|ing)?\b[^⟦;]{{0,50}}?\bwith\b[^⟦;]{{0,40}}?({QUOTE})"
        rf"|\bthe\s+(?:very\s+)?last\s+(?:word|words|line|sentence)\b[^⟦;]{{0,40}}\bbe\b\s*({QUOTE})"
        rf"|\b(?:end|finish|conclude|close)(?:s|es|ing)?\b[^⟦;]{{0,50}}?{_WITH_THE_WORD}",
        _I,
    ),
}
_PARTS = r"(?:title|subject|heading|paragraph|section|sentence|line|item|bullet|point|step|word|name)s?"
# what starts or ends is not the answer
_PART_STARTS = re.compile(
    rf"\b{_PARTS}\s+(?:\d+\s+)?(?:must|should|has\s+to|have\s+to|needs?\s+to|to|shall|that|which)\s*$", _I
)
_START_PART = re.compile(rf"\b(?:each|every|all|{_PARTS})\b[^⟦]*\bwith\b", _I)


def _at_the_ends(clause: Clause) -> Iterator[Check]:
    for kind, pattern in _ENDS.items():
        found = pattern.search(clause.text)
        if found and not _PART_STARTS.search(clause.text[: found.start()]) and not _START_PART.search(found[0]):
            negated = is_negated(clause.text[: found.start()])
            text = found["word"] or clause.quoted(found[0])[0]
            yield Check(kind, (text,), negated=negated, said=clause.said)


# --- to choose

_ONE_OF = re.compile(
    r"\b(?:one\s+of|either|only\s+with|with\s+only|with\s+just|just\s+with)"
    r"(?:\s+(?:the|these|following|labels?|categories|words?|options|values|classes))*\s*:?",
    _I,
)
_YES_OR_NO = re.compile(r"\b(?:answer|reply|respond)(?:\s+with)?\s+(?=⟦|(?:yes|no|true|false)\b)", _I)
_CHOOSING = re.compile(r"\b(?:answer|reply|respond|output|return|choose|pick|classify)\b", _I)
_NOTHING_ELSE = re.compile(
    r"\s*(?:,|\band\b)?\s*(?:(?:\w+\s+)?(?:nothing|no(?:thing)?\s+(?:other|else))\b.*|only|without\b.*)?\s*$", _I
)


def _one_of(clause: Clause) -> Iterator[Check]:
    found = _ONE_OF.search(clause.text)
    if found and not _CHOOSING.search(clause.text[: found.start()]):
        return
    found = found or _YES_OR_NO.search(clause.text)
    if not found or is_negated(clause.text[: found.start()]):
        return
    rest = clause.text[found.end() :]
    texts, after = listed(clause, rest)
    alternatives = found.re is _ONE_OF or re.search(r"\bor\b", rest, _I)
    if len(texts) > 1 and alternatives and _NOTHING_ELSE.match(after):
        yield Check("one of", tuple(texts), said=clause.said)


PHRASE_DETECTORS: Sequence[Detector] = (_phrases, _appearing, _repeated, _at_the_ends, _one_of)
