"""Where samples come from: a path or an open stream, its name, its format, and its lines as text."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from genkit_eval.errors import ConfigError, DataFileError, NotGiven, Problem

__all__ = [
    "BOM",
    "FORMATS",
    "Source",
    "decoded",
    "encoding_problem",
    "files_like",
    "format_of",
    "name_of",
    "opened",
    "text_lines",
]

Source = Path | str | TextIO | BinaryIO

FORMATS = {
    "json": (".json",),
    "jsonl": (".jsonl", ".ndjson"),
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "yaml": (".yaml", ".yml"),
    "chat": (),
}
"""Each format with the file name endings that mean it; chats lie in JSON and JSON Lines, so it has to be asked for."""

BOM = b"\xef\xbb\xbf"


def name_of(source: Source) -> str:
    """What messages call the source: its path as given, a stream's name, or `stdin`."""
    if isinstance(source, str | Path):
        return str(source)
    name = getattr(source, "name", None)
    return str(name).strip("<>") if isinstance(name, str) else "stdin"


def format_of(source: Source, given: str | None) -> str:
    """The format as asked for, else what the file name's ending means.

    Raises:
        ConfigError: no such format, or none was given and the name does not tell.
    """
    known = ", ".join(FORMATS)
    if given is not None:
        if given.lower() not in FORMATS:
            raise ConfigError(f"format '{given}' is not known: use one of {known}")
        return given.lower()
    ending = Path(name_of(source)).suffix.lower()
    for name, endings in FORMATS.items():
        if ending in endings:
            return name
    problem = f"{name_of(source)}: the format cannot be told from the name"
    raise NotGiven("format", problem, advice=f"give one of {known}")


def files_like(path: Path) -> list[str]:
    """The data files in the same folder that are called nearly so, those with another ending first; three at most."""
    endings = {ending for endings in FORMATS.values() for ending in endings}
    try:
        found = sorted(one for one in path.parent.iterdir() if one.suffix.lower() in endings)
    except OSError:
        return []
    stems = [path.stem, *get_close_matches(path.stem, {one.stem for one in found}, n=3, cutoff=0.75)]
    return list(dict.fromkeys(f"'{one}'" for stem in stems for one in found if one.stem == stem))[:3]


@contextmanager
def opened(source: Source) -> Iterator[BinaryIO]:
    """The source as a stream of bytes; only what was opened here is closed.

    Raises:
        DataFileError: the file is missing or cannot be read.
    """
    if isinstance(source, str | Path):
        try:
            file = Path(source).open("rb")  # noqa: SIM115 - closed below, and its errors told apart from the reader's
        except OSError as problem:
            near = files_like(Path(source)) if isinstance(problem, FileNotFoundError) else []
            hint = f"; did you mean {' or '.join(near)}?" if near else ""
            reason = f"{problem.strerror or problem}{hint}"
            raise DataFileError(str(source), [Problem(f"cannot be read: {reason}")]) from problem
        with file:
            yield file
    elif isinstance(source, io.TextIOBase):
        raw = getattr(source, "buffer", None)
        yield cast("BinaryIO", raw) if raw is not None else io.BytesIO(source.read().encode(errors="surrogatepass"))
    else:
        # what is no text stream is a binary one
        yield cast("BinaryIO", source)


def encoding_problem(fault: UnicodeDecodeError, *, offset: int, line: int | None) -> Problem:
    """What to say of bytes that are no UTF-8; `offset` is where the decoded bytes begin in the file."""
    place = offset + fault.start
    found = fault.object[fault.start]
    return Problem(f"byte {place} (0x{found:02x}) is not UTF-8: save the file as UTF-8", line=line)


def decoded(data: bytes) -> str | Problem:
    """The text of a whole file without its byte order mark, or what is wrong with its encoding."""
    skipped = len(BOM) if data.startswith(BOM) else 0
    try:
        return data[skipped:].decode()
    except UnicodeDecodeError as fault:
        line = data.count(b"\n", 0, skipped + fault.start) + 1
        return encoding_problem(fault, offset=skipped, line=line)


def text_lines(stream: BinaryIO) -> Iterator[str | Problem]:
    """The lines of a stream with their endings, cut at line feeds only; ends with a problem where it is not UTF-8."""
    offset = 0
    for number, line in enumerate(stream, start=1):
        skipped = len(BOM) if number == 1 and line.startswith(BOM) else 0
        try:
            yield line[skipped:].decode()
        except UnicodeDecodeError as fault:
            yield encoding_problem(fault, offset=offset + skipped, line=number)
            return
        offset += len(line)
