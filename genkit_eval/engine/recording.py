"""What a target reports beside its output: documents it read, by a call inside it or by what it returns."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue, ValidationError

from genkit_eval._json import json_form
from genkit_eval.errors import DataError
from genkit_eval.types import Sample

__all__ = ["TargetResult", "observed", "record_context", "recorder"]

recorder: ContextVar[list[JsonValue] | None] = ContextVar("genkit_eval_recorder", default=None)
"""Where the documents of the case that is running go; None outside an evaluation."""

_REPORTED = {
    "output",
    "context",
    "tools",
    "turns",
    "usage",
    "latency",
    "plan",
    "custom",
    "retrieved_ids",
    "trace_ids",
}
_BY_KEY = {(Sample.model_fields[name].alias or name): name for name in _REPORTED} | {name: name for name in _REPORTED}


def record_context(*documents: object) -> None:
    """Call inside a flow: these documents (texts or JSON objects) are the context its answer stands on.

    They are kept in order, after those of earlier calls. Outside an evaluation it does nothing.

    Raises:
        NotJson: a document that JSON cannot hold.
    """
    documents_of_case = recorder.get()
    if documents_of_case is not None:
        documents_of_case.extend(json_form(document) for document in documents)


@dataclass(frozen=True, slots=True)
class TargetResult:
    """What a flow returns when it reports more than its output; `reported` holds data point fields by name."""

    output: object
    reported: Mapping[str, Any] = field(default_factory=dict)


def observed(value: object) -> tuple[object, dict[str, Any]]:
    """The output in what a target returned, and the data point fields it reported beside it.

    A mapping reports when it has `output`, at least one more key, and only keys of a data point that a target
    can know (`context`, `usage`, `tools`, …); any other mapping is the output itself.
    """
    if inspect.iscoroutine(value):
        value.close()
        raise DataError("it is a coroutine: define the flow with 'async def', and so a decorator around it")
    if isinstance(value, TargetResult):
        return value.output, _fields(value.reported)
    if type(value) is dict and len(value) > 1 and "output" in value and all(key in _BY_KEY for key in value):
        return value["output"], _fields({key: item for key, item in value.items() if key != "output"})
    return value, {}


def _fields(reported: Mapping[str, Any]) -> dict[str, Any]:
    unknown = [key for key in reported if key not in _BY_KEY]
    if unknown:
        raise DataError(f"the target reported {', '.join(unknown)}: expected {', '.join(sorted(_REPORTED))}")
    try:
        checked = Sample.model_validate({_BY_KEY[key]: item for key, item in reported.items()})
    except ValidationError as fault:
        wrong = [f"{'.'.join(map(str, error['loc']))}: {error['msg']}" for error in fault.errors(include_url=False)]
        raise DataError(f"beside it the target reported {'; '.join(wrong[:5])}") from fault
    return {name: getattr(checked, name) for name in checked.model_fields_set}
