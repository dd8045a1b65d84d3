"""What other tools did to a dataset's copies since its newest version, and what a killed process left undone.

Genkit's tools know two files, the samples and the index; they write both in place, without a lock. So the copies
are compared with the newest version: equal, older (a process of ours was killed before it brought them up: they
are made anew), or something else (an edit: it becomes a new version). An id that a valid index does not have, and
whose file is gone, was deleted there: its history stays.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import ValidationError

from genkit_eval._json import dump, load
from genkit_eval.errors import CorruptFile, InvalidId
from genkit_eval.misfits import explained
from genkit_eval.stored import DatasetMetadata, DatasetType
from genkit_eval.stores.dataset_files import DatasetFiles, now, row_of
from genkit_eval.stores.dataset_samples import Rows
from genkit_eval.stores.dataset_version import SampleText, Version
from genkit_eval.stores.ids import check_id
from genkit_eval.stores.records import foreign_record
from genkit_eval.types import Sample

__all__ = ["Edit", "Found", "known_ids", "look", "settle", "settled_rows"]

_T = TypeVar("_T")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Edit:
    """A version that another tool made: not stored as one yet."""

    metadata: DatasetMetadata
    text: SampleText
    rows: Rows


@dataclass(frozen=True, slots=True)
class Found:
    """What there is of a dataset: nothing, its newest version, or an edit that comes after it."""

    version: Version | None = None
    edit: Edit | None = None
    stale: bool = False
    """The copies are older than the version, or missing, or broken."""


def look(files: DatasetFiles, dataset_id: str, rows: Mapping[str, Any] | None) -> Found:
    """Compare a dataset's copies with its newest version; `rows` is the index, None when it is not usable.

    Raises:
        CorruptFile: there are only files that cannot be read.
    """
    version = files.newest(dataset_id)
    checksum = files.checksum(dataset_id)
    row = None if rows is None else rows.get(dataset_id)
    if version is None:
        return Found() if checksum is None else Found(edit=_edit(files, dataset_id, row, None))
    if checksum is None and row is None and rows is not None:
        return Found()
    same_row = row == row_of(version.metadata)
    if checksum == version.checksum and same_row:
        return Found(version)
    older = _older(files, dataset_id, version)
    row_edited = not same_row and not any(row == row_of(one.metadata) for one in older) and _metadata(row) is not None
    # the index is written last: where it is up to date or edited, an older sample file was put there by somebody
    behind = not same_row and not row_edited and any(checksum == one.checksum for one in older)
    samples_edited = checksum is not None and checksum != version.checksum and not behind
    if not row_edited and not samples_edited:
        return Found(version, stale=True)
    try:
        return Found(version, _edit(files, dataset_id, row if row_edited else None, version))
    except CorruptFile as problem:
        _log.warning("%s: version %d of dataset '%s' stays", problem, version.metadata.version, dataset_id)
        return Found(version, stale=True)


def _older(files: DatasetFiles, dataset_id: str, newest: Version) -> list[Version]:
    found = []
    for number in files.versions(dataset_id):
        if number < newest.metadata.version:
            try:
                found.append(Version.open(files.version(dataset_id, number)))
            except CorruptFile as problem:
                _log.warning("%s", problem)
    return found


def _metadata(row: object) -> DatasetMetadata | None:
    try:
        return foreign_record(DatasetMetadata, row) if isinstance(row, dict) else None
    except ValidationError:
        return None


def _edit(files: DatasetFiles, dataset_id: str, row: object, version: Version | None) -> Edit:
    """What the copies say now, as a version after the newest one."""
    text, rows = _patiently(lambda: _copy(files, dataset_id, version))
    given, before = _metadata(row), version.metadata if version is not None else None
    time_now = now()
    base = given or before or DatasetMetadata(dataset_id=dataset_id, create_time=time_now, update_time=time_now)
    custom = before is not None and before.dataset_type is DatasetType.CUSTOM
    changes: dict[str, object] = {
        "dataset_id": dataset_id,
        "metric_refs": list(base.metric_refs),
        "size": len(rows[0]),
        "version": base.version if before is None else max(before.version + 1, base.version),
        # Genkit does not know this type, and does not change types
        "dataset_type": DatasetType.CUSTOM
        if custom and base.dataset_type is DatasetType.UNKNOWN
        else base.dataset_type,
    }
    if given is None:
        changes["update_time"] = time_now
    if before is not None:
        changes["create_time"] = before.create_time
    return Edit(base.model_copy(update=changes), text, rows)


def _patiently(read: Callable[[], _T]) -> _T:
    """Read again for a moment when a file is not whole: Genkit's tools write in place."""
    for _ in range(5):
        try:
            return read()
        except CorruptFile:
            time.sleep(0.02)
    return read()


def _copy(files: DatasetFiles, dataset_id: str, version: Version | None) -> tuple[SampleText, Rows]:
    path = files.copy(dataset_id)
    try:
        data = path.read_bytes()
        rows = load(data)
    except FileNotFoundError:
        if version is None:
            raise
        return version.text(), version.rows()
    except ValueError as problem:
        raise CorruptFile(path, f"is not JSON ({problem})", advice="restore it, or remove it") from problem
    _check_rows(path, rows)
    extras = {} if version is None else version.rows()[1]
    if extras:
        present = {row["testCaseId"] for row in rows}
        extras = {test_case_id: extra for test_case_id, extra in extras.items() if test_case_id in present}
    return SampleText((data, True), (dump(extras), True)), (rows, extras)


def _check_rows(path: object, rows: object) -> None:
    if not isinstance(rows, list):
        raise CorruptFile(path, f"is {type(rows).__name__}, not an array of samples", advice="restore it, or remove it")
    for place, row in enumerate(rows, 1):
        if not isinstance(row, dict) or not isinstance(row.get("testCaseId"), str):
            raise CorruptFile(
                path, f"sample {place} is no object with a testCaseId", advice="give it one, or remove it"
            )
        if not row.keys() <= {"testCaseId", "input", "reference"}:
            try:
                foreign_record(Sample, row)
            except ValidationError as problem:
                wrong = f"sample {place} ('{row['testCaseId']}'): {explained(problem, row)}"
                raise CorruptFile(path, wrong, advice="correct it, or remove it") from problem


def settle(files: DatasetFiles, dataset_id: str, rows: Mapping[str, Any] | None) -> Version | None:
    """The newest version, after an edit of another tool became one, and after the copies were brought up.

    The caller holds the folder's lock.
    """
    found = look(files, dataset_id, rows)
    if found.edit is not None:
        _log.info("dataset '%s': another tool's edit is version %d", dataset_id, found.edit.metadata.version)
        if found.version is None:
            files.new_folder(dataset_id)
        return files.add(dataset_id, found.edit.metadata, found.edit.text, copied=not files.copy(dataset_id).exists())
    if found.stale and found.version is not None:
        _keep_broken(files, dataset_id, found.version)
        files.rebuild(dataset_id, found.version)
    return found.version


def _keep_broken(files: DatasetFiles, dataset_id: str, version: Version) -> None:
    path = files.copy(dataset_id)
    checksum = files.checksum(dataset_id)
    if checksum is not None and checksum not in {
        one.checksum for one in (version, *_older(files, dataset_id, version))
    }:
        files.set_aside(path)


def settled_rows(files: DatasetFiles) -> dict[str, Any]:
    """The index, made anew from the datasets when it is missing or broken. The caller holds the folder's lock."""
    try:
        rows = _patiently(files.rows)
    except CorruptFile:
        files.set_aside(files.index)
        rows = None
    if rows is not None:
        return rows
    for dataset_id in known_ids(files, {}):
        try:
            settle(files, dataset_id, None)
        except CorruptFile as problem:
            _log.warning("%s", problem)
    return files.rows() or {}


def known_ids(files: DatasetFiles, rows: Mapping[str, Any]) -> list[str]:
    """The ids that there are files or rows of, as far as they are ids."""
    found = []
    for name in sorted({*files.copies(), *files.versioned(), *rows}):
        try:
            found.append(check_id("dataset", name))
        except InvalidId as problem:
            _log.warning("%s: left out: %s", files.folder, problem)
    return found
