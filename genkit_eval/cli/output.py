"""What is printed: reports on stdout, everything else on stderr, harmless for terminals, pipes and old encodings."""

from __future__ import annotations

import errno
import json
import os
import re
import sys
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TextIO

from genkit_eval.errors import StoreError
from genkit_eval.report.lines import Line, rendered
from genkit_eval.report.text import one_line

__all__ = [
    "OpenStderr",
    "animated",
    "broken",
    "close_streams",
    "coloured",
    "columns",
    "prepare_streams",
    "say",
    "say_json",
    "tell",
]

PIPED_COLUMNS = 80

_NOT_ASCII = re.compile("[^\x00-\x7f]")


def prepare_streams() -> None:
    """What an old encoding cannot write is replaced, so that printing never decides how a command ends."""
    # a supervisor may start us with neither: what is printed goes nowhere then
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = sys.stderr or _nowhere()
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")


def _nowhere() -> TextIO:
    return Path(os.devnull).open("w", encoding="utf-8")


def close_streams() -> None:
    """Write what is still held; a reader that has gone is no error."""
    for stream in (sys.stdout, sys.stderr):
        _flush(stream)


def say(lines: Iterable[Line]) -> None:
    """Print the lines of a report on stdout."""
    for text in rendered(lines, colour=coloured(sys.stdout)):
        _write(sys.stdout, f"{text}\n")


def say_json(pieces: Iterable[str]) -> None:
    """Print a JSON document on stdout, in plain ASCII where the stream cannot write all letters."""
    ascii_only = not (sys.stdout.encoding or "").lower().startswith("utf")
    for piece in pieces:
        # json.dumps knows how to write letters beyond 16 bits as two escapes
        text = _NOT_ASCII.sub(lambda match: json.dumps(match[0])[1:-1], piece) if ascii_only else piece
        _write(sys.stdout, text)
    _write(sys.stdout, "\n")


def tell(text: str, *, whole: bool = False) -> None:
    """Print a line on stderr: progress, notices, errors.

    On a terminal it is broken between words, unless it is to be copied `whole`.
    """
    for line in [one_line(text)] if whole else broken(text, sys.stderr):
        _write(sys.stderr, f"{line}\n")
    _flush(sys.stderr)


def broken(text: str, stream: TextIO) -> list[str]:
    """A message in lines of a terminal's width, broken between words; in one line where the stream is none."""
    line = one_line(text)
    if not animated(stream):
        return [line]
    width = _columns_of(stream)
    parts = textwrap.wrap(line, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return parts or [line]


def coloured(stream: TextIO) -> bool:
    """Whether to colour: on a terminal, unless NO_COLOR; elsewhere only by FORCE_COLOR."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR") not in (None, "", "0"):
        return True
    return animated(stream)


def animated(stream: TextIO) -> bool:
    """Whether the stream is a terminal that can move its cursor."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def columns() -> int:
    """How wide a report may be."""
    if not sys.stdout.isatty():
        return PIPED_COLUMNS
    return _columns_of(sys.stdout)


def _columns_of(terminal: TextIO) -> int:
    wanted = os.environ.get("COLUMNS", "")
    try:
        found = int(wanted) if wanted.isdecimal() else os.get_terminal_size(terminal.fileno()).columns
    except OSError:
        found = 0
    return max(found or PIPED_COLUMNS, 20)


class OpenStderr:
    """The stderr of the moment as a stream for what an app prints: a reader that has gone must not fail a flow."""

    def write(self, text: str) -> int:
        """Write, or write nowhere."""
        _write(sys.stderr, text)
        return len(text)

    def flush(self) -> None:
        """Write what is still held."""
        _flush(sys.stderr)

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.stderr, name)


def _write(stream: TextIO, text: str) -> None:
    try:
        stream.write(text)
    except OSError as problem:
        _give_up(stream, problem)


def _flush(stream: TextIO) -> None:
    try:
        stream.flush()
    except OSError as problem:
        _give_up(stream, problem)


def _give_up(stream: TextIO, problem: OSError) -> None:
    """Send what follows nowhere. A reader that has gone is normal, a full disk is not."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
    # Windows says EINVAL of a closed pipe
    if problem.errno not in (errno.EPIPE, errno.EINVAL):
        raise StoreError(f"the output cannot be written: {problem.strerror}") from problem
