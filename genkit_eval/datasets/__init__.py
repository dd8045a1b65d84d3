"""Datasets in files: readers and writers by format, ids, filters, JSON Schemas."""

from __future__ import annotations

from genkit_eval.datasets.filters import select
from genkit_eval.datasets.ids import check_ids, fill_ids
from genkit_eval.datasets.reading import FileCheck, as_samples, check_file, read_samples
from genkit_eval.datasets.schema import check_schema, parse_schema
from genkit_eval.datasets.sources import FORMATS, files_like
from genkit_eval.datasets.writing import encode_samples, write_samples

__all__ = [
    "FORMATS",
    "FileCheck",
    "as_samples",
    "check_file",
    "check_ids",
    "check_schema",
    "encode_samples",
    "files_like",
    "fill_ids",
    "parse_schema",
    "read_samples",
    "select",
    "write_samples",
]
