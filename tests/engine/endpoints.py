"""A real HTTP server on loopback that answers what a test says, for targets that are endpoints."""

from __future__ import annotations

import json
import socket
import struct
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["Answer", "Asked", "Endpoint"]


@dataclass(frozen=True)
class Asked:
    """One request that arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Answer:
    """What a request is answered: `json` unless there is a `body`."""

    json: Any = None
    status: int = 200
    body: bytes | None = None
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    reset: bool = False
    cut: bool = False

    @property
    def content(self) -> bytes:
        return json.dumps(self.json).encode() if self.body is None else self.body


class Endpoint:
    """Answers by a function of each request while its `with` block lasts; `asked` has all that arrived."""

    def __init__(self, answer: Callable[[Asked], Answer]) -> None:
        self.asked: list[Asked] = []
        self._held_from = sys.maxsize
        self._released = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def serve(self) -> None:
                length = int(self.headers.get("Content-Length", 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                asked = Asked(self.command, self.path, headers, self.rfile.read(length))
                outer.asked.append(asked)
                if len(outer.asked) > outer._held_from:
                    outer._released.wait()
                self.give(answer(asked))

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = serve  # noqa: N815

            def give(self, answer: Answer) -> None:
                if answer.reset:
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    self.close_connection = True
                    return
                self.send_response(answer.status)
                if answer.content_type:
                    self.send_header("Content-Type", answer.content_type)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer.content)))
                self.end_headers()
                self.wfile.write(answer.content[:1] if answer.cut else answer.content)
                self.close_connection = answer.cut

            def log_message(self, format: str, *arguments: Any) -> None:
                return

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/answer"

    def hold_after(self, count: int) -> None:
        """From the next but so many requests on, none is answered before `release`."""
        self._held_from = count

    def release(self) -> None:
        """Answer all that wait."""
        self._released.set()

    def __enter__(self) -> Endpoint:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
