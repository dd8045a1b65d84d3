"""A server of OpenAI's protocol on loopback: real HTTP, scripted answers, every fault on request."""

from __future__ import annotations

# asyncio: the server has a loop and a thread of its own, and its streams are the cheapest HTTP there is
import asyncio
import inspect
import json
import math
import re
import socket
import struct
import threading
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from http import HTTPStatus
from types import TracebackType
from typing import Self

from pydantic import JsonValue

from genkit_eval.testing.answers import Answer, Call, chat_answer, embeddings_answer, error_answer

__all__ = ["OpenAIServer", "Script"]

Given = str | Answer
Script = Given | Sequence[Given] | Callable[[Call], Given | Awaitable[Given]]
"""One answer to all calls, one answer a call, or a function of the call (its `async def` runs on the server's loop)."""

_ROUTE = re.compile(r"(?:/[^/]+)*/(chat/completions|embeddings|models)")
_LARGEST_HEAD = 65_536


class OpenAIServer:
    """Chat completions, embeddings and models over HTTP on 127.0.0.1, while its `with` block lasts.

    with OpenAIServer(["yes", error_answer(429, "slow down"), "no"]) as server:
        plugin = openai_models(base_url=server.url)

    Args:
        chat: what chat calls are answered; a text is the content of a good answer. After the last of several
            answers comes a 500 that says so.
        embeddings: what embedding calls are answered; by default a vector a text that depends on the text alone.
        key: the only key that is let in; others get a 401 that echoes what they sent.
        refuses: names of parameters ("temperature", "seed", "max_tokens", …), of response formats
            ("json_schema", "json_object"), and "image_url" for images, that are answered 400.
        latency_seconds: before the first byte of every answer.
        dimensions: the length of the default vectors.
        models: the names that are listed; any name is answered.
        keep_calls: False for a server that is asked so often that they would fill the memory; then they are counted.

    Attributes:
        calls: every request that arrived, in order.
        count: how many arrived.
        peak: the most calls that were being answered at one time.
    """

    def __init__(
        self,
        chat: Script = "OK",
        *,
        embeddings: Script | None = None,
        key: str | None = None,
        refuses: Collection[str] = (),
        latency_seconds: float = 0.0,
        dimensions: int = 8,
        models: Sequence[str] = ("test-model",),
        keep_calls: bool = True,
    ) -> None:
        self.calls: list[Call] = []
        self.count = 0
        self._keep_calls = keep_calls
        self.peak = 0
        self._chat = _script(chat)
        self._embeddings = _script(embeddings if embeddings is not None else lambda call: _embedded(call, dimensions))
        self._key, self._refuses, self._latency = key, frozenset(refuses), latency_seconds
        self._models = models
        self._in_flight = 0
        self._port = 0
        self._started = threading.Event()
        self._loop: asyncio.AbstractEventLoop
        self._stop: asyncio.Event
        self._thread = threading.Thread(target=self._run, name="OpenAIServer", daemon=True)

    @property
    def url(self) -> str:
        """The base URL, as clients want it."""
        return f"http://127.0.0.1:{self._port}/v1"

    def bodies(self, route: str = "chat/completions") -> list[dict[str, JsonValue]]:
        """The JSON bodies of the calls to one route, in order."""
        return [call.body for call in self.calls if call.path.endswith(route) and isinstance(call.body, dict)]

    def __enter__(self) -> Self:
        self._thread.start()
        self._started.wait()
        if not self._port:
            self._thread.join()
            raise RuntimeError("the server could not be started: the traceback of its thread says why")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        finally:
            # also when it could not begin: somebody waits
            self._started.set()

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        tasks: set[asyncio.Task[None]] = set()

        def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.ensure_future(self._converse(reader, writer))
            tasks.add(task)
            task.add_done_callback(tasks.discard)

        server = await asyncio.start_server(connected, "127.0.0.1", 0, limit=_LARGEST_HEAD, backlog=1024)
        self._port = server.sockets[0].getsockname()[1]
        self._started.set()
        await self._stop.wait()
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        client = writer.get_extra_info("peername")[1]
        try:
            while (call := await _read_call(reader, client)) is not None:
                self.count += 1
                if self._keep_calls:
                    self.calls.append(call)
                self._in_flight += 1
                self.peak = max(self.peak, self._in_flight)
                try:
                    answer = await self._answer(call)
                    await asyncio.sleep(self._latency + answer.delay_seconds)
                finally:
                    self._in_flight -= 1
                if not await _send(writer, answer):
                    return
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            # the client went away, or does not speak HTTP
            return
        finally:
            writer.close()

    async def _answer(self, call: Call) -> Answer:
        sent = call.headers.get("authorization", "")
        if self._key is not None and sent != f"Bearer {self._key}":
            return error_answer(401, f"Incorrect API key provided: {sent}", code="invalid_api_key")
        route = _ROUTE.fullmatch(call.path)
        if route is None:
            return error_answer(404, f"Unknown request URL: {call.method} {call.path}", code="unknown_url")
        if route[1] == "models":
            return Answer(body={"object": "list", "data": [{"id": name, "object": "model"} for name in self._models]})
        if not isinstance(call.body, dict):
            return error_answer(400, "We could not parse the JSON body of your request.")
        if "image_url" in self._refuses and "'type': 'image_url'" in call.text():
            return error_answer(400, "Invalid content type. image_url is only supported by certain models.")
        for name in _asked_for(call.body):
            if name in self._refuses:
                return error_answer(
                    400,
                    f"Unsupported parameter: '{name}' is not supported with this model.",
                    kind="invalid_request_error",
                    param="response_format" if name.startswith("json_") else name,
                    code="unsupported_parameter",
                )
        given = await _given(self._chat if route[1] == "chat/completions" else self._embeddings, call)
        return _with_model(given, call.body)


def _script(given: Script) -> Callable[[Call], Given | Awaitable[Given]]:
    if isinstance(given, str | Answer):
        return lambda call: given
    if callable(given):
        return given
    answers = iter(given)
    return lambda call: next(answers, error_answer(500, f"the script of {len(given)} answers is over"))


async def _given(script: Callable[[Call], Given | Awaitable[Given]], call: Call) -> Answer:
    try:
        given = script(call)
        answer = await given if inspect.isawaitable(given) else given
    # whatever a script of the user's raises belongs to the one who called: a lost connection would say nothing
    except Exception as error:  # noqa: BLE001
        return error_answer(500, f"the script raised {type(error).__name__}: {error}")
    return chat_answer(answer) if isinstance(answer, str) else answer


def _asked_for(body: Mapping[str, JsonValue]) -> Iterator[str]:
    yield from body
    wanted = body.get("response_format")
    if isinstance(wanted, dict):
        yield str(wanted.get("type"))


def _with_model(answer: Answer, asked: Mapping[str, JsonValue]) -> Answer:
    """The answer names the model that was asked for, unless it names one itself or is no completion."""
    if not isinstance(answer.body, dict) or "object" not in answer.body or "model" in answer.body:
        return answer
    return replace(answer, body={**answer.body, "model": asked.get("model")})


def _embedded(call: Call, dimensions: int) -> Answer:
    given = call.body.get("input") if isinstance(call.body, dict) else None
    texts = given if isinstance(given, list) else [given]
    return embeddings_answer([_vector(str(text), dimensions) for text in texts])


def _vector(text: str, dimensions: int) -> list[float]:
    """A unit vector that depends on the text alone."""
    raw = b"".join(blake2b(f"{n} {text}".encode()).digest() for n in range(dimensions // 32 + 1))
    values = [pair / 32_767.5 - 1 for (pair,) in struct.iter_unpack(">H", raw[: 2 * dimensions])]
    length = math.hypot(*values)
    return [value / length for value in values]


async def _read_call(reader: asyncio.StreamReader, client: int) -> Call | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ", 2)
    pairs = (line.partition(":") for line in lines if line)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    content = await reader.readexactly(int(headers.get("content-length", "0")))
    try:
        body = json.loads(content) if content else None
    except ValueError:
        body = None
    return Call(method=method, path=target.partition("?")[0], headers=headers, body=body, client=client)


async def _send(writer: asyncio.StreamWriter, answer: Answer) -> bool:
    """Send the answer; whether the connection can go on."""
    if answer.silent:
        await asyncio.Event().wait()
    if answer.reset:
        raw = writer.get_extra_info("socket")
        # closing without lingering resets the connection
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()
        return False
    body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body, ensure_ascii=False).encode()
    headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), **answer.headers}
    lines = [f"HTTP/1.1 {answer.status} {_phrase(answer.status)}", *(f"{k}: {v}" for k, v in headers.items())]
    head = "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"
    if answer.dribble_seconds:
        writer.write(head)
        for byte in body:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(answer.dribble_seconds)
        return True
    writer.write(head + body[: answer.cut])
    await writer.drain()
    return answer.cut is None


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"
