"""Where a run's samples come from: a stored dataset, a file that is streamed, or objects in hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from genkit_eval.datasets import as_samples, check_file, check_ids, check_schema, fill_ids, read_samples, select
from genkit_eval.datasets.fields import OUTPUTS
from genkit_eval.engine.plan import Plan
from genkit_eval.errors import ConfigError, DataError, NotGiven
from genkit_eval.stored import DatasetMetadata
from genkit_eval.stores import DatasetStore
from genkit_eval.types import Sample

__all__ = [
    "Data",
    "DataFile",
    "Selection",
    "Source",
    "brings_outputs",
    "dataset_source",
    "file_source",
    "file_source_again",
    "inline_source",
    "no_source",
    "sample_problems",
]


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file whose ending does not tell its format."""

    path: Path
    format: str


Data = str | Path | DataFile | Iterable[Sample | Mapping[str, Any]]
"""A dataset's id, a file's path, or samples."""

SHOWN_PROBLEMS = 5


@dataclass(frozen=True, slots=True)
class Selection:
    """Which samples of a dataset take part: by tag (any of them), by id, the first `limit`, or `sample` at random."""

    tags: Sequence[str] = ()
    ids: Sequence[str] = ()
    limit: int | None = None
    sample: int | None = None
    seed: int | None = None

    def __bool__(self) -> bool:
        return bool(self.tags or self.ids or self.limit is not None or self.sample is not None)

    def apply(self, samples: Iterable[Sample]) -> Iterable[Sample]:
        """The samples that take part, in their order."""
        if not self:
            return samples
        return select(samples, tags=self.tags, ids=self.ids, limit=self.limit, sample=self.sample, seed=self.seed)

    @classmethod
    def from_json(cls, given: Mapping[str, Any] | None) -> Selection:
        """From a run's key."""
        return cls(**(given or {}))

    def to_json(self) -> dict[str, JsonValue]:
        """As a run's key holds it: only what was asked for."""
        given: dict[str, JsonValue] = {"tags": list(self.tags), "ids": list(self.ids)}
        given |= {"limit": self.limit, "sample": self.sample, "seed": self.seed}
        return {name: value for name, value in given.items() if value not in (None, [])}


@dataclass(frozen=True, slots=True)
class Source:
    """Samples with ids, which can be gone through more than once, and how to find them again."""

    samples: Callable[[], Iterable[Sample]]
    count: int
    """How many results they lead to: with repeats, several a sample."""
    description: Mapping[str, JsonValue]
    dataset: DatasetMetadata | None = None
    notices: Sequence[str] = field(default=())
    same: bool = False
    """Whether these are surely the samples that the run in question began with."""
    repeats: int = 1
    """How often each runs."""
    numbered: Callable[[], Iterator[tuple[Sample, int | None]]] | None = None
    """The passes, where each brings an output of its own."""

    def repeated(self, times: int) -> Source:
        """The same samples, each to run so many times."""
        return self if times == 1 else replace(self, repeats=times, count=self.count * times)

    def passes(self) -> Iterator[tuple[Sample, int | None]]:
        """Each sample as often as it runs, with the number of the pass from 0; None where there is only one."""
        if self.numbered is not None:
            return self.numbered()
        if self.repeats == 1:
            return zip(self.samples(), repeat(None))
        return ((sample, number) for sample in self.samples() for number in range(self.repeats))


def dataset_source(store: DatasetStore, dataset_id: str, *, version: int | None, selection: Selection) -> Source:
    """A version of a stored dataset; its own schemas are checked.

    Raises:
        NotFound; DataError: no samples, or some that break the dataset's schemas.
    """
    dataset = store.get(dataset_id, version=version)
    metadata = dataset.metadata
    if metadata.json_schema is not None:
        check_schema(dataset.samples, metadata.json_schema, source=f"dataset '{dataset_id}'")
    description: dict[str, JsonValue] = {"kind": "dataset", "datasetId": dataset_id, "version": metadata.version}
    samples = _identified(dataset.samples, f"dataset '{dataset_id}'")
    return _source(samples, f"dataset '{dataset_id}'", description, selection, dataset=metadata)


def _identified(samples: Sequence[Sample], name: str) -> Sequence[Sample] | Callable[[], Iterable[Sample]]:
    """The samples, each with an id of its own: the files of other tools may hold one twice, or none."""
    ids = check_ids(samples, source=name)
    return samples if len(ids) == len(samples) else lambda: fill_ids(samples, taken=ids)


def inline_source(samples: Iterable[Sample | Mapping[str, Any]], *, selection: Selection) -> Source:
    """Samples in hand: objects or mappings.

    Raises:
        ConfigError: it is no list of samples. DataError: none, or some that are none.
    """
    if isinstance(samples, Mapping | Sample | str | bytes) or not isinstance(samples, Iterable):
        found = type(samples).__name__
        raise ConfigError(f"the data is of type {found}: expected a dataset's id, a Path, or a list of samples")
    kept = list(fill_ids(as_samples(samples)))
    return _source(kept, "the data", {"kind": "inline"}, selection)


def file_source(path: Path, *, selection: Selection, format: str | None = None) -> Source:
    """A file: checked whole first, then streamed.

    Raises:
        DataFileError: everything that is wrong in it, each with its place.
    """
    state = _state(path)
    checked = check_file(path, format=format)
    description: dict[str, JsonValue] = {"kind": "file", "path": str(path.absolute())}
    if format is not None:
        description["format"] = format
    if not checked.unnamed:
        # with ids of its own, it needs no second check as long as nobody touches it
        description["state"] = state

    def samples() -> Iterable[Sample]:
        return fill_ids(read_samples(path, format=format), taken=checked.ids)

    source = _source(samples, str(path), description, selection, count=checked.count)
    return Source(source.samples, source.count, source.description, notices=tuple(checked.notices))


def file_source_again(description: Mapping[str, Any], *, selection: Selection, count: int | None) -> Source:
    """The file of a run that goes on: checked again only if somebody touched it since; `count` is the run's."""
    path, format = Path(str(description["path"])), description.get("format")
    if not path.exists():
        raise NotGiven("data", f"the run's file {path} is not there any more", advice="give the same data again")
    if count is None or description.get("state") != _state(path):
        return file_source(path, selection=selection, format=format)
    return Source(lambda: selection.apply(read_samples(path, format=format)), count, description, same=True)


def _state(path: Path) -> str | None:
    """Size and time of the last change."""
    try:
        found = path.stat()
    except OSError:
        # reading it will say what is wrong
        return None
    return f"{found.st_size} bytes, {found.st_mtime_ns} ns"


def _source(
    samples: Sequence[Sample] | Callable[[], Iterable[Sample]],
    name: str,
    description: dict[str, JsonValue],
    selection: Selection,
    *,
    count: int | None = None,
    dataset: DatasetMetadata | None = None,
) -> Source:
    if callable(samples):
        produce = samples
        total = count if count is not None else sum(1 for _ in samples())
    else:
        produce, total = lambda: samples, len(samples)
    if total == 0:
        raise DataError(f"{name} has no samples: an evaluation needs at least one")
    if selection:
        description["select"] = selection.to_json()
        total = sum(1 for _ in selection.apply(produce()))
        if total == 0:
            raise DataError(f"no sample of {name} is selected by {selection.to_json()}")
    return Source(lambda: selection.apply(produce()), total, description, dataset=dataset)


def brings_outputs(source: Source) -> bool:
    """Whether any sample has something to judge without a target: an output, an error, a conversation or a file."""
    return any(sample.has(name) for sample in source.samples() for name in OUTPUTS)


def sample_problems(plan: Plan, source: Source) -> list[str]:
    """What the evaluators' own checks say against samples, before anything is paid for: one line an evaluator."""
    checked = [(cell, cell.evaluator.check) for cell in plan.cells if cell.evaluator.check is not None]
    if not checked:
        return []
    found: dict[str, list[str]] = {}
    counts: dict[str, int] = {}
    for sample in source.samples():
        for cell, check in checked:
            problem = check(sample, cell.options)
            if problem is not None:
                name = cell.evaluator.name
                counts[name] = counts.get(name, 0) + 1
                if counts[name] <= SHOWN_PROBLEMS:
                    found.setdefault(name, []).append(f"sample '{sample.test_case_id}': {problem}")
    return [
        f"{name}: {counts[name]} of {source.count} samples cannot be judged and will be FAILED or inconclusive: "
        + "; ".join(lines)
        + (f"; and {counts[name] - len(lines)} more" if counts[name] > len(lines) else "")
        for name, lines in found.items()
    ]


def no_source(run_id: str) -> NotGiven:
    """A run whose samples were given in code, or on stdin, can only go on with them."""
    problem = f"run '{run_id}' was given its samples themselves, and they were not kept"
    return NotGiven("data", problem, advice="give the same data again")
