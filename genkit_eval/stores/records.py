"""Records from their JSON: ours without validating them again, those of other tools with care."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, TypeVar, overload

from genkit_eval._data import Data
from genkit_eval._json import dump
from genkit_eval.stored import (
    EvalMetric,
    EvalResult,
    EvalRunKey,
    EvaluatorRecord,
    MetricInfo,
    MetricSummary,
    ModelUsage,
    RunState,
    Stopped,
)
from genkit_eval.types import (
    Attachment,
    Direction,
    EvaluatorKind,
    Expect,
    Finding,
    Outcome,
    Sample,
    Status,
    ToolCall,
    Turn,
    Usage,
)

__all__ = ["Records", "foreign_record", "key_from_json", "result_bytes", "result_from_json", "sample_from_json"]

_T = TypeVar("_T", bound=Data)
_Build = Callable[[Any], object]


class Records(Sequence[_T]):
    """Records built when they are asked for: a listing of a thousand runs looks into few of them."""

    def __init__(self, raw: Sequence[Mapping[str, Any]], build: Callable[[Mapping[str, Any]], _T]) -> None:
        self._raw, self._build = raw, build

    def __len__(self) -> int:
        return len(self._raw)

    @overload
    def __getitem__(self, index: int) -> _T: ...
    @overload
    def __getitem__(self, index: slice) -> list[_T]: ...
    def __getitem__(self, index: int | slice) -> _T | list[_T]:
        if isinstance(index, slice):
            return [self._build(item) for item in self._raw[index]]
        return self._build(self._raw[index])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # as of any sequence that compares by value

    def __repr__(self) -> str:
        return repr(list(self))


@lru_cache(maxsize=1024)
def _info(display_name: str, definition: str) -> MetricInfo:
    # the same few in every run
    return MetricInfo(display_name=display_name, definition=definition)


def _many(record: type[Data]) -> _Build:
    return lambda items: [record.model_validate(item) for item in items]


_BUILD_SAMPLE: Mapping[str, _Build] = {
    "attachments": _many(Attachment),
    "output_attachments": _many(Attachment),
    "expect": Expect.model_validate,
    "expected_tools": _many(ToolCall),
    "tools": _many(ToolCall),
    "turns": _many(Turn),
    "usage": Usage.model_validate,
}
_BUILD_METRIC: Mapping[str, _Build] = {
    "status": Status,
    "outcome": Outcome,
    "findings": _many(Finding),
    "usage": _many(ModelUsage),
}
_BUILD_RESULT: Mapping[str, _Build] = {
    **_BUILD_SAMPLE,
    "metrics": lambda items: [_trusted(EvalMetric, item, _METRIC_NAMES, _BUILD_METRIC) for item in items],
}
_BUILD_RECORD: Mapping[str, _Build] = {"direction": Direction, "kind": EvaluatorKind}
_BUILD_KEY: Mapping[str, _Build] = {
    "usage": _many(ModelUsage),
    "unbilled": _many(ModelUsage),
    "stopped": Stopped.model_validate,
    "created_at": datetime.fromisoformat,
    "state": RunState,
    "metrics_metadata": lambda infos: {
        name: _info(info.get("displayName", ""), info.get("definition", "")) for name, info in infos.items()
    },
    "evaluators": lambda items: Records(
        items, lambda item: _trusted(EvaluatorRecord, item, _RECORD_NAMES, _BUILD_RECORD)
    ),
    "summary": lambda items: Records(items, lambda item: _trusted(MetricSummary, item, _SUMMARY_NAMES, _BUILD_RECORD)),
}


def _names(record: type[Data]) -> dict[str, str]:
    return {field.alias or name: name for name, field in record.model_fields.items()}


_KEY_NAMES: Mapping[str, str] = _names(EvalRunKey)
_RECORD_NAMES: Mapping[str, str] = _names(EvaluatorRecord)
_SUMMARY_NAMES: Mapping[str, str] = _names(MetricSummary)
_SAMPLE_NAMES: Mapping[str, str] = _names(Sample)
_METRIC_NAMES: Mapping[str, str] = _names(EvalMetric)
_RESULT_NAMES: Mapping[str, str] = _names(EvalResult)


def _trusted(record: type[_T], raw: Mapping[str, Any], names: Mapping[str, str], build: Mapping[str, _Build]) -> _T:
    values: dict[str, object] = {}
    for key, value in raw.items():
        name = names.get(key)
        if name is None or (value is None and name not in record.nullable):
            continue
        values[name] = build[name](value) if name in build else value
    return record.trusted(values)


def sample_from_json(raw: Mapping[str, Any]) -> Sample:
    """A sample of a file that we wrote."""
    return _trusted(Sample, raw, _SAMPLE_NAMES, _BUILD_SAMPLE)


def result_from_json(raw: Mapping[str, Any]) -> EvalResult:
    """A result of a file that we wrote."""
    return _trusted(EvalResult, raw, _RESULT_NAMES, _BUILD_RESULT)


def key_from_json(raw: Mapping[str, Any]) -> EvalRunKey:
    """The key of a run that we wrote."""
    return _trusted(EvalRunKey, raw, _KEY_NAMES, _BUILD_KEY)


def foreign_record(record: type[_T], raw: Mapping[str, Any]) -> _T:
    """A record another tool wrote: validated, and null where it means "not given" taken as absent."""
    names = _names(record)
    given = {
        key: value
        for key, value in raw.items()
        if value is not None or names.get(key, key) in record.nullable or key not in names
    }
    return record.model_validate(given)


_RESULT_KEYS = tuple(key for key in _RESULT_NAMES if key != "metrics")


def result_bytes(result: EvalResult) -> bytes:
    """The JSON of a result as a run file holds it: trace ids always there, as Genkit's reader demands, metrics last."""
    raw = result.to_json()
    ordered = {key: raw.get(key, []) for key in _RESULT_KEYS if key in raw or key == "traceIds"}
    ordered["metrics"] = raw.get("metrics", [])
    return dump(ordered)
