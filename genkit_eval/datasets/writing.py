"""Writing samples, in the formats that are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from genkit_eval._files import replace
from genkit_eval.datasets.delimited import write_delimited
from genkit_eval.datasets.json_files import write_json
from genkit_eval.datasets.jsonl import write_jsonl
from genkit_eval.datasets.sources import format_of
from genkit_eval.datasets.yaml_files import write_yaml
from genkit_eval.errors import ConfigError
from genkit_eval.stored import DatasetSchema
from genkit_eval.types import Sample

__all__ = ["encode_samples", "write_samples"]


def write_samples(
    path: Path | str, samples: Iterable[Sample], *, format: str | None = None, schema: DatasetSchema | None = None
) -> None:
    """Write a file of samples, whole or not at all; `read_samples` gives the same ones back.

    Args:
        path: what is there is replaced.
        samples: written as they come; CSV and TSV hold them in memory to find their columns.
        format: json, jsonl, csv, tsv or yaml; else the file name's ending tells.
        schema: the one to read CSV or TSV with again, where inputs or references are not text.
    Raises:
        DataFileError: CSV or TSV cannot hold a value; nothing is written.
        ConfigError: the format is not known, or is only read.
    """
    kind = format_of(path, format)
    if kind == "chat":
        raise ConfigError("logs of chats are read, not written: use one of json, jsonl, csv, tsv, yaml")
    replace(Path(path), encode_samples(samples, format=kind, schema=schema, target=str(path)))


def encode_samples(
    samples: Iterable[Sample], *, format: str, schema: DatasetSchema | None = None, target: str = "samples"
) -> Iterator[bytes]:
    """The bytes of such a file, piece by piece; `target` is what messages call it."""
    if format in ("csv", "tsv"):
        delimiter = "," if format == "csv" else "\t"
        return write_delimited(samples, delimiter=delimiter, schema=schema, target=target)
    writer = {"json": write_json, "jsonl": write_jsonl, "yaml": write_yaml}[format]
    return _joined(writer(samples))


def _joined(parts: Iterator[bytes]) -> Iterator[bytes]:
    """In pieces of about 64 KiB: a write each would cost more than making them."""
    held, size = [], 0
    for part in parts:
        held.append(part)
        size += len(part)
        if size >= 1 << 16:
            yield b"".join(held)
            held, size = [], 0
    yield b"".join(held)
