"""Reading samples from files and streams, and checking a file before anything is done with it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from genkit_eval._json import json_form
from genkit_eval.datasets.chat_logs import read_chats
from genkit_eval.datasets.delimited import read_delimited
from genkit_eval.datasets.ids import IdIndex
from genkit_eval.datasets.intake import Batch, Intake, Place
from genkit_eval.datasets.json_files import read_json
from genkit_eval.datasets.jsonl import read_jsonl
from genkit_eval.datasets.schema import Checker, schema_checker
from genkit_eval.datasets.sources import Source, format_of, name_of, opened
from genkit_eval.datasets.yaml_files import read_yaml
from genkit_eval.errors import DataFileError, NotJson, Problem
from genkit_eval.stored import DatasetSchema
from genkit_eval.types import Sample

__all__ = ["FileCheck", "as_samples", "check_file", "read_samples", "second_look"]


@dataclass(frozen=True, slots=True)
class FileCheck:
    """What a good file holds."""

    source: str
    count: int
    """Samples."""
    unnamed: int
    """Samples without an id; `fill_ids` makes one."""
    ids: Container[str]
    """The given ids that look made, for `fill_ids(read_samples(path), taken=check.ids)`: so the file stays a stream."""
    notices: tuple[str, ...]
    """What is odd but no error: keys that are ignored, with what was probably meant."""


def read_samples(source: Source, *, format: str | None = None, schema: DatasetSchema | None = None) -> Iterator[Sample]:
    """The samples of a file or an open stream, as they stand there: ids are not filled in, nor checked for repetition.

    JSON Lines, CSV and TSV are read as a stream, in some megabytes of memory; JSON and YAML whole. Where something
    is wrong, samples before it may have been given already, the rest of the source is looked through, and all
    problems are raised together. `check_file` finds them before anything is done.

    Args:
        source: a path, or an open file, text or binary, such as `sys.stdin`.
        format: json, jsonl, csv, tsv, yaml, or chat (logs in OpenAI's form); else the file name's ending tells.
        schema: types the columns `input` and `reference` of CSV and TSV, which are text otherwise.
    Raises:
        DataFileError: all problems of the source, each with line, sample and field.
        ConfigError: the format is not known.
    """
    intake = Intake(name_of(source))
    for batch in _batches(source, format_of(source, format), intake, schema):
        if not intake.problems:
            yield from batch.samples
    intake.raise_if_any()


def check_file(path: Path | str, *, format: str | None = None, schema: DatasetSchema | None = None) -> FileCheck:
    """Read a file once, as a stream, and tell what it holds; 8 bytes of memory for each id, 50 at the end.

    Args:
        path: of the file.
        format: as for `read_samples`.
        schema: obeyed by every sample, if given.
    Raises:
        DataFileError: anything wrong with it: all problems; no sample at all; ids given twice, with both places.
        ConfigError: the format is not known, or the schema cannot be used.
    """
    kind = format_of(path, format)
    fits = schema_checker(schema) if schema is not None else None
    intake, count, ids = Intake(str(path)), 0, IdIndex()
    unfit = False
    for batch in _batches(path, kind, intake, schema):
        ids.add_all(batch.samples)
        count += len(batch.samples)
        unfit = unfit or (fits is not None and any(fits(sample, 0) for sample in batch.samples))
    repeated = ids.close()
    if repeated or unfit:
        intake = second_look(path, kind, schema, repeated, fits)
    intake.raise_if_any()
    if not count:
        raise DataFileError(str(path), [Problem("holds no samples: an evaluation needs at least one")])
    return FileCheck(str(path), count, count - len(ids), ids, tuple(intake.notices.values()))


def second_look(
    path: Path | str, kind: str, schema: DatasetSchema | None, repeated: Container[int], fits: Checker | None
) -> Intake:
    """Read the file again, knowing every place, and compare the ids themselves whose hashes came more than once."""
    intake = Intake(str(path), careful=True)
    first: dict[str, Place] = {}
    for batch in _batches(path, kind, intake, schema):
        for sample, place in zip(batch.samples, batch.places or (), strict=True):
            name = sample.test_case_id
            if name and hash(name) in repeated:
                earlier = first.setdefault(name, place)
                if earlier is not place:
                    message = f"testCaseId '{name}' is taken by {earlier}"
                    intake.add(Problem(message, line=place.line, field="testCaseId", sample=str(place.position)))
            for problem in fits(sample, place.position) if fits else ():
                intake.add(dataclasses.replace(problem, line=place.line))
    return intake


def _batches(source: Source, kind: str, intake: Intake, schema: DatasetSchema | None) -> Iterator[Batch]:
    with opened(source) as stream:
        yield from _READERS[kind](stream, intake, schema)


_Reader = Callable[[BinaryIO, Intake, DatasetSchema | None], Iterator[Batch]]

_READERS: Mapping[str, _Reader] = {
    "json": lambda stream, intake, schema: read_json(stream, intake),
    "jsonl": lambda stream, intake, schema: read_jsonl(stream, intake),
    "csv": lambda stream, intake, schema: read_delimited(stream, intake, delimiter=",", schema=schema),
    "tsv": lambda stream, intake, schema: read_delimited(stream, intake, delimiter="\t", schema=schema),
    "yaml": lambda stream, intake, schema: read_yaml(stream, intake),
    "chat": lambda stream, intake, schema: read_chats(stream, intake),
}


def as_samples(items: Iterable[Sample | Mapping[str, object]]) -> list[Sample]:
    """Samples from code: as they are, or from mappings with the keys of the format (or attribute names).

    Raises:
        DataFileError: all problems, each with the position of its sample.
    """
    intake = Intake("samples")
    samples = []
    for position, item in enumerate(items, start=1):
        if isinstance(item, Sample) and not (item.attachments or item.output_attachments):
            samples.append(item)
            continue
        sample = _from_mapping(item.to_json() if isinstance(item, Sample) else item, position, intake)
        if sample is not None:
            samples.append(sample)
    intake.raise_if_any()
    return samples


def _from_mapping(item: object, position: int, intake: Intake) -> Sample | None:
    try:
        row = json_form(item)
    except NotJson as fault:
        intake.add(Problem(str(fault), sample=str(position)))
        return None
    samples = intake.quick([row], position)
    return samples[0] if samples else intake.sample(row, Place(None, position))
