"""Results as files for other tools: json and jsonl as Genkit writes them, and csv."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from genkit_eval._files import replace
from genkit_eval._json import dump, indented
from genkit_eval.errors import ConfigError, StoreError
from genkit_eval.report.csv_export import csv_rows
from genkit_eval.stored import EvalResult

__all__ = ["EXPORT_FORMATS", "check_export", "export_bytes", "export_format", "export_results"]

EXPORT_FORMATS = ("csv", "json", "jsonl")


def export_format(path: Path, given: str | None = None) -> str:
    """The format asked for, else the one that the file's ending means.

    Raises:
        ConfigError: no such format; lists those there are.
    """
    known = ", ".join(EXPORT_FORMATS)
    if given is not None:
        if given.lower() not in EXPORT_FORMATS:
            raise ConfigError(f"output format '{given}' does not exist: use one of {known}")
        return given.lower()
    ending = path.suffix.lower().removeprefix(".")
    if ending not in EXPORT_FORMATS:
        raise ConfigError(f"{path}: its ending names no output format: name one of {known}, or end it so")
    return ending


def check_export(path: Path) -> None:
    """Whether a file can be written there, looked at before a run is paid for.

    Raises:
        ConfigError: there is no such folder, it is not writable, or the path is a folder itself.
    """
    folder = path.absolute().parent
    if path.is_dir():
        raise ConfigError(f"{path} is a folder: give the name of a file")
    if not folder.is_dir():
        raise ConfigError(f"{path} cannot be written: there is no folder {folder}; make it first")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ConfigError(f"{path} cannot be written: {folder} is not writable; choose another folder")


def export_results(path: Path, results: Sequence[EvalResult], *, format: str) -> None:
    """Write the results, whole or not at all, over whatever is there.

    Raises:
        StoreError: the file could not be written.
    """
    try:
        replace(path, export_bytes(results, format=format))
    except OSError as problem:
        raise StoreError(f"{path}: {problem.strerror or problem}; the run itself is kept") from problem


def export_bytes(results: Sequence[EvalResult], *, format: str) -> Iterator[bytes]:
    """The bytes of such a file, piece by piece; the results are gone through once, or twice for csv."""
    return {"csv": csv_rows, "json": _json_rows, "jsonl": _jsonl_rows}[format](results)


def _json_rows(results: Sequence[EvalResult]) -> Iterator[bytes]:
    """The array of results alone, indented by two, no line end at its end: as Genkit writes it."""
    before = b"[\n  "
    for result in results:
        yield before + indented(result.to_json()).replace(b"\n", b"\n  ")
        before = b",\n  "
    yield b"[]" if before.startswith(b"[") else b"\n]"


def _jsonl_rows(results: Sequence[EvalResult]) -> Iterator[bytes]:
    for result in results:
        yield dump(result.to_json()) + b"\n"
