"""The folder of datasets: which files there are, and the copies that Genkit's tools read and write."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from genkit_eval._files import Draft, file_checksum, names_in, replace, sync_folder
from genkit_eval._json import dump, load
from genkit_eval.errors import CorruptFile
from genkit_eval.stored import DatasetMetadata, DatasetType
from genkit_eval.stores.dataset_samples import Rows
from genkit_eval.stores.dataset_version import SampleText, Version, write_version

__all__ = ["DatasetFiles", "now", "row_of"]

_log = logging.getLogger(__name__)
_DELETED = ".deleted-"


def now() -> datetime:
    """The time as files hold it: to the millisecond, so that what was stored equals what is read."""
    time = datetime.now(UTC)
    return time.replace(microsecond=time.microsecond // 1000 * 1000)


def row_of(metadata: DatasetMetadata) -> dict[str, Any]:
    """What the index says of a version, in Genkit's form: it knows four types, a fifth would spoil the whole index."""
    row = metadata.to_json()
    if metadata.dataset_type is DatasetType.CUSTOM:
        row["datasetType"] = DatasetType.UNKNOWN.value
    return dict(row)


class DatasetFiles:
    """Paths, names and writes; who changes something holds the folder's lock."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lock = folder / ".lock"
        self.index = folder / "index.json"
        self._versions = folder / "versions"

    def copy(self, dataset_id: str) -> Path:
        """The samples as Genkit's tools read them."""
        return self.folder / f"{dataset_id}.json"

    def extras(self, dataset_id: str) -> Path:
        """What Genkit's tools have no place for."""
        return self.folder / "ext" / f"{dataset_id}.json"

    def version(self, dataset_id: str, number: int) -> Path:
        """One version, whole."""
        return self._versions / dataset_id / f"{number}.json"

    def versions(self, dataset_id: str) -> list[int]:
        """The numbers of the stored versions, newest first."""
        stems = [name[:-5] for name in names_in(self._versions / dataset_id) if name.endswith(".json")]
        return sorted([int(stem) for stem in stems if stem.isdecimal()], reverse=True)

    def newest(self, dataset_id: str) -> Version | None:
        """The newest stored version."""
        for number in self.versions(dataset_id):
            with suppress(FileNotFoundError):
                return Version.open(self.version(dataset_id, number))
        return None

    def copies(self) -> set[str]:
        """The ids of all sample files."""
        names = {name.removesuffix(".json") for name in names_in(self.folder) if name.endswith(".json")}
        return {name for name in names if name.lower() != "index" and not name.startswith(".")}

    def versioned(self) -> set[str]:
        """The ids of all datasets that have or had versions."""
        return {name for name in names_in(self._versions) if not name.startswith(".") and self.versions(name)}

    def rows(self) -> dict[str, Any] | None:
        """The index; None when there is none.

        Raises:
            CorruptFile: it is not an index.
        """
        try:
            rows = load(self.index.read_bytes())
        except FileNotFoundError:
            return None
        except ValueError as problem:
            raise CorruptFile(self.index, f"is not JSON ({problem})") from problem
        if not isinstance(rows, dict):
            raise CorruptFile(self.index, "is not an object")
        return rows

    def checksum(self, dataset_id: str) -> str | None:
        """The checksum of the sample file; None when there is none."""
        with suppress(FileNotFoundError):
            return file_checksum(self.copy(dataset_id))
        return None

    def new_folder(self, dataset_id: str) -> None:
        """Make the place for a dataset's versions. Only creating does: an update must not revive what was deleted."""
        (self._versions / dataset_id).mkdir(parents=True, exist_ok=True)
        sync_folder(self._versions)

    def add(
        self, dataset_id: str, metadata: DatasetMetadata, samples: Rows | SampleText, *, copied: bool = True
    ) -> Version:
        """Store a new version, then bring the copies up to it (`copied=False`: but for the samples, which are there).

        Raises:
            FileExistsError: there is such a version: somebody was quicker.
            OSError: the system refused; nothing is changed.
        """
        with ExitStack() as stack:
            draft = stack.enter_context(Draft(self.version(dataset_id, metadata.version)))
            copy = stack.enter_context(Draft(self.copy(dataset_id))) if copied else None
            version = write_version(draft, copy, metadata, samples)
            draft.create()
            # from here on the version counts, whatever becomes of the copies
            try:
                if copy is not None:
                    copy.replace(durable=False)
                self._write_extras(dataset_id, version)
                self._write_row(dataset_id, version)
            except (OSError, CorruptFile) as problem:
                _log.warning("%s: the copies of version %d follow later: %s", draft.path, metadata.version, problem)
        return version

    def rebuild(self, dataset_id: str, version: Version) -> None:
        """Write the copies of a version anew."""
        replace(self.copy(dataset_id), [version.raw_samples()], durable=False)
        self._write_extras(dataset_id, version)
        self._write_row(dataset_id, version)

    def _write_extras(self, dataset_id: str, version: Version) -> None:
        path = self.extras(dataset_id)
        extras = version.raw_extras()
        if extras == b"{}" and version.metadata.dataset_type is not DatasetType.CUSTOM:
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(exist_ok=True)
        kind = dump(version.metadata.dataset_type.value)
        replace(path, [b'{"datasetType":', kind, b',"samples":', extras, b"}"], durable=False)

    def _write_row(self, dataset_id: str, version: Version) -> None:
        self.write_rows({**(self.rows() or {}), dataset_id: row_of(version.metadata)})

    def write_rows(self, rows: Mapping[str, Any]) -> None:
        """Write the index."""
        replace(self.index, [dump(rows)], durable=False)

    def set_aside(self, path: Path) -> None:
        """Keep a file that cannot be read under another name, before it is made anew."""
        kept = path.with_name(f"{path.name}.broken-{secrets.token_hex(4)}")
        _log.warning("%s is not readable and is made anew; what was there is kept as %s", path, kept.name)
        path.replace(kept)

    def remove(self, dataset_id: str) -> None:
        """Remove a dataset and its history; at every moment it is whole, or gone."""
        rows = self.rows()
        if rows is not None and rows.pop(dataset_id, None) is not None:
            self.write_rows(rows)
        self.copy(dataset_id).unlink(missing_ok=True)
        self.extras(dataset_id).unlink(missing_ok=True)
        self._remove_history(dataset_id)

    def _remove_history(self, dataset_id: str) -> None:
        folder = self._versions / dataset_id
        gone = self._versions / f"{_DELETED}{dataset_id}"
        for leftover in self._leftovers():
            _remove_folder(leftover)
        if folder.is_dir():
            folder.replace(gone)
            _remove_folder(gone)

    def _leftovers(self) -> Iterator[Path]:
        return (self._versions / name for name in names_in(self._versions) if name.startswith(_DELETED))


def _remove_folder(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink(missing_ok=True)
    folder.rmdir()
