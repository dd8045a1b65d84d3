"""JSON Schemas of inputs and references."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from genkit_eval.errors import SHOWN_PROBLEMS, ConfigError, DataFileError, Problem
from genkit_eval.json_schema import SchemaCheck, schema_check
from genkit_eval.misfits import explained
from genkit_eval.stored import DatasetSchema
from genkit_eval.types import Sample

Checker = Callable[[Sample, int], list[Problem]]
"""What is wrong with a sample's input and reference; the number is its position, from 1."""

__all__ = ["Checker", "check_schema", "parse_schema", "schema_checker"]

_KEYS = {field.alias or name for name, field in DatasetSchema.model_fields.items()} | set(DatasetSchema.model_fields)


def parse_schema(given: Mapping[str, Any]) -> DatasetSchema:
    """The schemas in a mapping from a user.

    Raises:
        ConfigError: a key that is none of ours, such as those of a JSON Schema that was given by itself.
    """
    unknown = [key for key in given if key not in _KEYS]
    if unknown:
        found = ", ".join(f"'{key}'" for key in unknown[:5])
        raise ConfigError(
            f"a dataset's schema has the keys 'inputSchema' and 'referenceSchema', found {found}: "
            'put a JSON Schema under one of them, like {"inputSchema": {"type": "object"}}'
        )
    try:
        return DatasetSchema.model_validate(dict(given))
    except ValidationError as fault:
        raise ConfigError(f"a dataset's schema: {explained(fault, given)}") from fault


def check_schema(samples: Iterable[Sample], schema: DatasetSchema, *, source: str) -> None:
    """Check inputs and references against the schemas there are; a reference that was not given obeys any.

    Raises:
        DataFileError: all problems of the first 20 samples that do not fit, and how many more there are.
        ConfigError: `jsonschema` is not installed, or a schema is no JSON Schema.
    """
    check = schema_checker(schema)
    problems: list[Problem] = []
    unfit = more = 0
    for position, sample in enumerate(samples, start=1):
        found = check(sample, position)
        unfit += bool(found)
        if unfit <= SHOWN_PROBLEMS:
            problems += found
        else:
            more += len(found)
    if problems:
        raise DataFileError(source, problems, more=more)


def schema_checker(schema: DatasetSchema) -> Checker:
    """What checks samples against the schemas there are.

    Raises:
        ConfigError: `jsonschema` is not installed, or a schema is no JSON Schema.
    """
    parts = [
        (name, schema_check(given, name))
        for name, given in (("input", schema.input_schema), ("reference", schema.reference_schema))
        if given is not None
    ]

    def check(sample: Sample, position: int) -> list[Problem]:
        return [problem for name, fits in parts for problem in _problems(sample, position, name, fits)]

    return check


def _problems(sample: Sample, position: int, name: str, check: SchemaCheck) -> Iterator[Problem]:
    place = f"{position} ('{sample.test_case_id}')" if sample.test_case_id else str(position)
    if not sample.has(name):
        if name == "input":
            yield Problem("is missing, but there is a schema for it", field=name, sample=place)
        return
    for fault in check(getattr(sample, name)):
        yield Problem(fault.message, field=name + fault.place, sample=place)
