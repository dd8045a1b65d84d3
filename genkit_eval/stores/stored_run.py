"""A run as it lies on disk: its key, and its results read when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self, overload

from pydantic import ValidationError

from genkit_eval._json import dump, load
from genkit_eval.errors import CorruptFile, NotFound, StoreError
from genkit_eval.misfits import explained
from genkit_eval.stored import EvalResult, EvalRunKey, RunState
from genkit_eval.stores.journal_lines import JournalLines, read_header
from genkit_eval.stores.records import foreign_record, result_from_json
from genkit_eval.stores.run_file import ResultSlices, check_whole, read_key, read_parsed

__all__ = ["StoredResults", "StoredRun", "parse_key"]

_Read = Callable[[range], Iterator[bytes]]
_Build = Callable[[Mapping[str, Any]], EvalResult]


class StoredResults(Sequence[EvalResult]):
    """The results of a run in order; each is read from the file and built when it is asked for."""

    def __init__(self, path: Path, count: Callable[[], int], read: _Read, build: _Build) -> None:
        self._path, self._counter, self._read, self._build = path, count, read, build

    def __len__(self) -> int:
        return self._count

    @cached_property
    def _count(self) -> int:
        try:
            return self._counter()
        except FileNotFoundError as problem:
            raise self._gone() from problem

    @overload
    def __getitem__(self, index: int) -> EvalResult: ...
    @overload
    def __getitem__(self, index: slice) -> list[EvalResult]: ...
    def __getitem__(self, index: int | slice) -> EvalResult | list[EvalResult]:
        places = range(self._count)[index]
        if isinstance(places, range):
            return list(self._stream(places))
        return next(self._stream(range(places, places + 1)))

    def __iter__(self) -> Iterator[EvalResult]:
        return self._stream(range(self._count))

    def __repr__(self) -> str:
        return f"<{self._count} results of {self._path}>"

    def raw(self) -> Iterator[bytes]:
        """The JSON of each result, as a stream."""
        return self._bytes(range(self._count))

    def holding(self, *marks: bytes) -> Iterator[EvalResult]:
        """Those in whose JSON one of the marks occurs. The others are not parsed: that is ten times quicker."""
        for place, data in enumerate(self.raw()):
            if any(mark in data for mark in marks):
                yield self._built(place, data)

    def at(self, places: Sequence[int]) -> StoredResults:
        """Those at some places, in the order given; they too are read when they are asked for."""

        def read(wanted: range) -> Iterator[bytes]:
            for place in wanted:
                yield from self._read(range(places[place], places[place] + 1))

        return StoredResults(self._path, places.__len__, read, self._build)

    def _bytes(self, places: range) -> Iterator[bytes]:
        try:
            yield from self._read(places)
        except FileNotFoundError as problem:
            raise self._gone() from problem

    def _gone(self) -> StoreError:
        return StoreError(f"{self._path}: is gone: the run was finished or deleted since it was loaded; load it again")

    def _stream(self, places: range) -> Iterator[EvalResult]:
        for place, data in zip(places, self._bytes(places), strict=True):
            yield self._built(place, data)

    def _built(self, place: int, data: bytes) -> EvalResult:
        try:
            return self._build(load(data))
        except (ValueError, TypeError, AttributeError) as problem:
            advice = "delete the run, or restore the file"
            raise CorruptFile(self._path, f"result {place} is not readable ({problem})", advice=advice) from problem


class StoredRun:
    """A stored run. `complete` is False for one that is in progress or was interrupted: it has what is there so far."""

    def __init__(self, path: Path, key: EvalRunKey, results: StoredResults, *, complete: bool = True) -> None:
        self.path, self.key, self.complete = path, key, complete
        self.results = results

    def raw(self) -> Iterator[bytes]:
        """The JSON of each result, as a stream."""
        return self.results.raw()

    def by_id(self, test_case_id: str) -> EvalResult:
        """The first result of that test case.

        Raises:
            NotFound: the run has no such case.
        """
        wanted = dump(test_case_id)
        for place, data in enumerate(self.raw()):
            # a cheap look first: most results are not the one
            if wanted in data and load(data).get("testCaseId") == test_case_id:
                return self.results[place]
        raise NotFound("test case", test_case_id, where=f"run '{self.key.eval_run_id}'")

    def __repr__(self) -> str:
        return f"<run '{self.key.eval_run_id}' with {len(self.results)} results, {self.key.state.value.lower()}>"

    @classmethod
    def open(cls, path: Path) -> Self:
        """A finished run by its file, ours or one of Genkit's tools.

        Raises:
            CorruptFile: it is not whole, or no run.
        """
        check_whole(path)
        slices = ResultSlices.find(path)
        if slices is not None:
            results = StoredResults(path, slices.__len__, slices.read, result_from_json)
            return cls(path, parse_key(path, read_key(path)), results)
        raw_key, rows = read_parsed(path)
        parsed = StoredResults(
            path, rows.__len__, lambda places: (dump(rows[place]) for place in places), _foreign_result
        )
        return cls(path, parse_key(path, raw_key), parsed)

    @classmethod
    def open_journal(cls, path: Path) -> Self:
        """A run in progress or interrupted by its journal: what is whole of it at this moment."""
        lines = JournalLines.scan(path)
        key = parse_key(path, read_header(path) | lines.notes).model_copy(update={"state": RunState.INCOMPLETE})
        slots = list(lines.kept())

        def read(places: range) -> Iterator[bytes]:
            with path.open("rb") as file:
                yield from lines.results(file, slots[places.start : places.stop : places.step])

        return cls(path, key, StoredResults(path, slots.__len__, read, result_from_json), complete=False)


def parse_key(path: Path, raw: Mapping[str, Any]) -> EvalRunKey:
    """The key of a run, whoever wrote it."""
    try:
        return foreign_record(EvalRunKey, raw)
    except ValidationError as problem:
        advice = "delete the run, or restore the file"
        raise CorruptFile(path, f"its key is not readable: {explained(problem, raw)}", advice=advice) from problem


def _foreign_result(raw: Mapping[str, Any]) -> EvalResult:
    metrics = [
        {name: value for name, value in metric.items() if value is not None} for metric in raw.get("metrics") or ()
    ]
    return foreign_record(EvalResult, {**raw, "metrics": metrics})
