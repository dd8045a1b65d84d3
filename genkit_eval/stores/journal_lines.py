"""Where each result of a journal lies in its file, and how late metrics are put into their result.

A journal is a header line, then one line per finished piece of work: a result as the run file will hold it (its
slot is its number among the result lines), `{"s":slot,"m":{…}}` for a metric that came later, `{"d":slot}` for a
result that no longer counts, `{"k":{…}}` for what changed in the run's key, `{"s":slot,"c":"key","r":{…}}` for a
model's reply to a request of an evaluator that is not done with that case.
"""

from __future__ import annotations

import logging
from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Self

from genkit_eval._json import load
from genkit_eval.errors import CorruptFile

__all__ = ["JournalLines", "read_header"]

_PIECE = 1 << 18
_BEFORE, _AHEAD = 1 << 16, 1 << 18

_log = logging.getLogger(__name__)


class _Window:
    """Reads a file piece by piece, mostly forward: a mapped file would count as memory of this process."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._data, self._start = b"", 0

    def read(self, start: int, size: int) -> bytes:
        """So many bytes from there on."""
        at = start - self._start
        if at < 0 or at + size > len(self._data):
            # cases end a little out of order: what lies just before is asked for soon
            self._start = max(0, start - _BEFORE)
            self._file.seek(self._start)
            self._data = self._file.read(start - self._start + size + _AHEAD)
            at = start - self._start
        return self._data[at : at + size]


class JournalLines:
    """Offsets only: 12 bytes for a result; when metrics come late, 4 more for it and 16 for each of them."""

    def __init__(self, end: int) -> None:
        self.end = end
        self.dropped: set[int] = set()
        self.notes: dict[str, Any] = {}
        self._starts = array("Q")
        self._sizes = array("I")
        # late metrics are chained: a slot knows its newest one (plus 1), each knows the one before
        self._newest = array("I")
        self._previous = array("I")
        self._late_starts = array("Q")
        self._late_sizes = array("I")
        # replies are looked up only after an interruption: those of this session are not noted
        self._call_slots = array("q")
        self._call_starts = array("Q")
        self._call_sizes = array("I")
        self._others = False
        self._in_order = False

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

    def pass_over(self, size: int) -> None:
        """Note that the end has a line of that many bytes that is part of no result."""
        self.end += size
        self._others = True

    def calls(self, slots: Collection[int]) -> Iterator[tuple[int, int, int]]:
        """Slot, start and size of each line with a reply for one of these slots that an earlier session wrote."""
        for slot, start, size in zip(self._call_slots, self._call_starts, self._call_sizes, strict=True):
            if slot in slots:
                yield slot, start, size

    def kept(self) -> Iterable[int]:
        """The slots that count, in order."""
        if not self.dropped:
            return range(len(self))
        return [slot for slot in range(len(self)) if slot not in self.dropped]

    def results(self, file: BinaryIO, slots: Iterable[int]) -> Iterator[bytes]:
        """The results of those slots, each with its late metrics."""
        read, starts, sizes = _Window(file).read, self._starts, self._sizes
        for slot in slots:
            result = read(starts[slot], sizes[slot])
            late = self._late(slot)
            yield _with_metrics(result, [read(start, size) for start, size in late]) if late else result

    def joined(self, file: BinaryIO, slots: Sequence[int]) -> Iterator[bytes]:
        """The results of those slots in pieces, results within a piece separated by ", "."""
        place = 0
        in_a_row = not (self._late_starts or self.dropped or self._others)
        self._in_order = in_a_row and array("q", slots) == array("q", range(len(self)))
        while place < len(slots):
            stop = self._neighbours(slots, place)
            if stop == place:
                stop = place + 1
                yield from self.results(file, slots[place:stop])
            else:
                start, last = self._starts[slots[place]], slots[stop - 1]
                file.seek(start)
                data = file.read(self._starts[last] + self._sizes[last] - start)
                # no line break lies within a result
                yield data.replace(b"\n", b", ")
            place = stop

    def _neighbours(self, slots: Sequence[int], place: int) -> int:
        """Up to where the results lie one after the other in the file, whole as they are, in a piece of some size."""
        starts, sizes, newest = self._starts, self._sizes, self._newest
        if self._in_order and slots[place] == place:
            return max(place + 1, bisect_left(starts, starts[place] + _PIECE))
        end = starts[slots[place]]
        most = end + _PIECE
        while place < len(slots) and end < most:
            slot = slots[place]
            if starts[slot] != end or (slot < len(newest) and newest[slot]):
                break
            end += sizes[slot] + 1
            place += 1
        return place

    def _late(self, slot: int) -> list[tuple[int, int]]:
        """Where the late metrics of a slot lie, in their order."""
        metrics = []
        newest = self._newest[slot] if slot < len(self._newest) else 0
        while newest:
            metrics.append((self._late_starts[newest - 1], self._late_sizes[newest - 1]))
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
        elif line.startswith(b'{"k":'):
            return self._take_note(line)
        else:
            self.add(len(line) - 1)
        return True

    def _take_note(self, line: bytes) -> bool:
        try:
            self.notes.update(load(line)["k"])
        except (ValueError, TypeError):
            return False
        self.pass_over(len(line))
        return True

    def _take_late(self, line: bytes) -> bool:
        if line.startswith(b',"c":', line.find(b",")):
            return self._take_call(line)
        comma = line.find(b',"m":')
        slot = int(line[5:comma]) if line[5:comma].isdigit() else len(self)
        if slot >= len(self):
            return False
        prefix = comma + 5
        self.add_late(slot, prefix, len(line) - prefix - 2)
        return True

    def _take_call(self, line: bytes) -> bool:
        slot = line[5 : line.find(b",")]
        if not slot.removeprefix(b"-").isdigit() or int(slot) >= len(self):
            return False
        self._call_slots.append(int(slot))
        self._call_starts.append(self.end)
        self._call_sizes.append(len(line))
        self.pass_over(len(line))
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
