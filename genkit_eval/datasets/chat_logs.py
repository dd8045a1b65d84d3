"""Logs of chats in OpenAI's form: a chat a line (as fine-tuning and batch files have them), or a JSON file of some."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, BinaryIO

import orjson

from genkit_eval.datasets.chat_messages import NoChat, notice_of, sample_of_chat
from genkit_eval.datasets.intake import Batch, Intake, Place
from genkit_eval.datasets.jsonl import pieces, rows
from genkit_eval.datasets.sources import BOM, decoded
from genkit_eval.datasets.strict_json import Faulty, faults, parse
from genkit_eval.errors import Problem

__all__ = ["read_chats"]


def read_chats(stream: BinaryIO, intake: Intake) -> Iterator[Batch]:
    """The chats in order: line by line, or all at once where the file is one JSON value over several lines."""
    parts = pieces(stream)
    first = next(parts, b"")
    if _is_whole(first):
        yield intake.batch(_samples(_chats(b"".join((first, *parts)), intake), intake))
        return
    line, position, offset = 1, 1, 0
    for piece in chain((first,), parts):
        skipped = len(BOM) if offset == 0 and piece.startswith(BOM) else 0
        lines = piece[skipped:].split(b"\n")
        yield intake.batch(_samples(rows(lines, Place(line, position), offset + skipped, intake), intake))
        line += len(lines) - 1
        position += sum(1 for text in lines if text and not text.isspace())
        offset += len(piece)


def _is_whole(piece: bytes) -> bool:
    """Whether a file is one JSON value: its first line is only the beginning of one, or a list of chats."""
    start, _, _ = piece.removeprefix(BOM).lstrip().partition(b"\n")
    try:
        value = orjson.loads(start)
    except orjson.JSONDecodeError:
        return start.strip() in (b"[", b"{")
    if isinstance(value, dict):
        return isinstance(value.get("data"), list)
    return isinstance(value, list) and not _is_chat(value)


def _is_chat(value: list[Any]) -> bool:
    return bool(value) and isinstance(value[0], dict) and "role" in value[0]


def _chats(data: bytes, intake: Intake) -> Iterator[tuple[object, Place]]:
    text = decoded(data)
    if isinstance(text, Problem):
        intake.add(text)
        return
    try:
        value = parse(text)
    except Faulty as fault:
        intake.add(Problem(str(fault), line=1 + text.count("\n", 0, fault.position)))
        return
    if isinstance(value, dict):
        value = value["data"] if isinstance(value.get("data"), list) else [value]
    elif isinstance(value, list) and _is_chat(value):
        value = [value]
    for position, row in enumerate(value if isinstance(value, list) else [value], start=1):
        yield row, Place(None, position)


def _samples(chats: Iterable[tuple[object, Place]], intake: Intake) -> Iterator[tuple[object, Place]]:
    for row, place in chats:
        found = [*faults(row)]
        try:
            sample = sample_of_chat(row)
        except NoChat as problem:
            found.append((problem.path or "", str(problem)))
        else:
            notice = notice_of(row)
            if notice is not None:
                intake.notices.setdefault("choices", f"{notice}, as first in {place}")
            if not found:
                yield sample, place
        for path, message in found:
            intake.add(Problem(message, line=place.line, field=path or None, sample=_named(row, place)))


def _named(row: object, place: Place) -> str:
    """Which chat it is: its position, and its id where it has one."""
    given = [row.get(key) for key in ("custom_id", "id")] if isinstance(row, dict) else []
    name = next((item for item in given if isinstance(item, str) and item), None)
    return str(place.position) if name is None else f"{place.position} ('{name}')"
