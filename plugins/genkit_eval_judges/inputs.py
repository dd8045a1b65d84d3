"""What judges see of a data point: each part as a text, under the name by which prompts show it."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile

from pydantic import JsonValue

from genkit_eval import DataPoint, Message, Prompt, ToolCall, Turn, json_text
from genkit_eval.claims import numbered
from genkit_eval.errors import ConfigError, UnknownName
from genkit_eval.judged import NO_FILES, NONE, Files, NothingToJudge, files_of
from genkit_eval.prompts import fenced
from genkit_eval.text import text_of

__all__ = ["INPUTS", "Exchange", "Inputs", "answers", "inputs_of", "is_reply", "set_in", "told"]


@dataclass(frozen=True, slots=True)
class Exchange:
    """What a user said, and what was answered before the user spoke again; the answer may be missing."""

    user: str
    answer: str | None


async def inputs_of(point: DataPoint, *, answer: bool = True) -> Inputs:
    """A data point with the files that are attached to it and, if it is about the answer, those that this consists of.

    Raises:
        NothingToJudge: one of them cannot be judged by. DataError, ConfigError: one cannot be read.
    """
    return Inputs(point, await files_of(point, answer=answer))


class Inputs:
    """A data point as judges read it; what it does not have is empty."""

    def __init__(self, point: DataPoint, files: Files = NO_FILES) -> None:
        self.point, self.files = point, files

    @cached_property
    def response(self) -> str:
        """What was answered: the output, or the last turn of an assistant, with the files that it consists of."""
        made = self.files.answer.told
        return "\n\n".join(text for text in (self._said, *made) if text.strip()) if made else self._said

    @cached_property
    def _said(self) -> str:
        if self.point.has("output"):
            return text_of(self.point.output)
        spoken = [turn for turn in self.turns if turn.role == "assistant" and text_of(turn.content).strip()]
        return text_of(spoken[-1].content) if spoken else ""

    @cached_property
    def request(self) -> str:
        """What was asked: the input, or the last turn of a user before the last answer."""
        if self.point.has("input"):
            return text_of(self.point.input)
        answered = [place for place, turn in enumerate(self.turns) if answers(turn)]
        before = self.turns[: answered[-1]] if answered else self.turns
        asked = [turn for turn in before if turn.role == "user"]
        return text_of(asked[-1].content) if asked else ""

    @cached_property
    def reference(self) -> str:
        """What would have been a right answer."""
        return text_of(self.point.reference)

    @cached_property
    def retrieved(self) -> Sequence[str]:
        """The documents of the context, in order; blank ones too, as they have a rank."""
        return [text_of(document) for document in self.point.context]

    @cached_property
    def documents(self) -> Sequence[str]:
        """What an answer can stand on: the documents of the context, then the texts of attached files, page by page."""
        return [*self.retrieved, *self.attached]

    @cached_property
    def attached(self) -> Sequence[str]:
        """The attached files: the texts of those that are read, page by page, and which images are shown."""
        return self.files.attached.told

    @cached_property
    def turns(self) -> Sequence[Turn]:
        """The conversation; an output is its last turn, where the turns given are those before it."""
        given = self.point.turns or ()
        if not given or not self.point.has("output") or answers(given[-1]):
            return given
        return (*given, Turn(role="assistant", content=self.point.output))

    @cached_property
    def tools(self) -> Sequence[ToolCall]:
        """The tools that were called: those reported, else those of the turns, with what came back."""
        return _answered(self.turns) if self.point.tools is None else self.point.tools

    @cached_property
    def calls(self) -> Sequence[str]:
        """The tools that were called, each as a text: its name, its arguments, what came back."""
        return [_call(call) for call in self.tools]

    @cached_property
    def exchanges(self) -> Sequence[Exchange]:
        """The conversation as pairs: what a user said, and what was answered up to the next time.

        Of an answer in several turns and of a user who spoke several times in a row all is kept. An empty answer is
        one if the user had to speak again after it. Without turns, request and response are the one exchange.
        """
        if not self.turns:
            return [Exchange(self.request, self.response)] if self.request.strip() and self.response.strip() else []
        found: list[Exchange] = []
        for turn in self.turns:
            said = text_of(turn.content)
            if turn.role == "user":
                if found and found[-1].answer is None:
                    found[-1] = Exchange(f"{found[-1].user}\n{said}", None)
                else:
                    found.append(Exchange(said, None))
            elif found and is_reply(turn):
                answer = "\n".join(text for text in (found[-1].answer or "", said) if text.strip())
                found[-1] = Exchange(found[-1].user, answer)
        if found and not found[-1].answer:
            found[-1] = Exchange(found[-1].user, None)
        return found

    @cached_property
    def opening(self) -> Sequence[Turn]:
        """What was said before a user spoke."""
        return list(takewhile(lambda turn: turn.role != "user", self.turns))

    @cached_property
    def steps(self) -> Sequence[str]:
        """What an agent did, in order: its turns and what tools gave; the tools called, if turns know of none."""
        called = any(turn.tool_calls for turn in self.turns)
        if self.tools and not called:
            return self.calls
        return told([turn for turn in self.turns if turn.role in ("assistant", "tool") and _holds_something(turn)])

    def require(self, names: Collection[str]) -> None:
        """See to it that these parts are there.

        Raises:
            NothingToJudge: one is missing or empty.
        """
        for name in names:
            if not _text(self, name).strip():
                called = INPUTS[name].called
                raise NothingToJudge(f"there {'are' if called.endswith('s') else 'is'} no {called} to judge by")

    def values(self, names: Collection[str], **own: str) -> dict[str, str]:
        """The values of a prompt's places: each part in marks of its own, "(none)" for one that is not there.

        Args:
            names: the places.
            own: texts for places that are no part of a data point, which go in as they are.

        Raises:
            ConfigError: a place that is neither.
        """
        given = {name: own[name] if name in own else fenced(_text(self, name) or NONE) for name in names}
        place = next((name for name in _BESIDE if name in given and name not in own), None)
        if place is not None:
            given[place] = "\n\n".join((given[place], *self._unasked(names)))
        return given

    def shown(self, names: Collection[str], *, files: bool = True) -> str:
        """Parts under headings, each in marks of its own; those that are not there are left out.

        Args:
            names: the parts.
            files: whether attached files stand with them; False where the documents are shown too, as they are of them.
        """
        given = {name: _text(self, name) for name in names}
        parts = [_headed(name, text) for name, text in given.items() if text.strip()]
        asked = names if files else (*names, "attachments")
        return "\n\n".join((*parts, *(self._unasked(asked) if parts else ())))

    def _unasked(self, names: Collection[str]) -> Iterator[str]:
        """What belongs to a case though a prompt has no place for it: the assistant's system prompt, attached files."""
        if "system_prompt" not in names and self.point.system_prompt and not {"request", "turns"}.isdisjoint(names):
            yield _headed("system_prompt", self.point.system_prompt)
        if self.attached and {"attachments", "context"}.isdisjoint(names):
            yield _headed("attachments", _attached(self))
        if self.files.answer.told and "response" not in names and not {"turns", "steps"}.isdisjoint(names):
            yield _headed("answer_files", _made(self))

    def render(self, prompt: Prompt, **own: str) -> list[Message]:
        """The messages of a prompt whose places are named as the parts are; `own` as in `values`."""
        return prompt.render(self.values(prompt.inputs, **own))


@dataclass(frozen=True, slots=True)
class _Part:
    """How a part becomes a text, what messages call it, and the data point's fields that it comes from."""

    text: Callable[[Inputs], str]
    called: str
    fields: tuple[str, ...]


def told(turns: Sequence[Turn]) -> list[str]:
    """Turns as texts: who spoke and what was said, and each call of a tool."""
    return [line for turn in turns for line in _told(turn)]


def is_reply(turn: Turn) -> bool:
    """Whether an assistant speaks to the user in this turn, if only with an empty text."""
    return turn.role == "assistant" and (not turn.tool_calls or answers(turn))


def answers(turn: Turn) -> bool:
    """Whether an assistant says something in this turn, and does not only call tools."""
    return turn.role == "assistant" and bool(text_of(turn.content).strip())


def _holds_something(turn: Turn) -> bool:
    return bool(turn.tool_calls) or bool(text_of(turn.content).strip())


def set_in(text: str) -> str:
    """The text with its further lines set in, so that none can pass for the beginning of something else."""
    return "\n   ".join(text.splitlines())


def _told(turn: Turn) -> Iterator[str]:
    # what a tool gives is data, of which the keys matter too
    said = json_text(turn.content) if turn.role == "tool" and turn.content is not None else text_of(turn.content)
    if said.strip() or not turn.tool_calls:
        yield set_in(f"{turn.role}: {said}")
    for call in turn.tool_calls:
        yield f"{turn.role} calls {_call(call)}"


def _answered(turns: Sequence[Turn]) -> Sequence[ToolCall]:
    """The calls of tools in these turns. What a tool gave is of the first call of that id before it that is still open.

    Ids come back in some logs, as each turn counts from 0 again; without ids, calls are answered in their order.
    """
    calls: list[ToolCall] = []
    still_open: list[int] = []
    for turn in turns:
        still_open += [len(calls) + place for place, call in enumerate(turn.tool_calls) if not call.has("output")]
        calls += turn.tool_calls
        place = next((place for place in still_open if calls[place].id == turn.tool_call_id), None)
        if turn.role == "tool" and place is not None:
            still_open.remove(place)
            calls[place] = calls[place].model_copy(update={"output": turn.content})
    return calls


def _call(call: ToolCall) -> str:
    """One call of a tool on one line, whatever is in it: none can pass for two."""
    line = f"{call.name}({_json(call.arguments) if call.has('arguments') else ''})"
    if call.error is not None:
        line = f"{line} failed: {call.error}"
    elif call.has("output"):
        line = f"{line} -> {_json(call.output)}"
    return " ".join(line.splitlines())


def _json(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False)


def _headed(name: str, text: str) -> str:
    return f"{INPUTS[name].called.capitalize()}:\n{fenced(text)}"


def _attached(inputs: Inputs) -> str:
    return "\n\n".join(inputs.attached)


def _made(inputs: Inputs) -> str:
    return "\n\n".join(inputs.files.answer.told)


def _listed(given: str | Sequence[str] | None) -> str:
    if given is None or isinstance(given, str):
        return given or ""
    return numbered([set_in(item) for item in given if item.strip()])


def _conversation(inputs: Inputs) -> str:
    # a turn without words keeps its number among others
    return numbered(told(inputs.turns)) if any(map(_holds_something, inputs.turns)) else ""


def _catalogue(inputs: Inputs) -> str:
    return "\n".join(json_text(tool) for tool in inputs.point.tool_catalog)


INPUTS: Mapping[str, _Part] = {
    "request": _Part(lambda inputs: inputs.request, "request", ("input", "turns")),
    "response": _Part(lambda inputs: inputs.response, "answer", ("output", "turns")),
    "reference": _Part(lambda inputs: inputs.reference, "reference", ("reference",)),
    "context": _Part(
        lambda inputs: "\n\n".join(text for text in inputs.documents if text.strip()),
        "context",
        ("context", "attachments"),
    ),
    "turns": _Part(_conversation, "turns", ("turns",)),
    "tools": _Part(lambda inputs: numbered(inputs.calls), "tool calls", ("tools", "turns")),
    "tool_catalog": _Part(_catalogue, "tool catalogue", ("tool_catalog",)),
    "steps": _Part(lambda inputs: numbered(inputs.steps), "steps", ("tools", "turns")),
    "plan": _Part(lambda inputs: _listed(inputs.point.plan), "plan", ("plan",)),
    "instructions": _Part(lambda inputs: _listed(inputs.point.instructions), "instructions", ("instructions",)),
    "goal": _Part(lambda inputs: inputs.point.goal or "", "goal", ("goal",)),
    "attachments": _Part(_attached, "attached files", ("attachments",)),
    "answer_files": _Part(_made, "answer files", ("output_attachments",)),
    "system_prompt": _Part(lambda inputs: inputs.point.system_prompt or "", "system prompt", ("system_prompt",)),
}
"""The parts of a data point that prompts may show, by the name of their place."""


_BESIDE = ("request", "turns", "steps", "response")
"""Beside which part stands what a prompt has no place for: the first of these that it has one for."""


def _text(inputs: Inputs, name: str) -> str:
    part = INPUTS.get(name)
    if part is None:
        raise ConfigError(f"a prompt {UnknownName('place', name, INPUTS)}")
    return part.text(inputs)
