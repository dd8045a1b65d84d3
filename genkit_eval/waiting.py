"""Wait for something asynchronous where no event loop runs: in scripts, and at the command line."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

__all__ = ["run_sync"]

T = TypeVar("T")


def run_sync(awaitable: Awaitable[T]) -> T:
    """The result of an awaitable, for scripts: `run_sync(ge.evaluate(…))`.

    Raises:
        RuntimeError: called where an event loop runs already, as in notebooks: `await` it there.
    """
    import anyio

    async def main() -> T:
        return await awaitable

    try:
        return anyio.run(main)
    except RuntimeError as problem:
        if "running" in str(problem).lower():
            raise RuntimeError(
                "an event loop is running here already: write 'await …' instead of run_sync(…)"
            ) from None
        raise
    finally:
        # Ctrl-C may come before it was begun, and then it would complain that nobody awaited it
        close = getattr(awaitable, "close", None)
        if close is not None:
            close()
