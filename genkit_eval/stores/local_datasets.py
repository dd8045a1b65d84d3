"""Datasets as files in Genkit's layout, with every version kept."""

from __future__ import annotations

import builtins
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from genkit_eval._files import locked, sweep
from genkit_eval.errors import AlreadyExists, ConfigError, CorruptFile, NotFound, StoreError, VersionConflict
from genkit_eval.stored import Dataset, DatasetMetadata, DatasetSchema, DatasetType
from genkit_eval.stores.dataset_files import DatasetFiles, now, row_of
from genkit_eval.stores.dataset_samples import Rows, StoredSamples, patched, rows_of
from genkit_eval.stores.dataset_sync import Found, known_ids, look, settle, settled_rows
from genkit_eval.stores.dataset_version import SampleText, Version
from genkit_eval.stores.faults import store_faults
from genkit_eval.stores.ids import check_id, new_dataset_id, opens_in_genkit
from genkit_eval.stores.protocols import UNSET, AnyVersion, Unset
from genkit_eval.types import Sample

__all__ = ["LocalFileDatasetStore"]

LOCK_SECONDS = 60.0
_log = logging.getLogger(__name__)


class LocalFileDatasetStore:
    """Keeps datasets below `root` (the `.genkit` folder), in the files that Genkit's own tools read and write.

    Every change, also of the metadata alone, makes a new version. What Genkit's tools change becomes one when the
    dataset is next read or changed here. Reading makes no folder, and works where nothing can be written.
    """

    def __init__(self, root: Path) -> None:
        self._files = DatasetFiles(Path(root) / "datasets")

    def create(
        self,
        dataset_id: str | None,
        samples: Sequence[Sample],
        *,
        dataset_type: DatasetType = DatasetType.UNKNOWN,
        target_action: str | None = None,
        metric_refs: Sequence[str] = (),
        schema: DatasetSchema | None = None,
    ) -> DatasetMetadata:
        """Store a new dataset; without an id it gets one.

        Raises:
            AlreadyExists: there is such a dataset, or one whose id differs in case only.
            DataError: a sample without a test case id, or with that of another.
        """
        dataset_id = new_dataset_id() if dataset_id is None else check_id("dataset", dataset_id)
        rows = rows_of(samples, dataset=dataset_id)
        time = now()
        given: dict[str, Any] = {"json_schema": schema, "target_action": target_action}
        with self._changing():
            self._refuse_existing(dataset_id, settled_rows(self._files))
            # a dataset that Genkit's tools deleted has a history, which goes on
            before = self._files.newest(dataset_id)
            metadata = DatasetMetadata(
                dataset_id=dataset_id,
                metric_refs=list(metric_refs),
                size=len(rows[0]),
                version=1 if before is None else before.metadata.version + 1,
                dataset_type=dataset_type,
                create_time=time,
                update_time=time,
                **{name: value for name, value in given.items() if value is not None},
            )
            self._files.new_folder(dataset_id)
            stored = self._files.add(dataset_id, metadata, rows).metadata
        if not opens_in_genkit(dataset_id):
            _log.warning(
                "dataset '%s': Genkit's web interface cannot open it; it takes 6 to 36 letters, digits, '.', '_' "
                "or '-' that start with a letter",
                dataset_id,
            )
        return stored

    def get(self, dataset_id: str, *, version: int | None = None) -> Dataset:
        """The newest version, or the one asked for; the samples are built when they are asked for.

        Raises:
            NotFound: there is no such dataset or version.
        """
        check_id("dataset", dataset_id)
        with store_faults(self._files.folder):
            if version is not None:
                return self._stored(dataset_id, version)
            # again, when it was removed between the look and the reading
            for _ in range(3):
                with suppress(FileNotFoundError):
                    found = self._found(dataset_id)
                    if found.edit is not None:
                        return _dataset(found.edit.metadata, found.edit.rows)
                    if found.version is None:
                        break
                    return _dataset(found.version.metadata, found.version.rows())
        raise self._missing(dataset_id)

    def list(self) -> builtins.list[DatasetMetadata]:
        """The newest version of each dataset, by id. One that cannot be read is left out with a warning."""
        with store_faults(self._files.folder):
            rows = self._rows()
            return [
                metadata
                for dataset_id in known_ids(self._files, rows or {})
                if (metadata := self._listed(dataset_id, rows)) is not None
            ]

    def update(
        self,
        dataset_id: str,
        samples: Sequence[Sample] | None = None,
        *,
        expected_version: int | AnyVersion,
        target_action: str | Unset | None = UNSET,
        metric_refs: Sequence[str] | Unset = UNSET,
        schema: DatasetSchema | Unset | None = UNSET,
        dataset_type: DatasetType | Unset = UNSET,
    ) -> DatasetMetadata:
        """Replace all samples, or what describes the dataset, or both, as a new version.

        Raises:
            VersionConflict: the dataset moved on; no file is changed.
            NotFound: there is no such dataset.
        """
        rows = None if samples is None else rows_of(samples, dataset=dataset_id)
        changes: dict[str, object] = {
            "target_action": target_action,
            "metric_refs": metric_refs if isinstance(metric_refs, Unset) else [*metric_refs],
            "json_schema": schema,
            "dataset_type": dataset_type,
        }
        changes = {name: value for name, value in changes.items() if not isinstance(value, Unset)}
        with self._at_version(dataset_id, expected_version) as current:
            return self._add(current, rows if rows is not None else current.text(), changes)

    def patch(
        self,
        dataset_id: str,
        samples: Sequence[Sample] = (),
        *,
        delete: Sequence[str] = (),
        expected_version: int | AnyVersion,
    ) -> DatasetMetadata:
        """Replace or append samples by their test case id, and take out those in `delete`, as a new version.

        A sample is replaced whole. Every input is a value: 0, "" and null do not delete.

        Raises:
            VersionConflict: the dataset moved on; no file is changed.
            NotFound: there is no such dataset, or no such test case to delete.
        """
        new = rows_of(samples, dataset=dataset_id)
        with self._at_version(dataset_id, expected_version) as current:
            return self._add(current, patched(current.rows(), new, delete, dataset=dataset_id), {})

    def delete(self, dataset_id: str, *, expected_version: int | AnyVersion) -> None:
        """Remove a dataset and its history.

        Raises:
            VersionConflict: the dataset moved on; no file is changed.
            NotFound: there is no such dataset.
        """
        with self._at_version(dataset_id, expected_version):
            self._files.remove(dataset_id)

    def history(self, dataset_id: str) -> builtins.list[DatasetMetadata]:
        """What describes each version, newest first; also of a dataset that Genkit's tools deleted."""
        check_id("dataset", dataset_id)
        with store_faults(self._files.folder), suppress(FileNotFoundError):
            found = self._found(dataset_id)
            edited = [found.edit.metadata] if found.edit is not None else []
            stored = [
                Version.open(self._files.version(dataset_id, number)).metadata
                for number in self._files.versions(dataset_id)
            ]
            if edited or stored:
                return [*edited, *stored]
        raise self._missing(dataset_id)

    def _found(self, dataset_id: str) -> Found:
        """What there is, after other tools' edits were taken over; without the lock where all is in order."""
        found = look(self._files, dataset_id, self._rows())
        if found.edit is None and not found.stale:
            return found
        try:
            # stale copies do no harm to a reader: whoever holds the lock is bringing them up
            with self._changing(wait=found.edit is not None):
                return Found(settle(self._files, dataset_id, settled_rows(self._files)))
        except StoreError as problem:
            if isinstance(problem.__cause__, OSError):
                # reading works in a folder that cannot be written
                if not isinstance(problem.__cause__, TimeoutError):
                    _log.warning("dataset '%s' is read as it is: %s", dataset_id, problem)
                return found
            raise

    def _rows(self) -> Mapping[str, Any] | None:
        try:
            return self._files.rows()
        except CorruptFile:
            return None

    def _listed(self, dataset_id: str, rows: Mapping[str, Any] | None) -> DatasetMetadata | None:
        try:
            newest = self._files.newest(dataset_id)
            # the samples themselves are not compared here: reading them all would make listing slow
            in_order = newest is not None and rows is not None and rows.get(dataset_id) == row_of(newest.metadata)
            if newest is not None and in_order and self._files.copy(dataset_id).exists():
                return newest.metadata
            found = self._found(dataset_id)
        except (CorruptFile, FileNotFoundError) as problem:
            _log.warning("dataset '%s' is left out: %s", dataset_id, problem)
            return None
        if found.edit is not None:
            return found.edit.metadata
        return None if found.version is None else found.version.metadata

    def _stored(self, dataset_id: str, number: int) -> Dataset:
        try:
            version = Version.open(self._files.version(dataset_id, number))
            return _dataset(version.metadata, version.rows())
        except FileNotFoundError:
            stored = self._files.versions(dataset_id)
        if not stored:
            # one of Genkit's tools made it, and it was never read here
            dataset = self.get(dataset_id)
            if dataset.metadata.version == number:
                return dataset
            stored = [dataset.metadata.version]
        where = f"the store, which has {', '.join(str(one) for one in sorted(stored))}"
        raise NotFound(f"version {number} of dataset", dataset_id, where=where)

    def _add(self, current: Version, samples: Rows | SampleText, changes: Mapping[str, object]) -> DatasetMetadata:
        before = current.metadata
        size = before.size if isinstance(samples, SampleText) else len(samples[0])
        update = {**changes, "size": size, "version": before.version + 1, "update_time": now()}
        metadata = before.model_copy(update=update)
        try:
            return self._files.add(before.dataset_id, metadata, samples).metadata
        except FileExistsError as problem:
            # only where locks do not work between the processes, on some network file systems
            raise VersionConflict(before.dataset_id, expected=before.version, found=metadata.version) from problem

    @contextmanager
    def _at_version(self, dataset_id: str, expected: int | AnyVersion) -> Iterator[Version]:
        """Within, the dataset is at the expected version, and nobody else changes it."""
        check_id("dataset", dataset_id)
        if type(expected) is not int and not isinstance(expected, AnyVersion):
            raise ConfigError(
                f"expected_version is {expected!r}: give a whole number, as metadata.version, or ANY_VERSION"
            )
        if not self._files.folder.is_dir():
            raise self._missing(dataset_id)
        stored = self._files.versions(dataset_id)
        if isinstance(expected, int) and stored and stored[0] > expected and self._files.copy(dataset_id).exists():
            # versions only go up: no need to wait for the lock
            raise VersionConflict(dataset_id, expected=expected, found=stored[0])
        with self._changing():
            current = settle(self._files, dataset_id, settled_rows(self._files))
            if current is None:
                raise self._missing(dataset_id)
            found = current.metadata.version
            if not isinstance(expected, AnyVersion) and found != expected:
                raise VersionConflict(dataset_id, expected=expected, found=found)
            yield current

    @contextmanager
    def _changing(self, *, wait: bool = True) -> Iterator[None]:
        """Within, this process alone changes datasets."""
        folder = self._files.folder
        with store_faults(folder):
            folder.mkdir(parents=True, exist_ok=True)
            with locked(self._files.lock, timeout_seconds=LOCK_SECONDS if wait else 0):
                sweep(folder)
                yield

    def _refuse_existing(self, dataset_id: str, rows: Mapping[str, Any]) -> None:
        copies = self._files.copies()
        for name in copies | self._files.versioned() | rows.keys():
            if name == dataset_id and name not in copies:
                # deleted by another tool: what is left of it is its history, or a row without samples
                continue
            if name.lower() == dataset_id.lower():
                row = rows.get(name)
                found = f"version {row.get('version')}" if isinstance(row, dict) else "a file that is not in the index"
                raise AlreadyExists("dataset", name, found=found)

    def _missing(self, dataset_id: str) -> NotFound:
        versions = self._files.versions(dataset_id)
        if versions:
            where = f"{self._files.folder}: another tool deleted it; read its versions {versions[-1]} to {versions[0]}"
            return NotFound("dataset", dataset_id, where=where)
        return NotFound("dataset", dataset_id, known=self._rows() or {}, where=str(self._files.folder))


def _dataset(metadata: DatasetMetadata, rows: Rows) -> Dataset:
    return Dataset.trusted({"metadata": metadata, "samples": StoredSamples(rows)})
