"""Files that stand in the middle of a case: the images of a request to a model, the drawing that a flow returns.

As text they would cost a judge a hundred thousand tokens, and show it nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from genkit_eval.attachments import made_of
from genkit_eval.errors import DataError
from genkit_eval.types import Attachment, DataPoint, ToolCall, Turn

__all__ = ["with_files_apart"]

KEPT = 2_000_000
"""Characters of an address that is kept once it is decoded: a few larger ones would take hundreds of megabytes."""
# of few parameters, which are short: else a hostile text could take hours
_FILE = re.compile(
    r"data:(?:application/pdf|image/(?:png|jpe?g|webp|svg\+xml))(?:;[^;,\s]{0,80}){0,4};base64,[A-Z0-9+/]+={0,2}",
    re.IGNORECASE,
)


def with_files_apart(point: DataPoint) -> DataPoint:
    """The data point, with what it holds as an address of data in base64 among its files instead.

    Files of input, context, turns and calls of tools are evidence, those of the output belong to the answer. Where one
    stood, its name stands. Data of other kinds, or that are none, stay the text that they are.
    """
    given, made = _Files("the case"), _Files("the answer")
    values: dict[str, Any] = {
        name: files.taken_out(getattr(point, name))
        for name, files in (("input", given), ("context", given), ("output", made))
        if point.has(name)
    }
    if point.turns:
        values["turns"] = [given.out_of_turn(turn) for turn in point.turns]
    if point.tools:
        values["tools"] = [given.out_of_call(call) for call in point.tools]
    if not given.found and not made.found:
        return point
    values["attachments"] = [*point.attachments, *given.found]
    values["output_attachments"] = [*point.output_attachments, *made.found]
    return point.model_copy(update=values)


@dataclass(slots=True)
class _Files:
    """Files as they are found, each under a name of its own."""

    of: str
    found: list[Attachment] = field(default_factory=list)

    def taken_out(self, value: Any) -> Any:
        """The JSON value, with the name of each file in its place."""
        if isinstance(value, dict):
            return {key: self.taken_out(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.taken_out(item) for item in value]
        return _FILE.sub(self._named, value) if isinstance(value, str) else value

    def _named(self, address: re.Match[str]) -> str:
        file = _held(address[0])
        if file is None:
            return address[0]
        name = f"file {len(self.found) + 1} of {self.of}"
        self.found.append(file.model_copy(update={"name": name}))
        return f"({name})"

    def out_of_turn(self, turn: Turn) -> Turn:
        """The turn, with the name of each file in its place."""
        content = {"content": self.taken_out(turn.content)} if turn.has("content") else {}
        calls = {"tool_calls": [self.out_of_call(call) for call in turn.tool_calls]} if turn.tool_calls else {}
        return turn.model_copy(update={**content, **calls})

    def out_of_call(self, call: ToolCall) -> ToolCall:
        """The call, with the name of each file in its place."""
        held = [name for name in ("arguments", "output") if call.has(name)]
        return call.model_copy(update={name: self.taken_out(getattr(call, name)) for name in held})


def _held(address: str) -> Attachment | None:
    """The file that an address of data holds; None where it holds none."""
    return _kept(address) if len(address) <= KEPT else _decoded(address)


@lru_cache(maxsize=16)
def _kept(address: str) -> Attachment | None:
    # all judges of a case ask for the same ones
    return _decoded(address)


def _decoded(address: str) -> Attachment | None:
    try:
        return made_of(address)
    except DataError:
        return None
