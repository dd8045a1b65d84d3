"""Samples as a dataset's files hold them: what Genkit knows apart from what is ours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, overload

from genkit_eval._data import collector_paused
from genkit_eval.errors import DataError, NotFound
from genkit_eval.stores.records import sample_from_json
from genkit_eval.types import Sample

__all__ = ["Rows", "StoredSamples", "patched", "rows_of"]

CHUNK = 1_000

_GENKIT = ("testCaseId", "input", "reference")
_PLAIN = frozenset({"test_case_id", "input", "reference"})

Rows = tuple[Sequence[dict[str, Any]], dict[str, dict[str, Any]]]
"""Samples with Genkit's keys, and by test case id the further keys of those that have some."""


class StoredSamples(Sequence[Sample]):
    """The samples of a version in order; each is built when it is asked for."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows[0])

    @overload
    def __getitem__(self, index: int) -> Sample: ...
    @overload
    def __getitem__(self, index: slice) -> list[Sample]: ...
    def __getitem__(self, index: int | slice) -> Sample | list[Sample]:
        if isinstance(index, slice):
            return [self._sample(row) for row in self.rows[0][index]]
        return self._sample(self.rows[0][index])

    def __iter__(self) -> Iterator[Sample]:
        rows = self.rows[0]
        for start in range(0, len(rows), CHUNK):
            # the collector would walk all that is kept, again and again, while more is built
            with collector_paused():
                chunk = [self._sample(row) for row in rows[start : start + CHUNK]]
            yield from chunk

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # as of any sequence that compares by value

    def __repr__(self) -> str:
        return f"<{len(self)} samples>"

    def _sample(self, row: Mapping[str, Any]) -> Sample:
        extra = self.rows[1].get(row["testCaseId"]) if self.rows[1] else None
        return sample_from_json(row if extra is None else {**row, **extra})


def rows_of(samples: Sequence[Sample], *, dataset: str) -> Rows:
    """The rows of samples from code.

    Raises:
        DataError: a sample without an id, or an id twice; names the places.
    """
    ids = [sample.test_case_id for sample in samples]
    if not all(ids) or len(set(ids)) != len(ids):
        _refuse_ids(ids, dataset)
    if isinstance(samples, StoredSamples):
        return samples.rows
    extras = {}
    for sample in samples:
        if not sample.model_fields_set <= _PLAIN:
            extra = {key: value for key, value in sample.to_json().items() if key not in _GENKIT}
            if extra and sample.test_case_id is not None:
                extras[sample.test_case_id] = extra
    return _SampleRows(samples), extras


def _refuse_ids(ids: Iterable[str | None], dataset: str) -> None:
    places: dict[str, int] = {}
    for place, test_case_id in enumerate(ids, 1):
        if not test_case_id:
            raise DataError(f"sample {place} of dataset '{dataset}' has no test case id: give it one")
        first = places.setdefault(test_case_id, place)
        if first != place:
            raise DataError(
                f"samples {first} and {place} of dataset '{dataset}' have the same test case id '{test_case_id}': "
                "give each its own"
            )


class _SampleRows(Sequence[dict[str, Any]]):
    """Rows made when they are asked for: a hundred thousand at once would cost more than writing them."""

    def __init__(self, samples: Sequence[Sample]) -> None:
        self._samples = samples

    def __len__(self) -> int:
        return len(self._samples)

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, index: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        if isinstance(index, slice):
            return [_row(sample) for sample in self._samples[index]]
        return _row(self._samples[index])


def _row(sample: Sample) -> dict[str, Any]:
    # three times as quick as to_json: this runs for each of a million samples
    given, values = sample.model_fields_set, sample.__dict__
    if "input" in given and "reference" in given:
        return {"testCaseId": values["test_case_id"], "input": values["input"], "reference": values["reference"]}
    row = {"testCaseId": values["test_case_id"]}
    for name in ("input", "reference"):
        if name in given:
            row[name] = values[name]
    return row


def patched(old: Rows, new: Rows, delete: Iterable[str], *, dataset: str) -> Rows:
    """Rows with those of `new` put in place of the ones with the same id, or appended, and those of `delete` gone.

    Raises:
        DataError: an id is to be both deleted and written.
        NotFound: an id to delete is not there.
    """
    by_id = {row["testCaseId"]: row for row in old[0]}
    extras = dict(old[1])
    written = {row["testCaseId"] for row in new[0]}
    for test_case_id in dict.fromkeys(delete):
        if test_case_id in written:
            raise DataError(f"test case '{test_case_id}' of dataset '{dataset}' is to be both deleted and written")
        if by_id.pop(test_case_id, None) is None:
            raise NotFound("test case", test_case_id, known=by_id, where=f"dataset '{dataset}'")
        extras.pop(test_case_id, None)
    for row in new[0]:
        # a sample is replaced whole, so what was ours of it goes too
        extras.pop(row["testCaseId"], None)
        by_id[row["testCaseId"]] = row
    return list(by_id.values()), {**extras, **new[1]}
