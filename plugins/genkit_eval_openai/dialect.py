"""How a model's server wants to be asked: what it refuses is learned from its refusals, and is never asked again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from pydantic import BaseModel, JsonValue

from genkit_eval import Image, Message
from genkit_eval.errors import ConfigError
from genkit_eval.prompts import json_instructions
from genkit_eval_openai.faults import Fault
from genkit_eval_openai.schema import response_schema

__all__ = ["Dialect", "Form", "check_config"]

Form = Literal["json_schema", "json_object", "text"]

_LADDER: Sequence[Form] = ("json_schema", "json_object", "text")

_OPTIONAL = ("temperature", "top_p", "seed", "presence_penalty", "frequency_penalty", "logprobs", "top_logprobs")
"""Parameters without which a model still does what it is asked."""

_OWN = {"model", "messages", "stream", "n", "response_format"}

_SPELLINGS = {
    "maxOutputTokens": "max_tokens",
    "max_output_tokens": "max_tokens",
    "stopSequences": "stop",
    "stop_sequences": "stop",
    "topP": "top_p",
    "topK": "top_k",
}

_instructions = lru_cache(maxsize=256)(json_instructions)


def check_config(config: Mapping[str, JsonValue]) -> None:
    """Refuse parameters that a call sets by itself.

    Raises:
        ConfigError: names the first.
    """
    for given in config:
        if _SPELLINGS.get(given, given) in _OWN:
            raise ConfigError(f"'{given}' is no parameter of a call: it is set by the call itself")


def _content(text: str, images: Sequence[Image]) -> JsonValue:
    if not images:
        return text
    parts: list[JsonValue] = [{"type": "text", "text": text}]
    return parts + [{"type": "image_url", "image_url": {"url": image.url}} for image in images]


@dataclass(frozen=True, slots=True)
class Dialect:
    """One way to ask.

    Args:
        form: how structured output is asked for.
        without: parameters that are left out.
        new_limit: the limit of tokens goes by its newer name.
        spelled_out: the schema stands in the prompt too, as the server takes it and does not look at it.
    """

    form: Form = "json_schema"
    without: frozenset[str] = frozenset()
    new_limit: bool = False
    spelled_out: bool = False

    def body(
        self,
        model: str,
        messages: Sequence[Message],
        output: type[BaseModel] | None,
        config: Mapping[str, JsonValue],
    ) -> dict[str, JsonValue]:
        """The request's body."""
        texts = [item.content for item in messages]
        body: dict[str, JsonValue] = {"model": model}
        check_config(config)
        for given, value in config.items():
            name = _SPELLINGS.get(given, given)
            if name == "max_tokens" and self.new_limit:
                name = "max_completion_tokens"
            if name not in self.without:
                body[name] = value
        if output is not None:
            if self.form == "json_schema":
                body["response_format"] = {"type": "json_schema", "json_schema": response_schema(output)}
            elif self.form == "json_object":
                body["response_format"] = {"type": "json_object"}
            if texts and (self.form != "json_schema" or self.spelled_out):
                texts[-1] = f"{texts[-1]}\n\n{_instructions(output)}"
        body["messages"] = [
            {"role": item.role, "content": _content(text, item.images)}
            for item, text in zip(messages, texts, strict=True)
        ]
        return body

    def after(self, fault: Fault, body: Mapping[str, JsonValue]) -> Dialect | None:
        """The next way to ask, after this refusal of that body; None where asking otherwise would not help."""
        if "max_tokens" in body and fault.refuses("max_tokens"):
            return replace(self, new_limit=True)
        refused = [name for name in _OPTIONAL if name in body and fault.refuses(name)]
        if refused:
            return replace(self, without=self.without | set(refused))
        if "response_format" in body and fault.refuses_format:
            return replace(self, form=_LADDER[_LADDER.index(self.form) + 1])
        return None

    def joined(self, other: Dialect) -> Dialect:
        """What both have learned."""
        return Dialect(
            form=max(self.form, other.form, key=_LADDER.index),
            without=self.without | other.without,
            new_limit=self.new_limit or other.new_limit,
            spelled_out=self.spelled_out or other.spelled_out,
        )
