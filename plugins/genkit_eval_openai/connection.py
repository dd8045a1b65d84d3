"""One server, and a client for each event loop that calls it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from functools import cached_property
from typing import TYPE_CHECKING

from genkit_eval_openai.endpoint import Endpoint

if TYPE_CHECKING:
    from anyio.lowlevel import RunVar

    from genkit_eval_openai.client import Client

__all__ = ["Connection"]


class Connection:
    """Shared by all models of a server."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint

    async def client(self) -> Client:
        """The client of the event loop that runs now: a connection belongs to the loop that opened it."""
        kept = self._clients.get(None)
        if kept is None:
            # the SDK takes a second to import, and only calls need it
            from genkit_eval_openai.client import Client

            client = Client(self.endpoint)
            kept = client, _until_the_loop_ends(client, self._clients)
            # a generator that has begun is closed by its loop when that ends, and so is the client within
            await anext(kept[1])
            self._clients.set(kept)
        return kept[0]

    @cached_property
    def _clients(self) -> RunVar[tuple[Client, AsyncGenerator[None]] | None]:
        # anyio loads asyncio, which defining a provider does not need
        from anyio.lowlevel import RunVar

        return RunVar(f"client of {self.endpoint.name}")


async def _until_the_loop_ends(
    client: Client, clients: RunVar[tuple[Client, AsyncGenerator[None]] | None]
) -> AsyncGenerator[None]:
    try:
        yield
    finally:
        clients.set(None)
        await client.close()
