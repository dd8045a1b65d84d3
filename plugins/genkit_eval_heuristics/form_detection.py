"""What an instruction says of the form of the answer: how much, JSON, lists, headings, tables, case, signs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from genkit_eval_heuristics.checks import Check
from genkit_eval_heuristics.clauses import QUOTE, Clause, is_negated, listed
from genkit_eval_heuristics.quantities import NUMBER, Quantity, quantities

__all__ = ["FORM_DETECTORS", "Detector"]

Detector = Callable[[Clause], Iterator[Check]]
"""The checks that a clause asks for."""

_I = re.IGNORECASE
_OR = re.compile(r"\bor\b", _I)

# --- how much

_LIMITED = re.compile(r"words?|sentences?|paragraphs?|characters?|chars|lines?", _I)
_UNITS = {"w": "words", "s": "sentences", "p": "paragraphs", "c": "characters", "l": "lines"}
# a limit of these is not one of the answer
_PART = re.compile(
    r"\b(?:each|every|per|title|subject|headline|caption|heading|first|second|third|last|final|opening|closing|user|input|"
    r"name|column|row|cell|section|question)\b"
    r"|\b(?:sentences|paragraphs|lines|items?|points|bullets|steps|words)\s+(?:of|with|that|which|not|no|under|up)\b"
    r"|\b(?:(?:end|start|begin|conclude|finish|open|close)\w*\s+with|add|includ\w+|followed\s+by|append|plus)"
    r"\s+(?:a|an|one|the)\s+\w+",
    _I,
)


def _limits(clause: Clause) -> Iterator[Check]:
    for quantity in quantities(clause.text, _LIMITED):
        if not _PART.search(clause.text[: quantity.start]):
            yield _counted(_UNITS[quantity.unit[0]], quantity, clause)


def _counted(kind: str, quantity: Quantity, clause: Clause) -> Check:
    return Check(kind, least=quantity.least, most=quantity.most, said=clause.said)


# --- JSON

_WRITE = (
    r"(?:answer|respond|reply|return|output|produce|give|write|generate|emit|provide|format|print|present|send|deliver|"
    r"structure|organi[sz]e|express|use|using|include|show|contain|have|draft|create)"
)
_TELL = r"(?:list|summari[sz]e|explain|describe|state|compose)"
_ANSWER = r"(?:answer|response|reply|output|result|message|text|summary|report|email|document|essay|letter)"
_JSON = re.compile(
    # what is told may be about JSON, unless it is told in it
    rf"\b(?:{_WRITE}\b[^,;]{{0,60}}?|{_TELL}\b[^,;]{{0,60}}?\b(?:in|as|using|into)\b[^,;]{{0,20}}?|{_ANSWER}\b.{{0,30}}?\b(?:be|is|as|in)\b.{{0,20}}?|,\s*not\s+)"
    r"\b(?P<it>json)\b",
    _I,
)
_ABOUT = re.compile(
    r"\b(?:about|on|regarding|what|how|why|of|between|explaining|describing|the|this|these|that|your|convert)"
    r"\s+(?:a\s+|an\s+)?$",
    _I,
)
_KEYS = re.compile(r"\b(?:keys?|fields?|propert(?:y|ies)|attributes?)\b(?:\s+(?:named|called|are))?", _I)
_LITERAL = re.compile(rf"({QUOTE})\s*:")


def _json(clause: Clause) -> Iterator[Check]:
    found = _JSON.search(clause.text)
    if not found or _ABOUT.search(clause.text[: found.start("it")]):
        return
    negated = is_negated(clause.text[: found.start("it")])
    yield Check("json", negated=negated, said=clause.said)
    keys = _keys(clause)
    if keys and not negated:
        yield Check("keys", tuple(keys), said=clause.said)


def _keys(clause: Clause) -> list[str]:
    if "{" in clause.text:
        return [text for part in _LITERAL.findall(clause.text) for text in clause.quoted(part)]
    named = _KEYS.search(clause.text)
    return listed(clause, clause.text[named.end() :])[0] if named else []


# --- lists, headings, tables, signs

_SIGNS = {
    "commas": r"commas?",
    "exclamation marks": r"exclamation\s+(?:marks?|points?)",
    "question marks": r"question\s+marks?",
    "semicolons": r"semi-?colons?",
    "emojis": r"emojis?|emoticons?",
}
_NAMES = {
    "bullets": r"(?:bullet(?:ed)?(?:[\s-]points?)?|unordered)\s+lists?|(?:lists?\s+of\s+)?bullet(?:[\s-]points?|s)?",
    "numbered": r"(?:numbered|ordered|enumerated)\s+lists?",
    "headings": r"(?:markdown\s+|section\s+|sub)?head(?:ings?|ers?)",
    "table": r"(?:markdown\s+)?tables?",
}
_ITEMS = re.compile(r"items?|entries|entry|steps?|points?|elements?|reasons?|ideas?|things?", _I)
_USED = re.compile(
    rf"(?:\b{_WRITE}|\bin(?:\s+the\s+form\s+of)?|\bas|\bwith|\bunder|\binto|\bwithout|\bavoid|\bnot|\bno|\brather\s+than|"
    r"\binstead\s+of|\bcontains?|[:,])"
    r"(?:\s+(?:me|us|only|a|an|one|two|any|some|clear|short|simple|markdown|comparison|html|the\s+markdown|your\s+\w+))*\s*$|^$",
    _I,
)
_ENUMERATED = re.compile(
    rf"(?:\b(?:{'|'.join([*_NAMES.values(), *_SIGNS.values()])})\b\s*(?:,\s*(?:and\s|or\s)?|and\s|or\s)\s*)+$", _I
)
_FORBIDDEN = re.compile(r"\s+(?:are|is)\s+(?:not\s+(?:allowed|permitted|to\s+be\s+used)|forbidden|prohibited)", _I)
_AS_MANY = re.compile(rf"\b(?:{NUMBER}|than|least|most|many)\s*$", _I)


def _without_enumeration(before: str) -> tuple[str, str]:
    """What is before an enumeration of forms or signs that ends here ("avoid tables and …"), and the enumeration."""
    found = _ENUMERATED.search(before)
    return (before[: found.start()], found[0]) if found else (before, "")


def _part(kind: str) -> Detector:
    name = re.compile(rf"\b(?:{_NAMES[kind]})\b", _I)

    def detect(clause: Clause) -> Iterator[Check]:
        # what of a table is counted is its rows
        quantity = None if kind == "table" else next(quantities(clause.text, re.compile(_NAMES[kind])), None)
        if quantity:
            yield _counted(kind, quantity, clause)
            return
        for found in name.finditer(clause.text):
            before, enumeration = _without_enumeration(clause.text[: found.start()])
            if not _USED.search(before):
                continue
            rest = clause.text[found.end() :]
            if is_negated(before):
                yield Check(kind, negated=True, said=clause.said)
            elif not _OR.search(enumeration) and not re.match(r"\s+or\b", rest) and found[0].lower() != "heading":
                items = next(_items_after(rest), None)
                plain = Check(kind, least=None if kind == "table" else 1, said=clause.said)
                yield _counted(kind, items, clause) if items else plain
            return

    return detect


def _items_after(text: str) -> Iterator[Quantity]:
    """The size of a list that has just been named: "… of 5 items", "… (3 items)"."""
    for quantity in quantities(text, _ITEMS):
        if len(text[: quantity.start].split()) <= 5:
            yield quantity


def _signs(clause: Clause) -> Iterator[Check]:
    for name, pattern in _SIGNS.items():
        for found in re.finditer(rf"\b(?:{pattern})\b", clause.text, _I):
            before, _ = _without_enumeration(clause.text[: found.start()])
            if _AS_MANY.search(before):
                continue
            if is_negated(before) or _FORBIDDEN.match(clause.text[found.end() :]):
                yield Check("no", (name,), said=clause.said)


# --- case

_CASES = {
    "uppercase": re.compile(r"\b(?:all[\s-]caps|upper[\s-]?case|(?:capital|upper-case)\s+letters|capitals)\b", _I),
    "lowercase": re.compile(r"\blower[\s-]?case\b|\bsmall\s+letters\b", _I),
}
_IN_CASE = re.compile(
    r"(?:\b(?:in|be|use|using|only|all|entirely|without|no|not|avoid|contain)|^|,)"
    r"(?:\s+(?:all|only|any|entirely|your|in))*\s*$",
    _I,
)
_OF_PART = re.compile(
    r"\b(?:titles?|headings?|names?|keywords?|words?|acronyms?|labels?|keys?|first|sections?|headers?|each|every)\b", _I
)
_FOR_PART = re.compile(
    r"\s+(?:letters\s+)?(?:for|at|on)\s+(?!(?:your|the)\s+(?:entire|whole|answer|response|reply))", _I
)


def _case(clause: Clause) -> Iterator[Check]:
    named = {kind: found for kind, pattern in _CASES.items() if (found := pattern.search(clause.text))}
    # "in upper and lower case" asks for neither
    for kind, found in named.items() if len(named) == 1 else ():
        before = clause.text[: found.start()]
        if not _IN_CASE.search(before) or _OF_PART.search(before) or _FOR_PART.match(clause.text[found.end() :]):
            continue
        if not is_negated(before):
            yield Check(kind, said=clause.said)
        elif found[0].lower().startswith(("capital", "small")):
            # not any such letter
            yield Check("lowercase" if kind == "uppercase" else "uppercase", said=clause.said)
        else:
            yield Check(kind, negated=True, said=clause.said)


FORM_DETECTORS: Sequence[Detector] = (_json, *map(_part, _NAMES), _limits, _case, _signs)
