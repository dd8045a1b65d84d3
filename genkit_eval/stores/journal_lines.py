"""Where each result of a journal lies in its file, and how late metrics are put into their result.

A journal is a header line, then one line per finished piece of work: a result as the run file will hold it (its
slot is its number among the result lines), `{"s":slot,"m":{…}}` for a metric that came later, `{"d":slot}` for a
result that no longer counts.
"""

from __future__ import annotations

import logging
from array import array
from collections.abc import Iterable, Iterator, Sequence
from mmap import mmap
from pathlib import Path
from typing import Any, Self

from genkit_eval._json import load
from genkit_eval.errors import CorruptFile

__all__ = ["JournalLines", "read_header"]

_PIECE = 1 << 22

_log = logging.getLogger(__name__)


class JournalLines:
    """Offsets only: 12 bytes for a result; when metrics come late, 4 more for it and 16 for each of them."""

    def __init__(self, end: int) -> None:
        self.end = end
        self.dropped: set[int] = set()
        self._starts = array("Q")
        self._sizes = array("I")
        # late metrics are chained: a slot knows its newest one (plus 1), each knows the one before
        self._newest = array("I")
        self._previous = array("I")
        self._late_starts = array("Q")
        self._late_sizes = array("I")

    def __len__(self) -> int:
        return len(self._starts)

    def add(self, size: int) -> int:
        """Note a result line of that many bytes at the end; returns its slot."""
        slot = len(self._starts)
        self._starts.append(self.end)
        self._sizes.append(size)
        self.end += size + 1
        return slot

    def add_late(self, slot: int, prefix: int, size: int) -> None:
        """Note a late metric of `size` bytes, `prefix` bytes into a line at the end that closes with a brace."""
        missing = len(self._starts) - len(self._newest)
        if missing:
            self._newest.frombytes(bytes(missing * self._newest.itemsize))
        self._previous.append(self._newest[slot])
        self._late_starts.append(self.end + prefix)
        self._late_sizes.append(size)
        self._newest[slot] = len(self._late_starts)
        self.end += prefix + size + 2

    def kept(self) -> Iterable[int]:
        """The slots that count, in order."""
        if not self.dropped:
            return range(len(self))
        return [slot for slot in range(len(self)) if slot not in self.dropped]

    def results(self, data: mmap, slots: Iterable[int]) -> Iterator[bytes]:
        """The results of those slots, each with its late metrics."""
        starts, sizes, newest = self._starts, self._sizes, self._newest
        for slot in slots:
            start = starts[slot]
            result = data[start : start + sizes[slot]]
            if slot < len(newest) and newest[slot]:
                yield _with_metrics(result, self._late(data, newest[slot]))
            else:
                yield result

    def joined(self, data: mmap, slots: Sequence[int]) -> Iterator[bytes]:
        """The results of those slots in pieces, results within a piece separated by ", "."""
        if self._late_starts or self.dropped or not self._starts or array("q", slots) != array("q", range(len(self))):
            yield from self.results(data, slots)
            return
        # all of them in the order of the file, and no other lines: large pieces are quicker than single results
        at = self._starts[0]
        while at < self.end:
            stop = data.rfind(b"\n", at, at + _PIECE)
            if stop < 0:
                stop = data.find(b"\n", at)
            # no line break lies within a result
            yield data[at:stop].replace(b"\n", b", ")
            at = stop + 1

    def _late(self, data: mmap, newest: int) -> list[bytes]:
        metrics = []
        while newest:
            start = self._late_starts[newest - 1]
            metrics.append(data[start : start + self._late_sizes[newest - 1]])
            newest = self._previous[newest - 1]
        return metrics[::-1]

    @classmethod
    def scan(cls, path: Path) -> Self:
        """Find the lines of a journal, up to the last whole one."""
        with path.open("rb") as file:
            lines = cls(len(file.readline()))
            for line in file:
                if not (line.startswith(b"{") and line.endswith(b"}\n")) or not lines._take(line):
                    # a torn last line is what a kill leaves; in the middle it is damage
                    level = logging.WARNING if line.endswith(b"\n") else logging.INFO
                    _log.log(level, "%s: what follows byte %d is not whole and is left out", path, lines.end)
                    break
        return lines

    def _take(self, line: bytes) -> bool:
        if line.startswith(b'{"s":'):
            return self._take_late(line)
        if line.startswith(b'{"d":'):
            self.dropped.add(int(line[5:-2]))
            self.end += len(line)
        else:
            self.add(len(line) - 1)
        return True

    def _take_late(self, line: bytes) -> bool:
        comma = line.find(b',"m":')
        slot = int(line[5:comma]) if line[5:comma].isdigit() else len(self)
        if slot >= len(self):
            return False
        prefix = comma + 5
        self.add_late(slot, prefix, len(line) - prefix - 2)
        return True


def _with_metrics(result: bytes, metrics: list[bytes]) -> bytes:
    head = result[:-2]
    return head + (b"" if head.endswith(b"[") else b",") + b",".join(metrics) + b"]}"


def read_header(path: Path) -> dict[str, Any]:
    """The key of the run that a journal belongs to, as JSON.

    Raises:
        CorruptFile: the first line is not a journal's.
    """
    with path.open("rb") as file:
        line = file.readline()
    try:
        key = load(line)["key"]
        if isinstance(key, dict):
            return key
    except (ValueError, KeyError, TypeError):
        pass
    raise CorruptFile(path, "its first line is not the header of a journal", advice="move it away; the run is lost")
