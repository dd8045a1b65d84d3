"""The SDK's client of one event loop: a call gives JSON, or a fault of the server that holds no key."""

from __future__ import annotations

# asyncio: one transport of the SDK runs on its loops only
import asyncio
import json
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, cast

import anyio
import openai
import orjson
from pydantic import JsonValue

from genkit_eval.errors import no_constant
from genkit_eval.http_faults import start_of
from genkit_eval.redaction import Redactor
from genkit_eval_openai.endpoint import Endpoint
from genkit_eval_openai.faults import Fault, OpenAIError

__all__ = ["Client"]

NO_KEY = "no-key"
"""Sent to a server that wants none: the SDK insists on one, and an empty one makes a header that clients refuse."""

_MAY_BE_SECRET = re.compile(r"auth|key|token|secret|cookie|password", re.IGNORECASE)
"""Names of headers whose values no reply may show; a title or an address may be part of an answer."""

# httpx or its successor, whichever the SDK is built on
_RESPONSE: type[Any] = import_module(openai.DefaultAsyncHttpxClient.__mro__[1].__module__.partition(".")[0]).Response


class Client:
    """Posts to one server; the SDK retries nothing, as retrying has one place and that is not here."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        base_url = endpoint.setting(endpoint.base_url, "OPENAI_BASE_URL")
        key = endpoint.setting(endpoint.api_key, "OPENAI_API_KEY")
        endpoint.check()
        read = endpoint.first_byte_seconds or endpoint.timeout_seconds
        timeout = openai.Timeout(endpoint.timeout_seconds, connect=endpoint.connect_seconds, read=read)
        self._sdk = openai.AsyncOpenAI(
            base_url=base_url,
            api_key=key or NO_KEY,
            max_retries=0,
            timeout=timeout,
            default_headers=dict(endpoint.headers),
            http_client=_transport(timeout),
        )
        self._sdk.organization = endpoint.setting(endpoint.organization, "OPENAI_ORG_ID")
        if not endpoint.takes_environment:
            # the SDK has read variables that are meant for another server
            self._sdk.project = None
            self._sdk._custom_headers = dict(endpoint.headers)
        headers = self._sdk._custom_headers
        self.redact = Redactor(_secrets(key, headers))
        telling = {name: value for name, value in headers.items() if _MAY_BE_SECRET.search(name)}
        self.redact_reply = Redactor(_secrets(key, telling)).in_reply
        self.where = self._sdk.base_url.netloc.decode()

    def __repr__(self) -> str:
        return f"Client({self._endpoint.name!r})"

    async def close(self) -> None:
        """Close its connections, even if all around is being cancelled."""
        with anyio.CancelScope(shield=True):
            await self._sdk.close()

    async def post(self, path: str, body: Mapping[str, JsonValue], *, model: str) -> dict[str, JsonValue] | Fault:
        """The JSON object that the server answers, or its refusal.

        Raises:
            OpenAIError: no answer in time, no connection, or an answer that is no JSON object.
        """
        answer = await self._sent(path, body, model)
        # not raised where it was caught: the SDK's error, which may hold the key, is no part of it
        if isinstance(answer, OpenAIError):
            raise answer
        if isinstance(answer, Fault):
            return answer
        found = _parsed(answer.content)
        if not isinstance(found, dict):
            said = start_of(self.redact(answer.text))
            raise OpenAIError(
                f"{model} at {self.where} answered what is no JSON object, {said!r}: does base_url end in /v1?",
                kind="server",
                model=model,
                status=answer.status_code,
            )
        if found.get("error") and not found.get("choices") and not found.get("data"):
            return Fault.read(found, status=answer.status_code, headers=answer.headers, redact=self.redact)
        return found

    async def _sent(self, path: str, body: Mapping[str, JsonValue], model: str) -> Any:
        seconds = self._endpoint.timeout_seconds
        try:
            # the SDK's own timeout is one of each read, which a server that dribbles never meets
            with anyio.fail_after(seconds):
                return await self._sdk.post(path, cast_to=_RESPONSE, body=body)
        except openai.APIStatusError as error:
            response = error.response
            content = _parsed(response.content)
            said = response.text if content is None else content
            return Fault.read(said, status=response.status_code, headers=response.headers, redact=self.redact)
        except (openai.APITimeoutError, TimeoutError) as error:
            if type(error.__cause__).__name__ == "ConnectTimeout":
                return self._unreached(model, error)
            silent = self._endpoint.first_byte_seconds
            # the deadline of the whole call is ours, that of a read is the SDK's
            if silent is not None and isinstance(error, openai.APITimeoutError):
                problem = f"sent nothing for {silent:g} s: try again later, or raise first_byte_seconds"
            else:
                problem = f"gave no whole answer within {seconds:g} s: try again later, or raise timeout_seconds"
            return OpenAIError(f"{model} at {self.where} {problem}", kind="timeout", model=model)
        except openai.APIConnectionError as error:
            return self._unreached(model, error)
        except UnicodeEncodeError:
            problem = "a message holds half a surrogate pair, which UTF-8 cannot: mend the text"
            return OpenAIError(f"{model}: {problem}", kind="bad_request", model=model)

    def _unreached(self, model: str, error: Exception) -> OpenAIError:
        cause = error.__cause__ or error
        said = self.redact(start_of(str(cause))) or type(cause).__name__
        problem = f"could not be reached, or hung up ({said}): is the server running, and base_url right?"
        return OpenAIError(f"{model} at {self.where} {problem}", kind="connection", model=model)


def _transport(timeout: openai.Timeout) -> Any:
    """The SDK's quicker transport, where its library is installed and the loop is one of asyncio's."""
    fast = getattr(openai, "DefaultAioHttpClient", None)
    try:
        asyncio.get_running_loop()
        return fast(timeout=timeout) if fast is not None else None
    except RuntimeError:
        return None


def _secrets(key: str | None, headers: Mapping[str, str]) -> Iterator[str]:
    if key is not None:
        yield key
    for value in headers.values():
        yield value
        # the scheme of "Bearer …" is no secret
        yield from value.split()[1:]


def _parsed(content: bytes) -> JsonValue:
    try:
        return cast("JsonValue", orjson.loads(content))
    except orjson.JSONDecodeError:
        pass
    try:
        # servers in Python write a cut emoji as half of a pair, others a mark before the text
        text = content.decode("utf-8-sig", errors="replace")
        return cast("JsonValue", json.loads(text, parse_constant=no_constant))
    except (ValueError, RecursionError):
        return None
