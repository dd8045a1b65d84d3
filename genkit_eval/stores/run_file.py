"""A run file: how it is written, and how its results are found again without parsing them."""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

from genkit_eval._files import Draft
from genkit_eval._json import dump, load
from genkit_eval.errors import CorruptFile, StoreError
from genkit_eval.stored import EvalRunKey

__all__ = ["ResultSlices", "check_whole", "read_key", "read_parsed", "write_run"]

# larger ones are fresh memory each time, which the system must clear before
_BLOCK = 1 << 18
_HEAD = 1 << 16
_KEY = b'{"key":'
_FIRST = b',"results":[ {"testCaseId":'
_NEXT = b'}, {"testCaseId":'
_ADVICE = "its journal is gone; delete the run, or restore the file"


def write_run(target: Path, key: EvalRunKey, results: Iterable[bytes]) -> None:
    """Write a run file, atomically and durably; `results` are single ones, or several joined by ", ".

    It is one line, compact but for a space before each result: JSON text can hold `, {"testCaseId":` nowhere else,
    so the results are found again without parsing them.
    """
    with Draft(target) as draft:
        draft.write(_KEY + dump(key.to_json()) + b',"results":[')
        pending: list[bytes] = []
        size, separator = 0, b" "
        for result in results:
            pending.append(result)
            size += len(result)
            if size > _BLOCK:
                draft.write(separator + b", ".join(pending))
                pending, size, separator = [], 0, b", "
        if pending:
            draft.write(separator + b", ".join(pending))
        draft.write(b"]}")
        draft.replace()


def check_whole(path: Path) -> None:
    """Look at both ends of a run file.

    Raises:
        CorruptFile: it is empty, cut off, or no run file.
    """
    with path.open("rb") as file:
        head = file.read(1)
        file.seek(max(0, path.stat().st_size - 64))
        tail = file.read().rstrip()
    if head != b"{" or not tail.endswith(b"}"):
        raise CorruptFile(path, "is cut off" if head == b"{" else "is not a run file", advice=_ADVICE)


def read_key(path: Path) -> dict[str, Any]:
    """The key of a run file, of the head alone where it comes first; of a foreign file after parsing it whole."""
    check_whole(path)
    with path.open("rb") as file:
        head = file.read(_HEAD)
        while head.startswith(_KEY):
            try:
                # the cut may lie within a character
                text = head[len(_KEY) :].decode(errors="ignore")
                key, _ = json.JSONDecoder().raw_decode(text)
            except ValueError:
                more = file.read(len(head))
                if not more:
                    break
                head += more
                continue
            if isinstance(key, dict):
                return key
            break
    return read_parsed(path)[0]


def read_parsed(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Key and results of any run file, parsed whole."""
    try:
        run = load(path.read_bytes())
    except ValueError as problem:
        raise CorruptFile(path, f"is not JSON ({problem})", advice=_ADVICE) from problem
    key, results = (run.get("key"), run.get("results")) if isinstance(run, dict) else (None, None)
    if not isinstance(key, dict) or not isinstance(results, list) or not all(isinstance(r, dict) for r in results):
        raise CorruptFile(path, "is not a run: expected an object with 'key' and 'results'", advice=_ADVICE)
    return key, results


class ResultSlices:
    """Where the results of a run file lie that `write_run` wrote: 8 bytes each, looked for when first needed."""

    def __init__(self, path: Path, first: int, end: int, signature: tuple[int, int, int]) -> None:
        self.path = path
        self._first, self._end, self._signature = first, end, signature

    def __len__(self) -> int:
        return len(self._starts)

    @cached_property
    def _starts(self) -> array[int]:
        with self.path.open("rb") as file:
            self._check(file)
            return _starts(file, self._first)

    def _check(self, file: BinaryIO) -> None:
        if _signature(file) != self._signature:
            raise StoreError(f"{self.path}: was replaced since this run was loaded; load it again")

    def read(self, places: range) -> Iterator[bytes]:
        """The JSON of the results at those places, in that order, as a stream."""
        starts, last = self._starts, len(self._starts) - 1
        with self.path.open("rb") as file:
            self._check(file)
            at = -1
            for place in places:
                start = starts[place]
                stop = self._end if place == last else starts[place + 1] - 2
                if start != at:
                    file.seek(start)
                data = file.read(stop - start)
                # the separator too, so that reading on needs no seek, which would empty the buffer
                at = stop + len(file.read(2))
                yield data

    @classmethod
    def find(cls, path: Path) -> ResultSlices | None:
        """Look for the results; None if `write_run` did not write this file."""
        with path.open("rb") as file:
            head = file.read(_HEAD)
            while (first := head.find(_FIRST)) < 0:
                more = file.read(len(head))
                if not more:
                    return None
                head += more
            start = first + len(_FIRST) - len(b'{"testCaseId":')
            end = path.stat().st_size - 2
            return cls(path, start, end, _signature(file))


def _starts(file: BinaryIO, first: int) -> array[int]:
    starts = array("Q", [first])
    keep = len(_NEXT) - 1
    file.seek(first)
    block, at = b"", first
    while more := file.read(_BLOCK):
        block += more
        found = block.find(_NEXT)
        while found >= 0:
            starts.append(at + found + 3)
            found = block.find(_NEXT, found + keep)
        at += len(block) - keep
        block = block[-keep:]
    return starts


def _signature(file: BinaryIO) -> tuple[int, int, int]:
    status = os.fstat(file.fileno())
    return status.st_ino, status.st_size, status.st_mtime_ns
