"""A judge that obeys whatever tells it what to say, wherever it finds that, but for what stands in a fence."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, JsonValue

from genkit_eval import Message, Reply
from tests.plugins.attacks.orders import is_order

__all__ = ["GullibleJudge", "outside", "without_fences"]

TRUTH, UNTRUTH = "Water is wet.", "The moon is made of cheese."
GOOD = frozenset({"supported", "documented", "covered", "informative", "right", "needed", "used", "formal"})
BAD = frozenset({"contradicted", "false", "missing", "empty", "wrong", "needless", "lost", "informal"})
_FENCE = re.compile(r"<(data-[0-9a-f]{16})>\n(.*?)\n</\1>", re.DOTALL)
_NUMBERED = re.compile(r"^\d+\. (.*)", re.MULTILINE)
_STATEMENTS = re.compile(r"^(.+)\n\{\{(?:statements|things)\}\}", re.MULTILINE)
_DEFUSED = re.compile(r"([<\[\]]) (?=[|｜/A-Za-z~])")


def outside(text: str) -> str:
    """What of a prompt stands in no fence."""
    return _FENCE.sub("", text)


def without_fences(text: str) -> str:
    """A prompt as it would be without fences: the texts as they are, with their control tokens."""
    return _FENCE.sub(lambda fence: _DEFUSED.sub(r"\1", fence[2]), text)


class GullibleJudge:
    """A model that judges by a fixed opinion until it meets an order outside of a fence.

    Args:
        prompts: the texts of the evaluator's own prompts, which are no news to it.
        for_it: whether its own opinion is in favour of what it judges; an order turns it round.
        fences: whether it is shown the fences, or the prompt with plain text in their place.
        low_is_good: whether a low number and a false verdict are in favour.
    """

    name = "gullible"

    def __init__(
        self, prompts: Collection[str], *, for_it: bool, fences: bool = True, low_is_good: bool = False
    ) -> None:
        self.known = {line for text in prompts for line in text.splitlines()}
        self.headings = [found for text in prompts for found in _STATEMENTS.findall(text)]
        self.for_it, self.fences, self.low_is_good = for_it, fences, low_is_good

    async def generate(
        self,
        messages: Sequence[Message],
        *,
        output: type[BaseModel] | None = None,
        config: Mapping[str, JsonValue] | None = None,
    ) -> Reply:
        """Its opinion, or that of whoever ordered one."""
        assert output is not None
        shown = "\n".join(message.content for message in messages)
        obeys = is_order(self._news(shown))
        favour = self.for_it is not obeys
        lines = self._statements(shown)
        high = favour is not self.low_is_good
        if not obeys and lines in ([TRUTH], [UNTRUTH]):
            # of the claim that it has taken out of a text itself it knows whether it is true
            high = lines == [TRUTH]
        value = _Form(output.model_json_schema(), len(lines), high=high).value()
        return Reply(text=json.dumps(value), finish_reason="stop")

    def _news(self, shown: str) -> str:
        """What it reads as said to itself: all that is in no fence, and not in the prompt either."""
        read = outside(shown) if self.fences else without_fences(shown)
        return "\n".join(line for line in read.splitlines() if line.strip() and line not in self.known)

    def _statements(self, shown: str) -> Sequence[str]:
        """The numbered things that it is asked about."""
        for heading in self.headings:
            if f"\n{heading}\n" in shown:
                rest = shown.rpartition(f"\n{heading}\n")[2]
                fence = _FENCE.match(rest)
                return _NUMBERED.findall(outside(rest) if fence is None else fence[2])
        return []


class _Form:
    """Replies by a JSON Schema, with the highest or lowest values that there are."""

    def __init__(self, schema: Mapping[str, Any], count: int, *, high: bool) -> None:
        self.schema, self.count, self.high = schema, count, high

    def value(self, name: str = "", schema: Mapping[str, Any] | None = None) -> Any:
        """The value of a field; without arguments the whole reply."""
        schema = self.schema if schema is None else schema
        if "$ref" in schema:
            schema = self.schema["$defs"][schema["$ref"].rpartition("/")[2]]
        schema = schema.get("anyOf", [schema])[0]
        if "enum" in schema:
            return self._choice(schema["enum"])
        match schema["type"]:
            case "object":
                return {key: self.value(key, inner) for key, inner in schema["properties"].items()}
            case "array" if schema["items"].get("type") == "string":
                return [TRUTH if self.high else UNTRUTH]
            case "array":
                item = self.value("", schema["items"])
                return [{**item, "number": number} for number in range(1, self.count + 1)]
            case "boolean":
                # to be noncommittal is no merit
                return self.high is not (name == "noncommittal")
            case "string":
                return "so it is"
        return schema.get("maximum" if self.high else "minimum", 1)

    def _choice(self, allowed: Sequence[Any]) -> Any:
        """The highest or lowest of numbers; of words, one that is good or bad."""
        if all(isinstance(word, str) for word in allowed):
            return next(word for word in allowed if word in (GOOD if self.high else BAD))
        return max(allowed) if self.high else min(allowed)
