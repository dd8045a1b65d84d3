"""Which cases of a run are meant: by tag, by whose they are."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from genkit_eval._json import dump
from genkit_eval.stored import EvalResult
from genkit_eval.stores import StoredRun

__all__ = ["CaseFilter"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFilter:
    """Lets through cases that have one of the tags, are of that user and of that session; what is not given may be any.

    Its truth is whether anything was given.
    """

    tags: Collection[str] = ()
    user_id: str | None = None
    session_id: str | None = None

    @property
    def _any_tag(self) -> Collection[str]:
        return [self.tags] if isinstance(self.tags, str) else self.tags

    def __bool__(self) -> bool:
        return bool(self.tags) or self.user_id is not None or self.session_id is not None

    def __str__(self) -> str:
        whose = {"user": self.user_id, "session": self.session_id}
        given = [f"tag {' or '.join(repr(tag) for tag in self._any_tag)}"] if self.tags else []
        return ", ".join([*given, *(f"{word} {value!r}" for word, value in whose.items() if value is not None)])

    def places(self, run: StoredRun) -> Iterator[int]:
        """Where in a run its cases are; only results in whose JSON the words occur are parsed."""
        wanted = [dump(value) for value in (self.user_id, self.session_id) if value is not None]
        tags = [dump(tag) for tag in self._any_tag]
        for place, data in enumerate(run.raw()):
            if all(mark in data for mark in wanted) and (not tags or any(mark in data for mark in tags)):
                if self._lets_through(run.results[place]):
                    yield place

    def _lets_through(self, result: EvalResult) -> bool:
        return (
            (not self.tags or not set(self._any_tag).isdisjoint(result.tags))
            and self.user_id in (None, result.user_id)
            and self.session_id in (None, result.session_id)
        )
