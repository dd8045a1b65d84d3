"""A JSONata expression of the user's: checked before a run, and run in a worker process that can be stopped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from genkit_eval.errors import ConfigError, DataError
from genkit_eval.off_loop import off_loop
from genkit_eval.workers import POOL

__all__ = ["Expression"]

SECONDS = 5.0
"""How long an expression may take; waiting for a worker is not counted."""
LONGEST_RESULT = 10_000_000


@dataclass(frozen=True, slots=True)
class Expression:
    """What makes one JSON value of another; `what` names it in errors ("the request expression")."""

    what: str
    text: str

    def check(self) -> None:
        """Refuse what is no JSONata.

        Raises:
            ConfigError: says where it is wrong.
        """
        if not isinstance(self.text, str) or not self.text.strip():
            raise ConfigError(f"{self.what} is {self.text!r}: give a JSONata expression, like 'answer.text'")
        reply = self._called("check")
        if "error" in reply:
            raise ConfigError(f"{self}: {reply['error']}")

    async def of(self, document: JsonValue, *, source: str) -> JsonValue:
        """What the expression makes of a document; `source` names that in errors.

        Raises:
            DataError: it finds nothing there, fails, or takes too long.
        """
        reply = await off_loop(lambda: self._called("transform", document, LONGEST_RESULT))
        if "error" in reply:
            raise DataError(f"{self}: {reply['error']}")
        if "result" not in reply:
            raise DataError(f"{self} finds nothing in {source}")
        result: JsonValue = reply["result"]
        return result

    def _called(self, operation: str, *arguments: JsonValue) -> dict[str, Any]:
        try:
            return POOL.call(operation, self.text, *arguments, seconds=SECONDS)
        except TimeoutError:
            raise DataError(f"{self} took more than {SECONDS:g} s: simplify it") from None

    def __str__(self) -> str:
        shown = self.text if len(self.text) <= 80 else f"{self.text[:79]}…"
        return f"{self.what} '{shown}'"
