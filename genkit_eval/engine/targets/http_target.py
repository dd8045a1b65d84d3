"""An HTTP endpoint as a target: a sample's input goes out as JSON, the JSON that comes back is the output."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from urllib.parse import parse_qsl, quote, urlsplit

from pydantic import JsonValue

from genkit_eval.definitions import Flow
from genkit_eval.engine.targets.expression import Expression
from genkit_eval.errors import ConfigError
from genkit_eval.redaction import looks_like_key, may_be_secret

__all__ = ["HttpTarget"]

METHODS = ("POST", "PUT", "PATCH", "GET", "DELETE")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True)
class HttpTarget:
    """An endpoint that is called with each sample's input.

    Args:
        url: of http or https. `${NAME}` in it, and in headers, is a variable of the environment: it is looked up when
            a run begins, and only its name is kept with the run. In the query it stands for its value, whatever that
            holds.
        request: a JSONata expression that makes the body of the input (`$`), like `{"question": $}`; without one, the
            input is the body. GET and DELETE have no body: what is made, an object, is the query.
        response: a JSONata expression that makes the output of the answer's JSON (`$`), like `result.text`; without
            one, the answer is the output. An object with `output` and other fields of a data point (`context`, `usage`,
            `tools`, `turns`, `attachments`, …) reports these beside the output. An answer that is a PDF, PNG, JPEG or
            WEBP file, as its Content-Type says, is an attachment to no output.
        headers: what is sent along; a value that may be secret is given as a variable.
        method: POST, PUT, PATCH, GET or DELETE.

    Raises:
        ConfigError: what cannot be sent, or would put a secret into the run file.
    """

    url: str
    _: KW_ONLY
    request: str | None = None
    response: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    method: str = "POST"

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ConfigError(f"the method of {self.place} is {self.method!r}: expected one of {', '.join(METHODS)}")
        _check_address(self.url)
        self._check_no_key()
        for name, value in parse_qsl(urlsplit(self.url).query, keep_blank_values=True):
            _check_open(f"'{name}' in the address {self.place}", name, value)
        for name, value in self.headers.items():
            if not isinstance(value, str):
                # what os.environ.get() did not find, or a number
                kind = type(value).__name__
                raise ConfigError(f"header '{name}' is of type {kind}: give a text, or leave it out")
            _check_open(f"header '{name}'", name, value)
            _check_header(name, _VARIABLE.sub("", value))

    @property
    def place(self) -> str:
        """The address without its query, for messages."""
        return self.url.partition("?")[0]

    @property
    def config(self) -> dict[str, JsonValue]:
        """What a run's key holds beside the address."""
        given: dict[str, JsonValue] = {"method": self.method}
        if self.request is not None:
            given["request"] = self.request
        if self.response is not None:
            given["response"] = self.response
        if self.headers:
            given["headers"] = dict(self.headers)
        return given

    def flow(self) -> Flow:
        """As what a run calls; expressions and variables are looked at now.

        Raises:
            ConfigError: an expression that is no JSONata, a variable that is not set.
        """
        request = self._expression("the request expression", self.request)
        response = self._expression("the response expression", self.response)
        values: dict[str, str] = {}
        place, mark, query = self.url.partition("?")
        what = f"the address {self.place}"
        address = _expanded(what, place, values) + mark + _expanded(what, query, values, form=partial(quote, safe=""))
        _check_address(address)
        headers = {name: _expanded(f"header '{name}'", value, values) for name, value in self.headers.items()}
        for name, value in headers.items():
            _check_header(name, value)

        @asynccontextmanager
        async def session() -> AsyncIterator[Callable[[JsonValue], Awaitable[object]]]:
            # HTTP takes 100 ms to import, which only a run against an endpoint need cost
            from genkit_eval.engine.targets.http_calls import Address, HttpCalls, open_client

            where = Address(self.method, address, headers, shown=self.place, secrets=tuple(values.values()))
            async with open_client(where) as client:
                yield HttpCalls(client, where, request=request, response=response)

        async def once(value: JsonValue) -> object:
            async with session() as call:
                return await call(value)

        return Flow(name=self.url, fn=once, is_async=True, kind="http", config=self.config, session=session)

    def _check_no_key(self) -> None:
        texts = {"address": self.place, "request expression": self.request, "response expression": self.response}
        for what, text in texts.items():
            if isinstance(text, str) and looks_like_key(_VARIABLE.sub("", text)):
                raise ConfigError(
                    f"the target's {what} holds what looks like a key, and would be kept with the run: give it as a "
                    "header, like 'Authorization: Bearer ${NAME}'"
                )

    def _expression(self, what: str, text: str | None) -> Expression | None:
        if text is None:
            return None
        expression = Expression(what, text)
        expression.check()
        return expression


def _check_address(url: str) -> None:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as problem:
        raise ConfigError(f"target {url.partition('?')[0]!r} is no address: {problem}") from None
    if parts.username or parts.password:
        raise ConfigError(
            "the target's address holds a user or password, which would be kept with the run: give it as a header, "
            "like 'Authorization: Basic ${NAME}'"
        )
    if parts.scheme not in ("http", "https") or not host:
        raise ConfigError(f"target {url.partition('?')[0]!r} is no http:// or https:// address")


def _check_open(what: str, name: str, value: str) -> None:
    """Refuse a secret that is written out: it would be kept with the run."""
    # in "Bearer ${TOKEN}" and "session=${ID}" what is beside the variable is no secret
    in_the_open = may_be_secret(name) and value.strip() and not _VARIABLE.search(value)
    if in_the_open or looks_like_key(_VARIABLE.sub("", value)):
        raise ConfigError(
            f"{what} may be secret, and would be kept with the run: give it as a variable of the environment, "
            "like ${NAME} (in a shell within single quotes)"
        )


def _check_header(name: str, value: str) -> None:
    # without the value: it may be a secret
    if not (name.isascii() and name.isprintable() and name.strip() == name and name and ":" not in name):
        raise ConfigError(f"header {name!r} is no name of a header")
    if name.lower() in ("content-length", "transfer-encoding"):
        raise ConfigError(f"header '{name}' says how long a request is, which is found out as it is sent: leave it out")
    if not (value.isascii() and value.isprintable()):
        raise ConfigError(f"header '{name}' holds characters that no HTTP header can hold")


def _expanded(what: str, text: str, values: dict[str, str], *, form: Callable[[str], str] = str) -> str:
    """The text with the environment's variables in it, each in this form; those are noted in `values`."""

    def value(found: re.Match[str]) -> str:
        name = found[1]
        given = os.environ.get(name, "").strip()
        if not given:
            raise ConfigError(f"{what} needs the variable {name} of the environment, which is not set")
        values[name] = given
        return form(given)

    return _VARIABLE.sub(value, text)
