"""Rows of ours are read without validation: whatever is a record within them has to be built."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, get_args

import pytest

from genkit_eval._data import Data
from genkit_eval.stored import EvalMetric, EvalResult, EvalRunKey, EvaluatorRecord, MetricSummary
from genkit_eval.stores import records
from genkit_eval.types import Sample


def parts(annotation: Any) -> Iterator[Any]:
    """The types that an annotation names."""
    yield annotation
    for part in get_args(annotation):
        yield from parts(part)


@pytest.mark.parametrize(
    ("record", "build"),
    [
        (EvalRunKey, records._BUILD_KEY),
        (EvalResult, records._BUILD_RESULT),
        (Sample, records._BUILD_SAMPLE),
        (EvalMetric, records._BUILD_METRIC),
        (EvaluatorRecord, records._BUILD_RECORD),
        (MetricSummary, records._BUILD_RECORD),
    ],
)
def test_each_field_that_holds_records_is_built(record: type[Data], build: Mapping[str, Any]) -> None:
    holding = {
        name
        for name, field in record.model_fields.items()
        if any(isinstance(part, type) and issubclass(part, Data) for part in parts(field.annotation))
    }

    assert holding - set(build) == set()
