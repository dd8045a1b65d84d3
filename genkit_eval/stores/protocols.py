"""What a store of datasets and a store of runs can do; the local ones keep JSON files."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Final, Literal, Protocol

from genkit_eval.errors import CorruptFile
from genkit_eval.stored import Dataset, DatasetMetadata, DatasetSchema, DatasetType, EvalResult, EvalRunKey
from genkit_eval.stores.journal import Journal
from genkit_eval.stores.stored_run import StoredRun
from genkit_eval.types import Sample

__all__ = ["ANY_VERSION", "UNSET", "AnyVersion", "DatasetStore", "EvalStore", "Unset"]


class AnyVersion(Enum):
    """The type of `ANY_VERSION`."""

    ANY_VERSION = "ANY_VERSION"


class Unset(Enum):
    """The type of `UNSET`."""

    UNSET = "UNSET"


ANY_VERSION: Final[Literal[AnyVersion.ANY_VERSION]] = AnyVersion.ANY_VERSION
"""Say `expected_version=ANY_VERSION` to write over whatever is there."""

UNSET: Final[Literal[Unset.UNSET]] = Unset.UNSET
"""Leave as it is; None takes away."""


class DatasetStore(Protocol):
    """Datasets by id, each with its versions. Every change makes a new version; old ones can be read."""

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
        """Store a new dataset as version 1; without an id it gets one."""

    def get(self, dataset_id: str, *, version: int | None = None) -> Dataset:
        """The newest version, or the one asked for."""

    def list(self) -> list[DatasetMetadata]:
        """The newest version of each dataset, by id."""

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
        """Replace the samples, or what describes them, or both; raises VersionConflict when it moved on."""

    def patch(
        self,
        dataset_id: str,
        samples: Sequence[Sample] = (),
        *,
        delete: Sequence[str] = (),
        expected_version: int | AnyVersion,
    ) -> DatasetMetadata:
        """Replace or add samples by their test case id, and take out those in `delete`."""

    def delete(self, dataset_id: str, *, expected_version: int | AnyVersion) -> None:
        """Remove the dataset and its history."""

    def history(self, dataset_id: str) -> builtins.list[DatasetMetadata]:
        """What describes each version, newest first."""


class EvalStore(Protocol):
    """Runs by id: finished ones, and those in progress or interrupted with their journal."""

    def save(
        self, key: EvalRunKey, results: Iterable[EvalResult], *, expected_revision: int | None = None
    ) -> EvalRunKey:
        """Store a whole run: a new one, or in place of revision `expected_revision`."""

    def load(self, run: EvalRunKey | str) -> StoredRun:
        """A run by its key or id; of an interrupted one, what is there."""

    def list(
        self,
        *,
        action_ref: str | None = None,
        dataset_id: str | None = None,
        limit: int | None = None,
        incomplete: bool = True,
    ) -> list[EvalRunKey]:
        """Keys, newest first; interrupted runs and those in progress have the state INCOMPLETE.

        A listed key may leave out `summary`, `evaluators` and `limits`: load the run for them.
        """

    def unreadable(self) -> dict[str, CorruptFile]:
        """The runs that cannot be read, with what is wrong; they cost only themselves."""

    def delete(self, run: EvalRunKey | str, *, expected_revision: int | None = None) -> None:
        """Remove a run; without `expected_revision` whatever its revision is."""

    def begin(self, key: EvalRunKey) -> Journal:
        """Start a run's journal and hold its lock."""

    def reopen(self, run_id: str) -> Journal:
        """Go on with an interrupted run: holds its lock, cuts a torn last line."""
