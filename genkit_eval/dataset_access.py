"""Datasets for evaluators that read one beside the cases: the app that plans a run says where they are."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

from genkit_eval.errors import ConfigError, StoreError
from genkit_eval.stored import Dataset

__all__ = ["dataset_reader", "read_dataset"]

dataset_reader: ContextVar[Callable[[str, int | None], Dataset] | None] = ContextVar(
    "genkit_eval_dataset_reader", default=None
)
"""Gives a dataset by its id, and a version or the newest; None where no run is planned."""


def read_dataset(dataset_id: str, version: int | None = None) -> Dataset:
    """A dataset of the app that plans a run now.

    Raises:
        ConfigError: there is none of that id and version, or no run is planned.
    """
    reader = dataset_reader.get()
    if reader is None:
        raise ConfigError(
            f"dataset '{dataset_id}' is looked up when a run that names the evaluator by itself is planned: it cannot "
            "be part of a combination"
        )
    try:
        return reader(dataset_id, version)
    except StoreError as problem:
        raise ConfigError(str(problem)) from problem
