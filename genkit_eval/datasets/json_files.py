"""Genkit's dataset JSON: an array of samples, the older object with `samples`, and raw evaluation files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO

import orjson

from genkit_eval._data import collector_paused
from genkit_eval._json import dump
from genkit_eval.datasets.intake import Batch, Intake, Place
from genkit_eval.datasets.sources import BOM, decoded
from genkit_eval.datasets.strict_json import Faulty, elements, is_exact
from genkit_eval.errors import Problem
from genkit_eval.types import Sample

__all__ = ["read_json", "write_json"]


def read_json(stream: BinaryIO, intake: Intake) -> Iterator[Batch]:
    """All samples in one batch; a JSON file is read whole."""
    data = stream.read()
    with collector_paused():
        samples = None if intake.careful else _quick(data.removeprefix(BOM), intake)
        batch = Batch(samples) if samples is not None else _careful(data, intake)
    yield batch


def _quick(data: bytes, intake: Intake) -> list[Sample] | None:
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    if isinstance(value, dict):
        rows, parts, start = value.get("samples"), [value], data.find(b"{")
    else:
        rows = parts = value
        start = data.find(b"[") + 1
    if not isinstance(rows, list) or not is_exact(data, parts, compact=data, start=start):
        return None
    return intake.quick(rows, 1)


def _careful(data: bytes, intake: Intake) -> Batch:
    text = decoded(data)
    if isinstance(text, Problem):
        intake.add(text)
        return Batch([])
    return intake.batch(_rows(text, intake))


def _rows(text: str, intake: Intake) -> Iterator[tuple[object, Place]]:
    line, counted, position = 1, 0, 0
    try:
        for position, (value, start) in enumerate(elements(text), start=1):
            line, counted = line + text.count("\n", counted, start), start
            yield value, Place(line, position)
    except Faulty as fault:
        line = 1 + text.count("\n", 0, fault.position)
        column = fault.position - text.rfind("\n", 0, fault.position)
        after = f", after sample {position}" if position else ""
        intake.add(Problem(f"{fault} (column {column}{after})", line=line))


def write_json(samples: Iterable[Sample]) -> Iterator[bytes]:
    """An array with one sample a line."""
    before = b"[\n"
    for sample in samples:
        yield before + dump(sample.to_json())
        before = b",\n"
    yield b"[]\n" if before == b"[\n" else b"\n]\n"
