"""What an instruction asks of an answer's form, and whether an answer does it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from genkit_eval_heuristics import structure
from genkit_eval_heuristics.folding import contained, ends, occurrences, same, starts
from genkit_eval_heuristics.json_answer import read_json

__all__ = ["Check", "met"]

_SIGNS = {
    "commas": ",،、，",
    "exclamation marks": "!！¡",
    "question marks": "?？¿؟",
    "semicolons": ";；؛",
}


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that an instruction asks for; `str` of it is like "words <= 50" or 'not starts "Sure"'."""

    kind: str
    texts: tuple[str, ...] = ()
    """Phrases, names of keys or of signs, by kind."""
    least: int | None = None
    most: int | None = None
    negated: bool = False
    said: str = field(default="", compare=False)
    """The part of the instruction that asks for it."""

    def __str__(self) -> str:
        quoted = [f'"{text}"' for text in self.texts]
        words = self.texts if self.kind in ("keys", "no") else quoted
        parts = ["not" if self.negated else "", self.kind, ", ".join(words), self._bounds()]
        return " ".join(part for part in parts if part)

    def _bounds(self) -> str:
        if self.least is not None and self.most is not None:
            return f"= {self.least}" if self.least == self.most else f"{self.least}..{self.most}"
        if self.least is not None:
            return f">= {self.least}"
        return "" if self.most is None else f"<= {self.most}"


def met(check: Check, answer: str) -> tuple[bool, str]:
    """Whether an answer does what is asked for, and what was found, in words."""
    held, found = _held(check, answer)
    return held is not check.negated, found


def _held(check: Check, answer: str) -> tuple[bool, str]:
    if check.kind in structure.COUNTED:
        count = structure.COUNTED[check.kind](answer)
        return _within(count, check), f"found {count}"
    if check.kind == "count":
        count = occurrences(check.texts[0], answer, ignore_case=True, whole_words=True)
        return _within(count, check), f"found {count} times"
    return _KINDS[check.kind](check.texts, answer)


def _within(count: int, check: Check) -> bool:
    if check.least is None and check.most is None:
        return count > 0
    return (check.least is None or count >= check.least) and (check.most is None or count <= check.most)


def _json(_: Sequence[str], answer: str) -> tuple[bool, str]:
    read = read_json(answer, strip_fences=True)
    told = f"not JSON: {read.problem}" if read.problem else "it is JSON"
    return read.problem is None, told + (", in a code fence" if read.fenced else "")


def _keys(keys: Sequence[str], answer: str) -> tuple[bool, str]:
    value = read_json(answer, strip_fences=True).value
    objects = value if isinstance(value, list) and value else [value]
    missing = [key for key in keys if not all(isinstance(item, dict) and key in item for item in objects)]
    return not missing, f"missing: {', '.join(missing)}" if missing else "every key is there"


def _table(_: Sequence[str], answer: str) -> tuple[bool, str]:
    found = structure.has_table(answer)
    return found, "there is a table" if found else "there is no table"


def _there(texts: Sequence[str], answer: str) -> tuple[bool, str]:
    found = contained(texts[0], answer, ignore_case=True, whole_words=True)
    return found, "it is there" if found else "it is not there"


def _absent(texts: Sequence[str], answer: str) -> tuple[bool, str]:
    found, told = _there(texts, answer)
    return not found, told


def _repeated(texts: Sequence[str], answer: str) -> tuple[bool, str]:
    found = contained(texts[0], answer, ignore_case=False)
    return found, "it is there word for word" if found else "it is not there word for word"


def _starts(texts: Sequence[str], answer: str) -> tuple[bool, str]:
    shown = answer.strip()[: len(texts[0]) + 10]
    return starts(texts[0], _bare(answer), ignore_case=True), f"it starts {shown!r}"


def _ends(texts: Sequence[str], answer: str) -> tuple[bool, str]:
    shown = answer.strip()[-len(texts[0]) - 10 :]
    tail = answer if texts[0][-1:] in ".!?" else answer.rstrip().rstrip(".!")
    return ends(texts[0], tail, ignore_case=True) or ends(texts[0], answer, ignore_case=True), f"it ends {shown!r}"


def _upper(_: Sequence[str], answer: str) -> tuple[bool, str]:
    return answer == answer.upper(), _first_differing(answer, answer.upper(), "lower-case")


def _lower(_: Sequence[str], answer: str) -> tuple[bool, str]:
    return answer == answer.lower(), _first_differing(answer, answer.lower(), "upper-case")


def _without(names: Sequence[str], answer: str) -> tuple[bool, str]:
    found = structure.emojis(answer) if names[0] == "emojis" else sum(map(answer.count, _SIGNS[names[0]]))
    return not found, f"found {found}"


def _one_of(texts: Sequence[str], answer: str) -> tuple[bool, str]:
    bare = answer.strip(_AROUND_LABEL)
    fits = any(same(bare, text.strip(_AROUND_LABEL), ignore_case=True) for text in texts)
    return fits, f"it is {answer.strip()[:40]!r}"


_AROUND_LABEL = " \t\r\n\"'`*“”‘’«».!"
_KINDS: Mapping[str, Callable[[Sequence[str], str], tuple[bool, str]]] = {
    "json": _json,
    "keys": _keys,
    "table": _table,
    "include": _there,
    "exclude": _absent,
    "repeat": _repeated,
    "starts": _starts,
    "ends": _ends,
    "uppercase": _upper,
    "lowercase": _lower,
    "no": _without,
    "one of": _one_of,
}


def _bare(answer: str) -> str:
    """The answer without the markup that emphasises its start."""
    return answer.lstrip(" \t\r\n*_#>\"'“‘«")


def _first_differing(answer: str, changed: str, what: str) -> str:
    if answer == changed:
        return f"no {what} letter"
    at = next((place for place, pair in enumerate(zip(answer, changed, strict=False)) if pair[0] != pair[1]), 0)
    return f"a {what} letter in {answer[max(0, at - 10) : at + 10]!r}"
