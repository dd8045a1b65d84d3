"""JSON Lines: one sample a line, read as a stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO

import orjson

from genkit_eval._data import collector_paused
from genkit_eval._json import dump
from genkit_eval.datasets.intake import Batch, Intake, Place
from genkit_eval.datasets.sources import BOM, encoding_problem
from genkit_eval.datasets.strict_json import Faulty, is_exact, parse
from genkit_eval.errors import Problem
from genkit_eval.types import Sample

__all__ = ["pieces", "read_jsonl", "rows", "write_jsonl"]

PIECE_BYTES = 1 << 20


def read_jsonl(stream: BinaryIO, intake: Intake) -> Iterator[Batch]:
    """Batches of whole lines of about a megabyte; blank lines carry no sample."""
    line, position, offset = 1, 1, 0
    for piece in pieces(stream):
        skipped = len(BOM) if offset == 0 and piece.startswith(BOM) else 0
        lines = piece[skipped:].split(b"\n")
        with collector_paused():
            samples = None if intake.careful else _quick(piece[skipped:], lines, position, intake)
            if samples is None:
                batch = intake.batch(rows(lines, Place(line, position), offset + skipped, intake))
                position += sum(1 for text in lines if text and not text.isspace())
            else:
                batch = Batch(samples)
                position += len(samples)
        yield batch
        line += len(lines) - 1
        offset += len(piece)


def pieces(stream: BinaryIO) -> Iterator[bytes]:
    """The stream cut after line feeds only: other line separators may stand inside a string."""
    kept: list[bytes] = []
    while data := stream.read(PIECE_BYTES):
        cut = data.rfind(b"\n") + 1
        if cut:
            yield b"".join([*kept, data[:cut]])
            kept = [data[cut:]]
        else:
            kept.append(data)
    if rest := b"".join(kept):
        yield rest


def _quick(piece: bytes, lines: list[bytes], position: int, intake: Intake) -> list[Sample] | None:
    try:
        values = [orjson.loads(line) for line in lines if line and not line.isspace()]
    except orjson.JSONDecodeError:
        return None
    if not is_exact(piece, values, compact=piece.replace(b"\n", b","), start=0):
        return None
    return intake.quick(values, position)


def rows(lines: list[bytes], first: Place, offset: int, intake: Intake) -> Iterator[tuple[object, Place]]:
    """The JSON values of lines, each with its place; lines that hold none are problems, which are kept.

    Args:
        lines: of one piece of the stream.
        first: the place of the first one.
        offset: where the piece begins, in bytes.
    """
    position, line = first.position, first.line or 1
    for number, data in enumerate(lines, start=line):
        if data and not data.isspace():
            try:
                yield parse(data.decode()), Place(number, position)
            except UnicodeDecodeError as fault:
                intake.add(encoding_problem(fault, offset=offset, line=number))
            except Faulty as fault:
                message = f"{fault} (column {fault.position + 1})"
                intake.add(Problem(message, line=number, sample=str(position)))
            position += 1
        offset += len(data) + 1


def write_jsonl(samples: Iterable[Sample]) -> Iterator[bytes]:
    """One compact JSON object a line."""
    for sample in samples:
        yield dump(sample.to_json()) + b"\n"
