"""Calls of an HTTP endpoint as a target: one request a case, and what its answer gives."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.cookiejar import CookieJar, DefaultCookiePolicy
from time import perf_counter

import httpx2
from pydantic import JsonValue

from genkit_eval._json import dump, json_text, load
from genkit_eval.engine.asking.model_calls import CellCalls
from genkit_eval.engine.targets.expression import Expression
from genkit_eval.engine.targets.recording import TargetResult, observed
from genkit_eval.errors import DataError, ModelErrorKind, TargetError
from genkit_eval.http_faults import kind_of_status, retry_after, start_of
from genkit_eval.model_calls import caller
from genkit_eval.redaction import Redactor

__all__ = ["Address", "HttpCalls", "open_client"]

CONNECT_SECONDS = 10.0
LARGEST_ANSWER = 64 << 20
FILES = frozenset({"application/pdf", "image/png", "image/jpeg", "image/webp"})
"""What an answer may be, as a whole, that is no text."""
LOGGERS = ("httpx2", "httpcore2.connection", "httpcore2.http11", "httpcore2.proxy")


@dataclass(frozen=True, slots=True)
class Address:
    """Where requests go; what may be secret is not in its repr."""

    method: str
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    shown: str
    """The address as messages have it."""
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        return f"{self.method} {self.shown}"


@dataclass(frozen=True, slots=True)
class _Answer:
    text: str
    kind: str
    """Of its content, as it says: "application/json"."""
    seconds: float
    file: bytes = field(default=b"", repr=False)
    """All of it, where that is a file."""


@asynccontextmanager
async def open_client(where: Address) -> AsyncIterator[httpx2.AsyncClient]:
    """A client whose calls know nothing of each other: it keeps no cookies; deadlines are the run's."""
    with _hidden_in_logs(Redactor(where.secrets)):
        async with httpx2.AsyncClient(
            timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=None),
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            headers={"User-Agent": "genkit-eval"},
        ) as client:
            yield client


@contextmanager
def _hidden_in_logs(redactor: Redactor) -> Iterator[None]:
    """The client logs each address that it calls, and below the answers' headers: without secrets, while this lasts."""

    def without_secrets(record: logging.LogRecord) -> bool:
        record.msg, record.args = redactor(record.getMessage()), ()
        return True

    for name in LOGGERS:
        logging.getLogger(name).addFilter(without_secrets)
    try:
        yield
    finally:
        for name in LOGGERS:
            logging.getLogger(name).removeFilter(without_secrets)


class HttpCalls:
    """Calls one endpoint: a sample's input in, the output out, with what the endpoint reports beside it."""

    def __init__(
        self, client: httpx2.AsyncClient, where: Address, *, request: Expression | None, response: Expression | None
    ) -> None:
        self._client, self._where = client, where
        self._request, self._response = request, response
        self._redactor = Redactor(where.secrets)

    async def __call__(self, value: JsonValue) -> TargetResult:
        """What the endpoint answers to this input.

        Raises:
            TargetError: no answer, or no good one. DataError: an expression found nothing, or failed.
        """
        body = value if self._request is None else await self._request.of(value, source="the input")
        # whatever is sent again must be the same
        send = partial(self._sent, self._built(body))
        calls = caller.get()
        answer = await (calls.limited(self._where.shown, send) if isinstance(calls, CellCalls) else send())
        if answer.kind in FILES:
            return TargetResult(None, {"latency": round(answer.seconds, 6), "attachments": [answer.file]})
        found = self._read(answer)
        if self._response is not None:
            shown = start_of(self._redactor(json_text(found)))
            found = await self._response.of(found, source=f"the answer of {self._where}, {shown!r}")
        output, reported = observed(found)
        # without the wait for its turn, unless the endpoint knows better
        return TargetResult(output, {"latency": round(answer.seconds, 6), **reported})

    def _built(self, body: JsonValue) -> Callable[[], httpx2.Request]:
        where, build = self._where, self._client.build_request
        if where.method in ("GET", "DELETE"):
            try:
                url = httpx2.URL(where.url).copy_merge_params(_query(body, where))
            except httpx2.InvalidURL as problem:
                raise DataError(f"{where} cannot be asked for this: {problem}") from None
            return partial(build, where.method, url, headers=where.headers)
        headers = httpx2.Headers({"Content-Type": "application/json"})
        headers.update(where.headers)
        return partial(build, where.method, where.url, headers=headers, content=dump(body))

    async def _sent(self, built: Callable[[], httpx2.Request]) -> _Answer:
        """A good answer to one request."""
        started = perf_counter()
        try:
            response = await self._client.send(built(), stream=True)
            try:
                content = await self._content(response)
            finally:
                await response.aclose()
        except httpx2.HTTPError as problem:
            raise self._unreached(problem) from None
        if not 200 <= response.status_code < 300:
            words = _readable(content, response.charset_encoding)
            raise self._refused(response.status_code, response.headers, words)
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind in FILES:
            return _Answer("", kind, perf_counter() - started, content)
        try:
            text = self._redactor.in_reply(_decoded(content, response.charset_encoding))
        except UnicodeError as problem:
            raise self._error(
                f"answered what is no text ({problem}): its Content-Type has to say which encoding it is", "unparsable"
            ) from None
        return _Answer(text, kind, perf_counter() - started)

    async def _content(self, response: httpx2.Response) -> bytes:
        content = bytearray()
        async for chunk in response.aiter_bytes():
            content += chunk
            if len(content) > LARGEST_ANSWER:
                raise self._error(f"answered more than {LARGEST_ANSWER >> 20} MiB: no output can be so large", "other")
        return bytes(content)

    def _unreached(self, problem: httpx2.HTTPError) -> TargetError:
        if isinstance(problem, httpx2.ConnectTimeout):
            return self._error(f"could not be reached within {CONNECT_SECONDS:g} s", "connection")
        said = self._redactor(start_of(_words_of(problem))) or type(problem).__name__
        if isinstance(problem, httpx2.ConnectError | httpx2.UnsupportedProtocol):
            return self._error(f"could not be reached ({said}): is it running, and the address right?", "connection")
        if isinstance(problem, httpx2.DecodingError):
            return self._error(f"answered what cannot be decoded ({said})", "unparsable")
        return self._error(f"hung up before the answer was whole ({said})", "connection")

    def _read(self, answer: _Answer) -> JsonValue:
        """The JSON of an answer, or its text where it is none."""
        if answer.kind == "text/plain":
            return answer.text
        try:
            found: JsonValue = load(answer.text)
        except (ValueError, RecursionError) as problem:
            if not answer.kind.endswith("json"):
                return answer.text
            if not answer.text.strip():
                raise self._error("answered nothing, and says that it is JSON", "empty") from None
            said, why = start_of(self._redactor(answer.text)), start_of(str(problem))
            raise self._error(f"answered what is no JSON, as it says it is ({why}): {said!r}", "unparsable") from None
        return found

    def _refused(self, status: int, headers: Mapping[str, str], text: str) -> TargetError:
        if 300 <= status < 400:
            to = self._redactor(headers.get("location", "elsewhere"))
            return self._error(f"answered HTTP {status}, to go to {start_of(to)}: give that address", "bad_request")
        # whoever echoes a secret may do so in a form that nobody foresaw
        said = "" if status == 401 else start_of(self._redactor(text))
        return TargetError(
            f"{self._where} answered HTTP {status}" + (f": {said}" if said else ""),
            kind=kind_of_status(status),
            status=status,
            retry_after_seconds=retry_after(headers),
        )

    def _error(self, problem: str, kind: ModelErrorKind) -> TargetError:
        return TargetError(f"{self._where} {problem}", kind=kind)


def _decoded(content: bytes, encoding: str | None) -> str:
    try:
        text = content.decode(encoding or "utf-8")
    except LookupError:
        # it names no encoding, or none of texts
        text = content.decode()
    # some put a mark before the text
    return text.removeprefix("\ufeff")


def _readable(content: bytes, encoding: str | None) -> str:
    """As much as can be read of what is only to be shown."""
    try:
        return _decoded(content, encoding)
    except UnicodeError:
        return content.decode(errors="replace")


def _words_of(problem: BaseException | None) -> str:
    """What is said of a problem; some leave that to what caused them."""
    while problem is not None and not str(problem):
        problem = problem.__cause__ or problem.__context__
    return "" if problem is None else str(problem)


def _query(fields: JsonValue, where: Address) -> list[tuple[str, str | int | float | bool | None]]:
    if not isinstance(fields, dict):
        raise DataError(
            f"{where} has no body, and its query is made of an object: found {json_text(fields)[:100]!r}; "
            'give a request expression, like {"question": $}'
        )
    pairs: list[tuple[str, str | int | float | bool | None]] = []
    for name, value in fields.items():
        items = value if isinstance(value, list) else [value]
        pairs += [(name, json_text(item)) for item in items if item is not None]
    return pairs
