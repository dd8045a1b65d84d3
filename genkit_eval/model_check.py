"""What a model can do, found out by four small calls: what `genkit-eval doctor --model` tells."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, JsonValue, ValidationError

from genkit_eval.errors import ModelError
from genkit_eval.health import Fact
from genkit_eval.models import Image, Message, Model, Reply, model_sees
from genkit_eval.replies import Unreadable, read_answer

__all__ = ["check_model"]

_PARAMETERS: Mapping[str, JsonValue] = {
    "temperature": 0,
    "seed": 7,
    "max_output_tokens": 2000,
    "logprobs": True,
    "top_logprobs": 2,
}


_YES = Message(role="user", content="Reply with the word yes.")
_BLUE = Message(role="user", content="Is a clear sky at noon blue? Give the reason, then the verdict, as JSON.")


_RED = (
    "iVBORw0KGgoAAAANSUhEUgAAAEAAAABAAQMAAACQp+OdAAAAA1BMVEX/AAAZ4gk3AAAAD0lEQVR42mNgGAWjgHwAAAJAAAHg"
    "TR1EAAAAAElFTkSuQmCC"
)
"""A square of 64 x 64, as a PNG in base64."""
_WHICH = Message(
    role="user",
    content="Which colour is this image? Reply with one word.",
    images=(Image(media_type="image/png", data=_RED),),
)


class _Colour(BaseModel):
    reason: str
    is_blue: bool


async def check_model(model: Model, name: str) -> list[Fact]:
    """Ask it for a word, for an object, for a word with the parameters that judges set, and for the colour of an image.

    It is asked no more if it is mute.
    """
    section = f"model {name}"
    try:
        reply = await model.generate([_YES])
    except ModelError as problem:
        return [Fact(section, "answers", str(problem), bad=True)]
    facts = [
        Fact(section, "answers", f"yes, as {reply.model}" if reply.model else "yes"),
        Fact(section, "usage", _usage(reply)),
        await _structured(model, section),
        await _parameters(model, section),
        await _images(model, section),
    ]
    # a model may tell more than the protocol asks of it
    abilities = getattr(model, "abilities", None)
    if isinstance(abilities, Mapping):
        facts += [Fact(section, str(ability), str(value)) for ability, value in abilities.items()]
    return facts


def _usage(reply: Reply) -> str:
    usage = reply.usage
    if usage is None or usage.input_tokens is None or usage.output_tokens is None:
        return "not reported: what calls cost will be unknown"
    return f"reported ({usage.input_tokens} tokens in, {usage.output_tokens} out)"


async def _structured(model: Model, section: str) -> Fact:
    try:
        reply = await model.generate([_BLUE], output=_Colour)
        read_answer(reply.text, _Colour)
    except ModelError as problem:
        return Fact(section, "JSON", str(problem), bad=True)
    except Unreadable as problem:
        return Fact(section, "JSON", f"does not fit the schema asked for: {problem}", bad=True)
    try:
        _Colour.model_validate_json(reply.text)
    except ValidationError:
        return Fact(section, "JSON", "fits the schema asked for, once it is mended")
    return Fact(section, "JSON", "fits the schema asked for")


async def _parameters(model: Model, section: str) -> Fact:
    try:
        reply = await model.generate([_YES], config=_PARAMETERS)
    except ModelError as problem:
        return Fact(section, "parameters", str(problem), bad=True)
    logprobs = "with" if reply.logprobs else "without"
    return Fact(section, "parameters", f"the call succeeds {logprobs} log-probabilities")


async def _images(model: Model, section: str) -> Fact:
    if model_sees(model) is False:
        return Fact(section, "images", "takes none")
    try:
        reply = await model.generate([_WHICH])
    except ModelError as problem:
        found = "takes none" if problem.kind == "no_images" else f"not found out: {problem}"
        return Fact(section, "images", found)
    seen = "red" in reply.text.lower()
    return Fact(section, "images", "sees them" if seen else "lets them pass, and does not tell a red one")
