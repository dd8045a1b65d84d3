"""A model as a target: text or messages in, text or JSON out, with what it cost."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import lru_cache, partial
from typing import Any

from pydantic import BaseModel, ConfigDict, JsonValue, create_model

from genkit_eval._json import json_form, json_text
from genkit_eval.definitions import Flow
from genkit_eval.engine.targets.recording import TargetResult
from genkit_eval.errors import ConfigError, DataError, ModelError
from genkit_eval.model_calls import generate
from genkit_eval.models import Image, Message, Model, Reply
from genkit_eval.redaction import looks_like_key

__all__ = ["MODEL", "ModelTarget", "model_target"]

MODEL = "/model/"

_ROLES = {"system": "system", "user": "user", "assistant": "assistant", "model": "assistant"}


@dataclass(frozen=True)
class ModelTarget:
    """A model as the target of a run, with parameters for all its calls.

    Args:
        model: "provider/name".
        config: like `{"temperature": 0.5}`; a sample's own parameters are kept, but for those that are named here.

    Raises:
        ConfigError: the parameters are no JSON object, or would put a key into the run file.
    """

    model: str
    _: KW_ONLY
    config: Mapping[str, JsonValue]

    def __post_init__(self) -> None:
        if not isinstance(self.config, Mapping):
            raise ConfigError(f"the config of target '{self.model}' is {self.config!r}: give an object of parameters")
        try:
            form = json_form(self.config)
        except DataError as problem:
            raise ConfigError(f"the config of target '{self.model}': {problem}") from None
        if looks_like_key(json_text(form)):
            raise ConfigError(
                f"the config of target '{self.model}' holds what looks like a key, and would be kept with the run: "
                "give it where the provider of the model is set up"
            )


def model_target(model: Model, name: str, config: Mapping[str, JsonValue] | None = None) -> Flow:
    """The target "/model/name": what it is called with is a sample's input.

    That is a text, a list of messages, or Genkit's request: an object with `messages`, and perhaps `config` (parameters
    of the call) and `output` (`{"format": "json"}` or `{"schema": {…}}`, for an output of JSON). A reply that was
    refused or cut off is the target's error. Images of the reply are attachments of the output. The run's own `config`
    goes before that of a sample, key by key.
    """
    kept = None if config is None else json_form(config)
    return Flow(name=name, fn=partial(_generated, model, kept or {}), is_async=True, kind="model", config=kept)


async def _generated(model: Model, of_run: Mapping[str, JsonValue], value: JsonValue) -> TargetResult:
    request = value if isinstance(value, dict) and "messages" in value else {"messages": value}
    wanted = _wanted(request.get("output"))
    of_sample = request.get("config") or {}
    if not isinstance(of_sample, Mapping):
        raise DataError("'config' of a model's input is an object of parameters")
    config = {**of_sample, **of_run}
    return await generate(
        model, _messages(request["messages"]), output=wanted, config=config or None, read=partial(_result, wanted)
    )


def _result(wanted: type[BaseModel] | None, reply: Reply) -> TargetResult:
    if reply.refusal:
        raise ModelError(f"the model refused: {reply.refusal[:300]!r}", kind="refused", text=reply.refusal)
    if reply.cut_off:
        raise ModelError("the reply was cut off by the limit of tokens: raise it", kind="length", text=reply.text)
    if reply.filtered:
        raise ModelError("the provider's content filter stopped the reply", kind="content_filter", text=reply.text)
    made = {"attachments": [image.url for image in reply.images]} if reply.images else {}
    return TargetResult(reply.text if wanted is None else _parsed(reply.text), made)


def _messages(given: JsonValue) -> list[Message]:
    if isinstance(given, str):
        return [Message(role="user", content=given)]
    if not isinstance(given, list) or not given:
        raise DataError(
            f"the input of a model is a text, a list of messages, or an object with 'messages': found {_kind(given)}"
        )
    return [_message(item, number) for number, item in enumerate(given, 1)]


def _message(given: JsonValue, number: int) -> Message:
    fields = given if isinstance(given, dict) else {}
    role = _ROLES.get(str(fields.get("role")))
    content = fields.get("content")
    parts: list[JsonValue] = content if isinstance(content, list) else [{"text": content}]
    texts = [text for part in parts if isinstance(part, dict) and isinstance(text := part.get("text"), str)]
    images = [image for part in parts if (image := _image(part)) is not None]
    if role is None or len(texts) + len(images) != len(parts):
        raise DataError(
            f"message {number} of a model's input is not one of text and images: expected a role (system, user, model) "
            "and a content, which is a text or a list of {'text': …} and {'media': {'url': 'data:image/…;base64,…'}}"
        )
    said = Message(role=role, content="".join(texts))
    return said.model_copy(update={"images": tuple(images)}) if images else said


def _image(part: JsonValue) -> Image | None:
    """Genkit's form of an image that stands whole in its address."""
    media = part.get("media") if isinstance(part, dict) else None
    return Image.of_url(media.get("url")) if isinstance(media, dict) else None


def _wanted(output: JsonValue) -> type[BaseModel] | None:
    """The shape that a request asks for, or None for text."""
    if not isinstance(output, dict):
        return None
    schema = output.get("schema") or output.get("jsonSchema")
    if isinstance(schema, dict):
        return _shape(json.dumps(schema))
    return _shape("") if output.get("format") == "json" else None


@lru_cache(maxsize=64)
def _shape(schema: str) -> type[BaseModel]:
    """A model class that stands for a JSON Schema; for any object if there is none."""
    shape = create_model("Output", __config__=ConfigDict(extra="allow"))
    if schema:
        found = json.loads(schema)

        def model_json_schema(cls: type[BaseModel], *args: Any, **kwargs: Any) -> dict[str, Any]:
            # whoever gets it may change it
            return copy.deepcopy(found)

        shape.model_json_schema = classmethod(model_json_schema)  # type: ignore[method-assign, assignment]
    return shape


def _parsed(text: str) -> JsonValue:
    try:
        found: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        raise ModelError(
            f"the reply is not the JSON that was asked for: it begins {text.strip()[:200]!r}",
            kind="unparsable",
            text=text,
        ) from None
    return found


def _kind(value: JsonValue) -> str:
    names: Sequence[tuple[type, str]] = (
        (bool, "a boolean"),
        (int, "a number"),
        (float, "a number"),
        (dict, "an object"),
    )
    return next((name for kind, name in names if isinstance(value, kind)), "nothing" if not value else "a list")
