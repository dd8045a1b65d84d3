"""From a judge's reply to a typed answer: strict reading first, then repairs that cannot change a valid reply."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from genkit_eval.answers import NUMBER, Choice, label_key, listed
from genkit_eval.errors import no_constant
from genkit_eval.misfits import explained

__all__ = ["Unreadable", "read_answer", "read_label"]

Answer = TypeVar("Answer", bound=BaseModel)

REPAIRED_LENGTH = 50_000


class Unreadable(ValueError):
    """A reply is no answer of the asked form; the text says what is wrong, as the judge should read it."""


def read_answer(text: str, answer: type[Answer], *, judged: Callable[[], str] = str) -> Answer:
    """The answer in a reply.

    A reply that is JSON is taken as it is. Else reasoning blocks, fences and prose around one JSON object are left
    out, and as the last resort the object is repaired: trailing commas, comments, Python literals, raw line breaks,
    bad escapes. A number or word is never cut out of a longer one. An object among prose that stands in the text that
    `judged` gives as well is a quotation, not the judge's own answer. Where a label is all that an answer must have, a
    line of plain text is an answer too, as `read_label` reads it.

    Raises:
        Unreadable: nothing fits, or two different answers do.
    """
    if not text.strip():
        raise Unreadable("it is empty")
    problem: Unreadable | None = None
    found: list[Answer] = []
    for value in _values(text, answer, judged):
        try:
            read = _validated(value, answer)
        except Unreadable as found_problem:
            problem = found_problem
            continue
        if read not in found:
            found.append(read)
        if len(found) > 1:
            # not to look at thousands of them
            raise Unreadable("it holds different answers: give one")
    if not found and "{" not in text:
        found += _labelled(text, answer)
    if not found:
        raise problem or Unreadable(f"it holds no JSON object with {listed(answer.model_fields)}")
    return found[0]


def _labelled(text: str, answer: type[Answer]) -> Sequence[Answer]:
    """The answer that is a label alone, if there is one; below other lines it may be quoted from what is judged."""
    required = [(name, field) for name, field in answer.model_fields.items() if field.is_required()]
    choices = [(name, item) for name, field in required for item in field.metadata if isinstance(item, Choice)]
    alone = sum(bool(label_key(line)) for line in _without_reasoning(text).splitlines()) == 1
    if not alone or len(required) != 1 or not choices:
        return ()
    ((name, choice),) = choices
    try:
        return (answer.model_validate({name: read_label(text, choice.labels)}),)
    except Unreadable:
        return ()


def read_label(text: str, labels: Sequence[str]) -> str:
    """The label in a reply of plain text: alone on the last line, or after a word and a colon ("Label: good.").

    Raises:
        Unreadable: the line says something else; a label inside another word or a sentence does not count.
    """
    lines = [line for line in _without_reasoning(text).splitlines() if label_key(line)]
    wanted = {label_key(label): label for label in labels}
    found = dict.fromkeys(
        wanted[bare] for line in lines for bare in (label_key(line), label_key(_after_colon(line))) if bare in wanted
    )
    last = lines[-1] if lines else ""
    if len(found) != 1 or not {label_key(last), label_key(_after_colon(last))} & wanted.keys():
        raise Unreadable(f"expected {listed(labels)} and nothing else")
    return next(iter(found))


def _after_colon(line: str) -> str:
    before, colon, after = line.partition(":")
    return after if colon and len(before.split()) <= 3 else ""


def _validated(value: Any, answer: type[Answer]) -> Answer:
    try:
        value = _shaped(value, answer)
        if not isinstance(value, dict):
            raise Unreadable(f"it is no JSON object with {listed(answer.model_fields)}")
        read = answer.model_validate(value)
        if _has_nan(read):
            raise Unreadable("it holds a number that is not finite")
    except ValidationError as problem:
        raise Unreadable(explained(problem, value)) from problem
    except RecursionError:
        raise Unreadable("it is nested too deeply") from None
    return read


def _shaped(value: Any, answer: type[BaseModel]) -> Any:
    """What cannot be meant otherwise: JSON inside a JSON text, a list of one object, the value of the only field."""
    if isinstance(value, str):
        value = _parsed(value, value)
    names = list(answer.model_fields)
    if isinstance(value, list):
        alone = len(value) == 1 and isinstance(value[0], dict) and (len(names) > 1 or names[0] in value[0])
        value = value[0] if alone else {names[0]: value} if len(names) == 1 else value
    elif len(names) == 1 and (isinstance(value, int | float) or _is_number(value)):
        value = {names[0]: value}
    return _without_halves(value)


def _is_number(value: object) -> bool:
    return isinstance(value, str) and NUMBER.fullmatch(value.strip()) is not None


# --- where an answer may be ---------------------------------------------------------------------------------------


def _values(text: str, answer: type[BaseModel], judged: Callable[[], str]) -> list[Any]:
    """The values that may be the answer: the whole reply if that is JSON, else what stands among other text."""
    whole = _parsed(text, _NOTHING)
    if whole is not _NOTHING:
        # to look for another answer inside would be to change it
        return [whole]
    found = _objects(text, answer)
    if found and "{" in (shown := judged()):
        quoted = _objects(shown, answer)
        found = [value for value in found if value not in quoted]
    if not found and _is_number(text):
        found.append(text)
    return found


def _objects(text: str, answer: type[BaseModel]) -> list[Any]:
    found, broken = _embedded(text)
    return [*found, _repaired(broken, answer)] if broken else found


def _embedded(text: str) -> tuple[list[Any], str]:
    """The JSON objects among other text, or lists of them; and the rest of the text from the first broken one on."""
    found: list[Any] = []
    at = 0
    while opening := _OPENING.search(text, at):
        if _END_OF_REASONING.fullmatch(opening[0]):
            # chat templates put the opening tag into the prompt
            found, at = [], opening.end()
            continue
        if _REASONING.fullmatch(opening[0]):
            closing = _END_OF_REASONING.search(text, opening.end())
            if closing is None:
                # still thinking when it ended
                break
            at = closing.end()
            continue
        try:
            value, at = _LENIENT.raw_decode(text, opening.start())
        except Unreadable:
            raise
        except (ValueError, RecursionError):
            return found, text[opening.start() :]
        found.append(value)
    return found, ""


def _repaired(text: str, answer: type[BaseModel]) -> Any:
    """The value that a broken one was meant to be.

    Raises:
        Unreadable: there is doubt: it ends early, has a field twice, or a value that is no whole literal.
    """
    span = text[: 1 + max(text.rfind("}"), text.rfind("]"))]
    fields = dict.fromkeys(name for key, info in answer.model_fields.items() for name in (key, info.alias or key))
    if not span or len(span) > REPAIRED_LENGTH or _REASONING.search(span):
        raise Unreadable("its JSON is broken")
    if _ends_early(span):
        # a repair would close the list there, and nobody would miss what is missing
        raise Unreadable("its JSON is broken, or ends before it is whole")
    for name in fields:
        # where quotes are broken, one of them may be in a text that the reply quotes
        if len(re.findall(rf"""\b{re.escape(name)}["']?\s*:""", span)) > 1:
            raise Unreadable(f"its JSON is broken, and holds '{name}' more than once")
    if not _bare_values_are_whole(span):
        raise Unreadable("its JSON is broken: a value is neither text in quotes, nor a number, true, false or null")
    # 30 ms at import, and most replies need no repair
    import json_repair

    try:
        repaired = json_repair.loads(span, skip_json_loads=True)
    except (ValueError, RecursionError):
        raise Unreadable("its JSON is broken") from None
    if _QUOTE_INSIDE.search(_TEXTS.sub('""', span)) and _lists_texts(repaired):
        # a repair may make two texts of one
        raise Unreadable("its JSON is broken: a quote inside a text has no backslash before it")
    return repaired


def _lists_texts(value: Any) -> bool:
    items = value.values() if isinstance(value, dict) else [value]
    return any(isinstance(item, list) and any(isinstance(text, str) for text in item) for item in items)


def _parsed(text: str, otherwise: Any) -> Any:
    try:
        return _LENIENT.decode(text.strip())
    except Unreadable:
        raise
    except (ValueError, RecursionError):
        return otherwise


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is too large")
    return number


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        for key, item in pairs:
            if value[key] != item:
                raise Unreadable(f"it holds two different values of '{key}'")
    return value


_NOTHING = object()
# lenient in one thing: raw line breaks and tabs inside strings
_LENIENT = json.JSONDecoder(strict=False, parse_constant=no_constant, parse_float=_finite, object_pairs_hook=_distinct)
_KIND = r"(?:\w+:)?(?:think|thinking|thought|reasoning|reflection|analysis|scratchpad)"
# of most models, Magistral, Kimi, and the channels of gpt-oss
_BEGIN = rf"<{_KIND}(?:\s[^<>]*)?>|\[THINK\]|◁think▷|<\|channel\|>analysis<\|message\|>"
_END = rf"</{_KIND}\s*>|\[/THINK\]|◁/think▷|<\|channel\|>final<\|message\|>"
# brackets of prose are no beginning of JSON
_OPENING = re.compile(rf"""\{{(?=\s*(?:["'}}]|\w+\s*:|//|/\*|\#))|\[(?=\s*[{{\["])|{_BEGIN}|{_END}""", re.IGNORECASE)
_REASONING = re.compile(f"{_BEGIN}|{_END}", re.IGNORECASE)
_END_OF_REASONING = re.compile(_END, re.IGNORECASE)


def _without_reasoning(text: str) -> str:
    """What comes after the last block in which a model thinks aloud; nothing, if it never stopped."""
    *_, last = [None, *_REASONING.finditer(text)]
    if last is None:
        return text
    return text[last.end() :] if _END_OF_REASONING.fullmatch(last[0]) else ""


# a text without an end goes up to that of the reply: to look for its end from every quote on would take seconds
_TEXT = r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)'
_SINGLE = _TEXT.replace('"', "'")
_TEXTS = re.compile(_TEXT, re.DOTALL)
_ASIDE = re.compile(rf"{_TEXT}|{_SINGLE}|/\*.*?(?:\*/|\Z)|(?://|#)[^\n]*", re.DOTALL)
_QUOTE_INSIDE = re.compile(r'""\s*[^\s,:\]}/\#]')
_BARE_VALUE = re.compile(r"""["'\w]\s*:\s*([^\s"'{\[][^,}\]\n"']*)""")
_COMMENT = re.compile(r"//.*|#.*|/\*.*?\*/|/\*.*", re.DOTALL)
_WHOLE_VALUE = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?|true|false|null|True|False|None")


def _ends_early(span: str) -> bool:
    """Whether brackets or a text are still open at the end: its last bracket may be one inside a text that was cut."""
    bare = _ASIDE.sub("", span)
    return bare.count("{") + bare.count("[") > bare.count("}") + bare.count("]")


def _bare_values_are_whole(span: str) -> bool:
    """Whether each value without quotes is one whole literal: a repair would make 80 of 80%, and 0 of 0. 8."""
    bare = (_COMMENT.sub("", value).strip() for value in _BARE_VALUE.findall(_TEXTS.sub('""', span)))
    return all(not value or _WHOLE_VALUE.fullmatch(value) for value in bare)


# --- what it may hold ---------------------------------------------------------------------------------------------


def _without_halves(value: Any) -> Any:
    """Halves of surrogate pairs become the replacement character: no file can hold them."""
    if isinstance(value, str):
        halved = not value.isascii() and _HALF.search(value)
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if halved else value
    if isinstance(value, dict):
        return {_without_halves(key): _without_halves(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_halves(item) for item in value]
    return value


_HALF = re.compile(r"[\ud800-\udfff]")


def _has_nan(value: Any) -> bool:
    if isinstance(value, float):
        return not math.isfinite(value)
    if value is None or isinstance(value, str | int):
        # what most are, before what takes longer to ask
        return False
    if isinstance(value, BaseModel):
        # with fields that it was not asked for
        value = vars(value) | (value.model_extra or {})
    if isinstance(value, Mapping):
        return any(_has_nan(item) for item in value.values())
    return isinstance(value, list | tuple | set | frozenset) and any(_has_nan(item) for item in value)
