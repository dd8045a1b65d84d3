"""Answers in the form that a call asks for, each by the call alone: the same call gets the same answer."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

from pydantic import BaseModel, JsonValue

from genkit_eval.models import Message
from genkit_eval.prompts import FORM_FOLLOWS
from genkit_eval.testing.answers import Answer, Call, chat_answer

__all__ = ["in_form", "reply_in_form", "task_of"]

_FENCE = re.compile(r"data-[0-9a-f]{16}")
_NUMBERED = re.compile(r"^\s*(\d+)[.:)]\s", re.MULTILINE)
_WORDS = ("amber", "birch", "copper", "delta", "ember", "fjord", "grove", "harbour")


def task_of(call: Call) -> str:
    """What a call asks for, without the random marks of its fences; a re-ask of the same task has the same."""
    body = call.body if isinstance(call.body, dict) else {}
    messages = body.get("messages")
    if not isinstance(messages, list):
        return call.text()
    return _task([message for message in messages if isinstance(message, dict)])


def _task(messages: Sequence[Mapping[str, JsonValue]]) -> str:
    return _FENCE.sub("data", "\n".join(f"{message.get('role')}: {_said(message)}" for message in messages[:2]))


def _said(message: Mapping[str, JsonValue]) -> str:
    """What a message says, without the form that some servers have to be told of in words."""
    content = message.get("content")
    # a text with images comes in parts
    parts = content if isinstance(content, list) else [{"text": content}]
    said = "\n".join(str(part.get("text", part) if isinstance(part, dict) else part) for part in parts)
    return said.partition(f"\n{FORM_FOLLOWS}")[0].rstrip()


def in_form(call: Call) -> Answer:
    """A chat answer that is valid JSON by the schema asked for, or some words where none is.

    Numbers lie within the schema's bounds, true and false are drawn by the task. A list of objects with a number gets
    as many as the schema asks for, or one for each line of the task's first numbered list, as lists of verdicts want
    it; any other list gets two.
    """
    return chat_answer(_reply(task_of(call), _schema(call.body)))


def reply_in_form(messages: Sequence[Message], output: type[BaseModel] | None) -> str:
    """What a model would reply to these messages that answers as `in_form` does."""
    task = _task([message.to_json() for message in messages])
    return _reply(task, None if output is None else output.model_json_schema())


def _reply(task: str, schema: Mapping[str, Any] | None) -> str:
    seed = int.from_bytes(blake2b(task.encode(errors="replace"), digest_size=8).digest())
    if schema is None:
        return " ".join(_WORDS[seed >> shift & 7] for shift in range(0, 24, 3))
    return json.dumps(_Values(schema, task).value(schema, seed))


def _schema(body: JsonValue) -> Mapping[str, Any] | None:
    form: Any = body.get("response_format") if isinstance(body, dict) else None
    wanted = form.get("json_schema") if isinstance(form, dict) else None
    found = wanted.get("schema") if isinstance(wanted, dict) else None
    return found if isinstance(found, dict) else None


class _Values:
    """Values by a schema; what its references name is looked up in the whole."""

    def __init__(self, whole: Mapping[str, Any], task: str) -> None:
        self._definitions = whole.get("$defs", {})
        # the lines of the last message of the task: examples come before, and other lists after
        found = [int(number) for number in _NUMBERED.findall(task.rpartition("\nuser: ")[2])]
        again = next((place for place in range(1, len(found)) if found[place] <= found[place - 1]), len(found))
        self._numbers = found[:again]

    def value(self, schema: Mapping[str, Any], seed: int) -> JsonValue:
        """A value that is valid by this schema."""
        if "$ref" in schema:
            return self.value(self._definitions[schema["$ref"].rpartition("/")[2]], seed)
        if "const" in schema or "enum" in schema:
            choices: list[JsonValue] = [schema["const"]] if "const" in schema else schema["enum"]
            return choices[seed % len(choices)]
        for word in ("anyOf", "oneOf", "allOf"):
            if word in schema:
                return self.value(schema[word][0], seed)
        return self._of_kind(schema, seed)

    def _of_kind(self, schema: Mapping[str, Any], seed: int) -> JsonValue:
        kind = schema.get("type")
        if kind == "object":
            properties = schema.get("properties", {})
            return {name: self.value(inner, seed >> place) for place, (name, inner) in enumerate(properties.items())}
        if kind == "array":
            least = schema.get("minItems")
            return self._list(schema.get("items", {}), seed, least if least == schema.get("maxItems") else None)
        if kind == "boolean":
            return bool(seed & 1)
        if kind in ("integer", "number"):
            return _number(schema, seed, whole=kind == "integer")
        return f"{_WORDS[seed & 7]} {_WORDS[seed >> 3 & 7]}"

    def _list(self, items: Mapping[str, Any], seed: int, count: int | None) -> list[JsonValue]:
        inner = self._definitions.get(str(items.get("$ref")).rpartition("/")[2], items)
        properties = inner.get("properties", {})
        numbers = self._numbers if count is None else range(1, count + 1)
        if "number" not in properties or not numbers:
            return [self.value(items, seed >> place) for place in range(2)]
        filled: list[JsonValue] = []
        for place, number in enumerate(numbers):
            value = self.value(items, seed >> (place % 48))
            filled.append({**value, "number": number} if isinstance(value, dict) else value)
        return filled


def _number(schema: Mapping[str, Any], seed: int, *, whole: bool) -> float:
    low, high = schema.get("minimum", 0), schema.get("maximum", 1)
    return int(low) + seed % (int(high) - int(low) + 1) if whole else low + (seed % 101) / 100 * (high - low)
