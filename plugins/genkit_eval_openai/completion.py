"""What a chat completion says: why it ended is looked at before anything else is read."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from pydantic import JsonValue

from genkit_eval import Image, Reply, Usage
from genkit_eval.errors import ModelErrorKind
from genkit_eval.http_faults import start_of
from genkit_eval.models import CUT_OFF, FILTERED, TokenLogprob
from genkit_eval_openai.faults import OpenAIError

__all__ = ["reply_from"]

_REFUSED = {"refusal"}


def reply_from(answer: Mapping[str, JsonValue], *, model: str, redact: Callable[[str], str] = str) -> Reply:
    """The reply in a chat completion.

    Args:
        answer: the completion.
        model: the name that errors go by.
        redact: takes keys out of what the model said: a gateway may put its request into the text.

    Raises:
        OpenAIError: there is none, or none that may be read: cut off, filtered, refused, empty.
    """
    choices = answer.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise _error("empty", "answered without any choice: the server, or a gateway before it, is at fault", model)
    found = choice.get("finish_reason")
    finish = found if isinstance(found, str) else None
    said = _text(message.get("content"))
    text = None if said is None else redact(said)
    refusal = message.get("refusal")
    _refuse_unusable((finish or "").lower(), text, redact(refusal) if isinstance(refusal, str) else "", message, model)
    served, images = answer.get("model"), _images(message)
    reply = Reply(
        text=text or "",
        finish_reason=finish,
        usage=_usage(answer.get("usage")),
        model=redact(served) if isinstance(served, str) and served else None,
        logprobs=_logprobs(choice.get("logprobs")),
    )
    return reply.model_copy(update={"images": images}) if images else reply


def _refuse_unusable(finish: str, text: str | None, refusal: str, message: Mapping[str, JsonValue], model: str) -> None:
    if finish in FILTERED:
        raise _error("content_filter", "was stopped by the server's content filter", model, text)
    if refusal.strip() or finish in _REFUSED:
        raise _error("refused", f"refused: {start_of(refusal or text or '')!r}", model, refusal or text)
    if finish in CUT_OFF:
        problem = "reached its limit of tokens before its answer was whole: raise max_output_tokens, or ask for less"
        raise _error("length", problem, model, text)
    if text is None and message.get("tool_calls"):
        raise _error("empty", "called a tool and said nothing, though no tool was offered", model)
    if text is None and not _images(message):
        raise _error("empty", "said nothing: there is no content in its answer", model)


def _error(kind: ModelErrorKind, problem: str, model: str, text: str | None = None) -> OpenAIError:
    return OpenAIError(f"{model} {problem}", kind=kind, model=model, text=text or "")


def _text(content: JsonValue) -> str | None:
    """The content as text, None if there is none (which is not an empty one); some servers give it in parts."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else None


def _images(message: Mapping[str, JsonValue]) -> list[Image]:
    """The images that it made, beside the text or among its parts, as gateways to several models give them."""
    found = []
    for key in ("images", "content"):
        parts = message.get(key)
        for part in parts if isinstance(parts, list) else ():
            given = part.get("image_url") if isinstance(part, dict) else None
            image = Image.of_url(given.get("url") if isinstance(given, dict) else given)
            if image is not None:
                found.append(image)
    return found


def _usage(given: JsonValue) -> Usage | None:
    """What the server counted; what is missing or no count stays unknown."""
    if not isinstance(given, dict):
        return None
    told = given.get("prompt_tokens_details")
    details = told if isinstance(told, dict) else {}
    tokens_in, tokens_out, both = (_count(given.get(f"{what}_tokens")) for what in ("prompt", "completion", "total"))
    if tokens_in is not None and tokens_out is not None and both is not None:
        # some servers count what the model thought, which is to be paid, in the total alone
        tokens_out = max(tokens_out, both - tokens_in)
    counts = {
        "input_tokens": tokens_in,
        "output_tokens": tokens_out,
        "cached_tokens": _count(details.get("cached_tokens")),
        "written_tokens": _count(details.get("cache_write_tokens")),
    }
    known = {name: count for name, count in counts.items() if count is not None}
    return Usage(**known) if known else None


def _count(value: JsonValue) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _logprobs(given: JsonValue) -> list[TokenLogprob] | None:
    tokens = given.get("content") if isinstance(given, dict) else None
    if not isinstance(tokens, list):
        return None
    found: list[TokenLogprob] = []
    for item in tokens:
        pair = _token(item)
        if pair is None or not isinstance(item, dict):
            return None
        tops = item.get("top_logprobs")
        pairs = [_token(top) for top in tops] if isinstance(tops, list) else []
        found.append(TokenLogprob(token=pair[0], logprob=pair[1], alternatives=dict(p for p in pairs if p is not None)))
    return found


def _token(item: JsonValue) -> tuple[str, float] | None:
    if not isinstance(item, dict):
        return None
    token, logprob = item.get("token"), item.get("logprob")
    if not isinstance(token, str) or not isinstance(logprob, int | float) or not math.isfinite(logprob):
        return None
    return token, float(logprob)
