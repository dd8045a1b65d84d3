"""The datasets and runs of an app: its stores, taking and giving what users hold."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from genkit_eval.datasets import as_samples, check_schema, fill_ids, parse_schema
from genkit_eval.engine import EvalRun
from genkit_eval.engine.case_filter import CaseFilter
from genkit_eval.errors import CorruptFile, StoreError, UnknownName
from genkit_eval.stored import Dataset, DatasetMetadata, DatasetSchema, DatasetType, EvalRunKey
from genkit_eval.stores import UNSET, AnyVersion, DatasetStore, EvalStore, Unset
from genkit_eval.types import Sample

__all__ = ["Datasets", "Runs", "SamplesLike"]

SamplesLike = Iterable[Sample | Mapping[str, Any]]
"""Samples as users write them: `Sample` objects, or mappings with the keys of a dataset file."""


class Datasets:
    """Datasets by id, each with its versions; samples are checked, and given ids where they have none."""

    def __init__(self, store: DatasetStore) -> None:
        self.store = store

    def create(
        self,
        dataset_id: str | None,
        samples: SamplesLike,
        *,
        dataset_type: DatasetType | str = DatasetType.UNKNOWN,
        target: str | None = None,
        metric_refs: Sequence[str] = (),
        schema: DatasetSchema | Mapping[str, Any] | None = None,
    ) -> DatasetMetadata:
        """Store a new dataset as version 1; without an id it gets one.

        Raises:
            DataError: a sample that is not one, or breaks the schema. AlreadyExists: the id is taken.
        """
        checked = parse_schema(schema) if isinstance(schema, Mapping) else schema
        return self.store.create(
            dataset_id,
            _checked(samples, checked, dataset_id),
            dataset_type=_type(dataset_type),
            target_action=target,
            metric_refs=metric_refs,
            schema=checked,
        )

    def get(self, dataset_id: str, *, version: int | None = None) -> Dataset:
        """The newest version of a dataset, or the one asked for: `metadata` and `samples`."""
        return self.store.get(dataset_id, version=version)

    def list(self) -> list[DatasetMetadata]:
        """The newest version of each dataset, by id."""
        return self.store.list()

    def update(
        self,
        dataset_id: str,
        samples: SamplesLike | None = None,
        *,
        expected_version: int | AnyVersion,
        target: str | Unset | None = UNSET,
        metric_refs: Sequence[str] | Unset = UNSET,
        schema: DatasetSchema | Mapping[str, Any] | Unset | None = UNSET,
        dataset_type: DatasetType | str | Unset = UNSET,
    ) -> DatasetMetadata:
        """Replace all samples, or what describes the dataset, or both; what is not given stays.

        Raises:
            VersionConflict: the dataset is no longer at `expected_version`; nothing was changed.
        """
        new_schema = parse_schema(schema) if isinstance(schema, Mapping) else schema
        return self.store.update(
            dataset_id,
            None if samples is None else _checked(samples, self._schema_for(dataset_id, new_schema), dataset_id),
            expected_version=expected_version,
            target_action=target,
            metric_refs=metric_refs,
            schema=new_schema,
            dataset_type=dataset_type if isinstance(dataset_type, Unset) else _type(dataset_type),
        )

    def patch(
        self,
        dataset_id: str,
        samples: SamplesLike = (),
        *,
        delete: Sequence[str] = (),
        expected_version: int | AnyVersion,
    ) -> DatasetMetadata:
        """Replace or add samples by their test case id, and take out those in `delete`.

        Raises:
            VersionConflict: the dataset is no longer at `expected_version`; nothing was changed.
        """
        checked = _checked(samples, self._schema_for(dataset_id, UNSET), dataset_id)
        return self.store.patch(dataset_id, checked, delete=delete, expected_version=expected_version)

    def delete(self, dataset_id: str, *, expected_version: int | AnyVersion) -> None:
        """Remove a dataset and its history."""
        self.store.delete(dataset_id, expected_version=expected_version)

    def history(self, dataset_id: str) -> Sequence[DatasetMetadata]:
        """What describes each version, newest first."""
        return self.store.history(dataset_id)

    def _schema_for(self, dataset_id: str, given: DatasetSchema | Unset | None) -> DatasetSchema | None:
        return self.store.get(dataset_id).metadata.json_schema if isinstance(given, Unset) else given


class Runs:
    """Runs by id, newest first."""

    def __init__(self, store: EvalStore) -> None:
        self.store = store

    def load(self, run: EvalRunKey | str) -> EvalRun:
        """A run by its key or id; of an interrupted one, what is there."""
        return EvalRun(self.store.load(run))

    def list(
        self,
        *,
        target: str | None = None,
        dataset_id: str | None = None,
        limit: int | None = None,
        tags: Collection[str] = (),
        user_id: str | None = None,
        session_id: str | None = None,
    ) -> list[EvalRunKey]:
        """Keys, newest first; interrupted runs are INCOMPLETE. A run itself also has `summary` and `evaluators`.

        Args:
            target, dataset_id: only runs of these.
            limit: the newest so many, taken last.
            tags, user_id, session_id: only runs that have such a case, as `EvalRun.where`: their files are read.
        """
        cases = CaseFilter(tags=tags, user_id=user_id, session_id=session_id)
        if not cases:
            return self.store.list(action_ref=target, dataset_id=dataset_id, limit=limit)
        keys = self.store.list(action_ref=target, dataset_id=dataset_id)
        return [*islice((key for key in keys if self._has(key, cases)), limit)]

    def _has(self, key: EvalRunKey, cases: CaseFilter) -> bool:
        try:
            return next(cases.places(self.store.load(key)), None) is not None
        except StoreError:
            # `unreadable` tells of it
            return False

    def unreadable(self) -> Mapping[str, CorruptFile]:
        """Runs that are there but cannot be read, with what is wrong."""
        return self.store.unreadable()

    def delete(self, run: EvalRunKey | str, *, expected_revision: int | None = None) -> None:
        """Remove a run."""
        self.store.delete(run, expected_revision=expected_revision)


def _type(given: DatasetType | str) -> DatasetType:
    try:
        return DatasetType(given)
    except ValueError:
        raise UnknownName("dataset type", str(given), [kind.value for kind in DatasetType]) from None


def _checked(samples: SamplesLike, schema: DatasetSchema | None, dataset_id: str | None) -> list[Sample]:
    kept = list(fill_ids(as_samples(samples)))
    if schema is not None:
        check_schema(kept, schema, source=f"dataset '{dataset_id}'" if dataset_id else "the samples")
    return kept
