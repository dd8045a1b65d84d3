"""What evaluators settle on by the first reply, and go by to the run's end."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from pydantic import JsonValue

if TYPE_CHECKING:
    from genkit_eval.stores import Journal

__all__ = ["Choices"]


class Choices:
    """Each matter is settled once, by whoever comes first; with a journal also for the sessions to come."""

    def __init__(self, values: dict[str, JsonValue]) -> None:
        self._values = values
        self._journal: Journal | None = None
        self._settling = threading.Lock()

    def keep_in(self, journal: Journal) -> None:
        """Go by what earlier sessions of this run settled, and leave it to later ones."""
        self._values, self._journal = dict(journal.key.choices or {}), journal

    def settle(self, what: str, value: JsonValue) -> JsonValue:
        """What holds: this value, if nobody has settled the matter before.

        Raises:
            StoreError: it cannot be written down, so that nobody may go by it.
        """
        if what in self._values:
            return self._values[what]
        with self._settling:
            if what not in self._values:
                if self._journal is not None:
                    self._journal.note({"choices": {**self._values, what: value}})
                    self._journal.flush()
            # another session without a journal may settle the same in these values
            return self._values.setdefault(what, value)

    def to_json(self) -> dict[str, JsonValue] | None:
        """As a run's key holds it; None where nothing is settled."""
        return dict(self._values) or None
