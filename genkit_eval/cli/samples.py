"""Samples as the command line takes them: from a dataset, a file or stdin."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from genkit_eval.cli.output import tell
from genkit_eval.datasets import FORMATS, check_file, files_like, read_samples
from genkit_eval.engine import DataFile
from genkit_eval.errors import ConfigError, NotFound
from genkit_eval.stored import DatasetSchema
from genkit_eval.types import Sample

__all__ = ["data_of", "samples_of", "suggesting_files"]

_ENDINGS = tuple(ending for endings in FORMATS.values() for ending in endings)


def data_of(text: str, *, format: str | None) -> str | Path | DataFile | list[Sample]:
    """A dataset's id, a file (it is there, or its ending is that of a data file), or the samples on stdin ("-")."""
    if text == "-":
        return samples_of(text, format=format)
    if format is not None:
        return DataFile(Path(text), format)
    path = Path(text)
    return path if path.is_file() or path.suffix.lower() in _ENDINGS else text


@contextmanager
def suggesting_files(data: object) -> Iterator[None]:
    """Within, a dataset that does not exist is refused with the files that are called nearly so, or how to add it."""
    try:
        yield
    except NotFound as problem:
        if problem.kind != "dataset" or not isinstance(data, str):
            raise
        if Path(data).is_dir():
            raise ConfigError(f"'{data}' is a folder: name a file of samples in it") from problem
        near = files_like(Path(data))
        if near:
            raise ConfigError(f"{problem}; did you mean the file {' or '.join(near)}?") from problem
        if "did you mean" in str(problem):
            raise
        raise ConfigError(f"{problem}: add it with genkit-eval dataset add {data} FILE, or name a file") from problem


def samples_of(text: str, *, format: str | None, schema: DatasetSchema | None = None) -> list[Sample]:
    """The samples of a file or of stdin, all problems found before; what is odd is told."""
    if text == "-":
        if format is None:
            raise click.UsageError(f"samples from stdin need --format: one of {', '.join(FORMATS)}")
        return list(read_samples(sys.stdin.buffer, format=format, schema=schema))
    for notice in check_file(Path(text), format=format, schema=schema).notices:
        tell(f"note: {notice}")
    return list(read_samples(Path(text), format=format, schema=schema))
