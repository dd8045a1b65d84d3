"""What a server says when it gives no answer: read from the many forms there are, as an error that says what to do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from genkit_eval.errors import ModelError, ModelErrorKind
from genkit_eval.http_faults import kind_of_status, retry_after, start_of
from genkit_eval.redaction import Redactor

__all__ = ["Fault", "OpenAIError"]

_QUOTA = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}
_FILTER = {"content_filter", "content_policy_violation", "responsibleaipolicyviolation"}
_WINDOW = {"context_length_exceeded", "exceed_context_size_error"}
_WINDOW_WORDS = re.compile(
    r"context (length|size|window)|maximum context|prompt is too long|too many tokens", re.IGNORECASE
)
_STATUSES = {
    "rate_limit_exceeded": 429,
    "rate_limit_error": 429,
    "too_many_requests": 429,
    "authentication_error": 401,
    "invalid_api_key": 401,
    "overloaded_error": 529,
    "overloaded": 529,
    "server_error": 500,
    "internal_error": 500,
    "internal_server_error": 500,
    "service_unavailable": 503,
}
_UNKNOWN = re.compile(
    r"unsupported|not (be )?supported|(does not|doesn't) support|unknown|unrecogni[sz]ed|unexpected|deprecated"
    r"|not (permitted|allowed)|only the default|extra (inputs|fields)|extra_forbidden",
    re.IGNORECASE,
)
_FORMAT = re.compile(r"response_?format|json_schema|json_object|schema|grammar|guided|structured", re.IGNORECASE)

_BLIND = re.compile(
    r"image_url is only supported by certain models"
    r"|(image|vision|multi-?modal)s?( inputs?| content)? (is|are) (not|n't) (supported|enabled|available)"
    r"|(does not|doesn't|do not|don't|that|not) support (image|vision|multi-?modal)"
    r"|not a multi-?modal model|no vision|mmproj|data required for image input"
    r"|unknown variant .?image_url|content.{0,20} must be a string|expected a string",
    re.IGNORECASE,
)

_ADVICE: Mapping[ModelErrorKind, str] = {
    "auth": "check the key and what it may do",
    "quota": "waiting does not help: look at the account's plan and billing",
    "rate_limit": "run fewer calls at one time, or wait",
    "window": "the prompt is longer than what the model can read: shorten it, or use a model that reads more",
    "content_filter": "the server's content filter stopped it",
    "no_images": "the model takes no images: use one that sees",
    "server": "it is the server's fault: try again later",
    "timeout": "the server took too long: try again later, or give it more time",
}


class OpenAIError(ModelError):
    """A server of OpenAI's protocol gave no usable reply.

    Args:
        status, retry_after_seconds: as in `ModelError`.
        code: what the server calls it ("context_length_exceeded").
    """

    def __init__(
        self,
        problem: str,
        *,
        kind: ModelErrorKind,
        model: str,
        text: str = "",
        status: int | None = None,
        code: str | None = None,
        retry_after_seconds: float | None = None,
    ) -> None:
        super().__init__(
            problem, kind=kind, model=model, text=text, status=status, retry_after_seconds=retry_after_seconds
        )
        self.code = code


_NOTHING_SAID = re.compile(
    r"\W*(?:(?:4\d\d|bad|invalid|malformed|unprocessable|request|input|entity|error)\W*)*", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """An error as the server put it; its texts hold no key."""

    status: int
    message: str = ""
    code: str | None = None
    param: str | None = None
    retry_after_seconds: float | None = None

    @classmethod
    def read(cls, body: JsonValue, *, status: int, headers: Mapping[str, str], redact: Redactor) -> Fault:
        """Read OpenAI's error object, a text or list under "error", "detail" or "message", or a page of HTML."""
        error = (
            next((body[key] for key in ("error", "detail") if body.get(key)), body) if isinstance(body, dict) else body
        )
        fields = error if isinstance(error, dict) else {"message": error}
        said = fields.get("message") or fields.get("msg") or ""
        inner = fields.get("innererror")
        codes = [fields.get("code"), fields.get("type"), inner.get("code") if isinstance(inner, dict) else None]
        param = fields.get("param")
        return cls(
            # an error within a good answer has its status in its code
            status=status if status >= 400 else next(filter(None, map(_status_of, codes)), status),
            message=start_of(redact(said if isinstance(said, str) else str(said))),
            code=redact(_telling(codes)) or None,
            param=redact(param) if isinstance(param, str) else None,
            retry_after_seconds=retry_after(headers),
        )

    @property
    def kind(self) -> ModelErrorKind:
        """Which way the call failed."""
        code = (self.code or "").lower()
        if code in _QUOTA:
            return "quota"
        if code in _FILTER:
            return "content_filter"
        if self._overflows:
            return "window"
        return kind_of_status(self.status)

    @property
    def _overflows(self) -> bool:
        return self.code in _WINDOW or (self.status in (400, 413, 422) and bool(_WINDOW_WORDS.search(self.message)))

    @property
    def words(self) -> str:
        """All that it says, to be searched."""
        return f"{self.code or ''} {self.param or ''} {self.message}"

    def refuses(self, parameter: str) -> bool:
        """Whether the server does not know this parameter, or not the value it has, for the model asked."""
        if self.kind != "bad_request" or not _UNKNOWN.search(self.words):
            return False
        if self.param:
            return self.param.partition(".")[0] == parameter
        return bool(re.search(rf"\b{parameter}\b", self.message))

    @property
    def refuses_format(self) -> bool:
        """Whether it is the form of the reply that the server does not know or cannot do."""
        if self.kind == "bad_request" and not self.param and _NOTHING_SAID.fullmatch(self.message):
            # it may be: asking in a plainer form finds out, and what it then says is raised
            return True
        return self.kind in ("bad_request", "server") and bool(_FORMAT.search(self.words))

    @property
    def refuses_images(self) -> bool:
        """Whether the server says that the model asked takes no images; of a call that held some."""
        return self.kind in ("bad_request", "server") and bool(_BLIND.search(self.message))

    def error(self, model: str, where: str, *, kind: ModelErrorKind | None = None) -> OpenAIError:
        """The error to raise for a call of this model; `kind` where more is known than the server says."""
        kind = kind or self.kind
        # whoever echoes a key may do so in a form that nobody foresaw
        said = "" if self.status == 401 else self.message
        named = ": ".join(part for part in (f"HTTP {self.status}", self.code or "", said) if part)
        return OpenAIError(
            f"{model} at {where} refused the call ({named}): {self._advice(where, kind)}",
            kind=kind,
            model=model,
            status=self.status,
            code=self.code,
            retry_after_seconds=self.retry_after_seconds,
        )

    def _advice(self, where: str, kind: ModelErrorKind) -> str:
        if self.status == 404 and kind != "no_images":
            return "check the model's name, and base_url (it usually ends in /v1)"
        if self.retry_after_seconds is not None:
            return f"it asks to wait {self.retry_after_seconds:g} s"
        return _ADVICE.get(kind, "the server will not take the request as it is")


def _status_of(code: JsonValue) -> int | None:
    """The status that a code stands for, which is that number or a word for it."""
    if isinstance(code, str):
        code = int(code) if code.isdecimal() else _STATUSES.get(code.lower())
    return code if isinstance(code, int) and 400 <= code < 600 else None


def _telling(codes: list[JsonValue]) -> str:
    """Of an error's code, type and inner code, the one that says most."""
    known = _QUOTA | _FILTER | _WINDOW
    words = [code for code in codes if isinstance(code, str) and code]
    return next((word for word in words if word.lower() in known), words[0] if words else "")[:60]
