"""The prompt of a criterion: what is common to all, what the author says, and a place for each variable."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import blake2b

from genkit_eval import Prompt
from genkit_eval.prompts import fence_marks, fenced
from genkit_eval_judges.criterion import MENTION, Category, Criterion, Demonstration, Own, Variable, number_text
from genkit_eval_judges.recipe import PROMPTS

__all__ = ["criterion_prompt", "own_prompt", "spoken"]


def criterion_prompt(own: Criterion) -> Prompt:
    """The prompt that a criterion is judged with."""
    values = {
        "intent": spoken(own.intent),
        "criterion": spoken(own.criterion),
        "scale": "\n".join(_scale_lines(own)),
        "form": _reply(own, "…", _example(own)),
        "demonstrations": "".join(f"\nExample\n{_shown(own, item)}\n" for item in own.demonstrations),
    }
    return own_prompt(own, "criterion", values)


def own_prompt(own: Own, template: str, values: dict[str, str]) -> Prompt:
    """A prompt file filled in with what the author says, and after it a place for each variable.

    Args:
        template: the file's name, without its ending.
        values: the author's texts by place.
    """
    messages = Prompt.load(PROMPTS / f"{template}.prompt").render(values)
    parts = [f'{{{{role "{message.role}"}}}}\n{_literal(message.content)}' for message in messages]
    places = "\n\n".join(f"{_literal(_label(variable))}\n{{{{{variable.name}}}}}" for variable in own.shown)
    return Prompt.parse("\n".join([*parts, f'{{{{role "user"}}}}\n{places}\n']), own.name)


def spoken(text: str) -> str:
    """The author's text, which speaks of a part by its name in brackets."""
    return MENTION.sub(r"[\1]", text.strip())


def _literal(text: str) -> str:
    """A text as a prompt holds it that means the text itself."""
    return text.replace("{{", r"\{{")


def _label(variable: Variable) -> str:
    return f"[{variable.name}]" + (f" ({variable.meaning})" if variable.meaning else "") + ":"


def _key(own: Criterion) -> str:
    """What the judgement is called in the judge's reply."""
    if isinstance(own.scale, tuple):
        return "label"
    return "verdict" if own.range is None else "score"


def _reply(own: Criterion, reason: str, judgement: bool | float | str) -> str:
    if isinstance(judgement, float):
        judgement = json.loads(number_text(judgement))
    return json.dumps({"reason": reason, _key(own): judgement}, ensure_ascii=False)


def _example(own: Criterion) -> bool | float | str:
    """Some judgement on the scale."""
    if isinstance(own.scale, tuple):
        return own.scale[0].label
    return True if own.range is None else own.range.middle


def _scale_lines(own: Criterion) -> Iterator[str]:
    if isinstance(own.scale, tuple):
        yield "Choose the label that fits best, one of these:"
        yield from (_category(category) for category in own.scale)
        return
    anchors = own.anchors
    if own.range is None:
        yield "The verdict is true or false."
        named = [("true", anchors.high), ("false", anchors.low)] if anchors is not None else []
    else:
        low, high = own.range.low, own.range.high
        limits = f"{number_text(low)} to {number_text(high)}"
        yield f"The score is a number from {limits}; the more of it the criterion is met, the higher."
        ends = [(low, anchors.low), (own.range.middle, anchors.middle), (high, anchors.high)] if anchors else []
        named = [(number_text(value), text) for value, text in ends]
    yield from (f"{value}: {spoken(text)}" for value, text in named if text)


def _category(category: Category) -> str:
    return f"- {category.label}" + (f": {spoken(category.meaning)}" if category.meaning else "")


def _shown(own: Criterion, item: Demonstration) -> str:
    request = "" if item.request is None else f"[request]:\n{_marked(item.request)}\n"
    reply = _reply(own, item.justification or "…", item.score)
    return f"{request}[response]:\n{_marked(item.response)}\n{reply}"


def _marked(text: str) -> str:
    """As `fenced`, but every time by the same mark: no text holds the digest of itself."""
    marked = fenced(text)
    (mark, *_) = fence_marks(marked)
    return marked.replace(mark, f"data-{blake2b(text.encode(errors='replace'), digest_size=8).hexdigest()}")
