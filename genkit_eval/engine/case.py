"""One case of a run: from a sample to its line in the journal."""

from __future__ import annotations

import math
from collections.abc import Mapping
from copy import deepcopy
from functools import lru_cache
from time import perf_counter
from typing import Any

from pydantic import ValidationError

from genkit_eval._data import Data, plain
from genkit_eval._json import dump, json_bytes, load
from genkit_eval.engine.calls import overdue
from genkit_eval.engine.cells import Cell
from genkit_eval.engine.limits import Limits
from genkit_eval.engine.metric import Metric, metric_from
from genkit_eval.engine.recording import gathered, observed
from genkit_eval.errors import DataError
from genkit_eval.stored import EvalResult
from genkit_eval.types import DataPoint, Sample, Usage

__all__ = ["Case", "isolated"]

_ALIAS = {name: field.alias or name for name, field in EvalResult.model_fields.items() if name != "metrics"}
_NULLABLE = Sample.nullable
# fields whose values are JSON already; the others hold data of ours
_RICH = frozenset({"attachments", "expect", "expected_tools", "output_attachments", "tools", "turns", "usage"})


class Case:
    """A sample on its way through target and evaluators.

    Its data point's values are in JSON form and its own: what is scored is what is stored, and an evaluator that
    changes them is found out and undone. Every value's JSON text is made once and kept for the line.
    """

    __slots__ = (
        "_head",
        "_mutable",
        "_names",
        "_state",
        "_texts",
        "due",
        "error",
        "index",
        "is_cut",
        "metrics",
        "next_cell",
        "point",
        "records",
        "repeat",
        "sample",
        "settled",
        "slot",
        "usage",
        "usage_is_paid",
    )

    def __init__(self, index: int, sample: Sample, repeat: int | None = None) -> None:
        self.index, self.sample = index, sample
        self.repeat = repeat
        """Which pass over the sample this is, from 0; None where there is only one."""
        self.error: str | None = None
        self.due = math.inf
        """When all of it should have ended, on `perf_counter`'s scale."""
        self.is_cut = False
        """Whether the run ended before all of its evaluators could speak."""
        self.usage: Usage | None = None
        """What the target has cost: as it reports, else as the run has paid for its calls of models."""
        self.usage_is_paid = False
        self.records: list[tuple[str, Any]] = []
        """What the target has recorded so far, each with the name of its data point field."""
        self.metrics: list[Metric] = []
        self.next_cell = 0
        self.slot = -1
        self.settled = False
        """Whether the output, or the error, is there."""
        self.point: DataPoint
        self._head = b""
        self._texts: dict[str, bytes] = {}
        self._names: list[str] = []
        self._mutable: list[Any] = []
        self._state = b""

    @classmethod
    def continued(
        cls, index: int, sample: Sample, repeat: int | None = None, *, slot: int, result: Mapping[str, Any]
    ) -> Case:
        """A case whose output and some of whose metrics are in the journal already."""
        case = cls(index, sample, repeat)
        case.slot, case.metrics = slot, [metric_from(form) for form in result["metrics"]]
        case._settle(_given_values(DataPoint.model_validate(result)))
        return case

    @property
    def overdue(self) -> bool:
        """Whether it is past its own deadline."""
        return perf_counter() > self.due

    @property
    def failed(self) -> bool:
        """Whether its target or one of its evaluators broke."""
        return self.error is not None or any(metric.failed for metric in self.metrics)

    def lacks(self, cell: Cell) -> bool:
        """Whether this evaluator has not spoken yet."""
        return all(metric.evaluator != cell.key for metric in self.metrics)

    def input_for_target(self) -> Any:
        """The sample's input, whose text is noted, so that a change to it can be undone."""
        value = self.sample.input
        if type(value) in (dict, list):
            self._texts["input"] = dump(value)
        return value

    def given(self) -> None:
        """Take the output (or error) that the sample brings along."""
        self.error = self.sample.error
        self._settle(_given_values(self.sample))

    def answered(self, value: object, seconds: float, *, paid: Usage | None = None) -> None:
        """Take what the target returned and recorded; `paid` is what the run has paid for it."""
        values = _given_values(self.sample)
        try:
            output, reported = observed(value)
            text, form = json_bytes(output)
        except (DataError, ValidationError) as problem:
            self.broke(f"the output cannot be kept: {problem}", seconds, paid=paid)
            return
        values["output"], self._texts["output"] = form, text
        values.pop("error", None)
        values.pop("output_attachments", None)
        values["latency"] = round(seconds, 6)
        if reported or self.records:
            self._take(values, reported)
        self._bill(values, paid)
        self._settle(values)

    def broke(self, error: str, seconds: float, *, paid: Usage | None = None) -> None:
        """Take the target's failure: an error, what it had recorded and cost by then, no output, no metrics."""
        values = _given_values(self.sample)
        values.pop("output", None)
        values.pop("output_attachments", None)
        self._texts.pop("output", None)
        values["error"] = self.error = error
        values["latency"] = round(seconds, 6)
        if self.records:
            self._take(values, {})
        self._bill(values, paid)
        self._settle(values)

    def _take(self, values: dict[str, Any], reported: Mapping[str, Any]) -> None:
        """What the target recorded, and what it reported beside its output."""
        fields = gathered(self.records, reported)
        self.usage = fields.get("usage")
        values.update(fields)

    def _bill(self, values: dict[str, Any], paid: Usage | None) -> None:
        """What the run has paid for the target's calls of models, unless the target says itself what it cost."""
        if paid is not None and self.usage is None:
            values["usage"] = self.usage = paid
            self.usage_is_paid = True

    def timed_out(self, limits: Limits, *, paid: Usage | None = None) -> None:
        """Take as the target's failure that it, or the whole sample, took too long."""
        what, limit = ("sample", limits.sample_seconds) if self.overdue else ("target", limits.target_seconds)
        _, error, seconds = overdue(what, limit)
        self.broke(error or "", seconds, paid=paid)

    def _settle(self, values: dict[str, Any]) -> None:
        shape, texts = _shape_of(tuple(values)), self._texts
        for name in shape.json:
            value = values[name]
            if type(value) in (dict, list):
                if name not in texts:
                    texts[name] = dump(value)
                self._names.append(name)
                self._mutable.append(value)
        if self._names:
            self._state = b"[" + b",".join([texts[name] for name in self._names]) + b"]"
        self.point = shape.make(values.values())
        self._head = _head(shape, values, texts, self.repeat)
        self.settled = True

    def line(self) -> bytes:
        """The result's JSON, its metrics last."""
        return b"%b[%b]}" % (self._head, b",".join([metric.text for metric in self.metrics]))

    @property
    def changed(self) -> bool:
        """Whether somebody changed the data point."""
        return bool(self._names) and dump(self._mutable) != self._state

    def restore_if_changed(self) -> None:
        """Undo what the target did to the values it was given."""
        if self.changed:
            self.restore()

    def restore(self) -> None:
        """Undo changes, in place, so that whoever shares the values sees them right."""
        for value, original in zip(self._mutable, load(self._state or b"[]"), strict=True):
            _restore(value, original)

    def private_point(self) -> DataPoint:
        """A data point for one evaluator alone, for those that run side by side."""
        if not self._mutable:
            return self.point
        values = {name: self.point.__dict__[name] for name in self.point.model_fields_set}
        return DataPoint.trusted({name: isolated(value) for name, value in values.items()})

    def differs(self, point: DataPoint) -> bool:
        """Whether a private point is no longer as it was given."""
        return bool(self._names) and dump([point.__dict__[name] for name in self._names]) != self._state


def isolated(value: Any) -> Any:
    """A copy of a field's value; what cannot be changed comes back itself."""
    if type(value) not in (dict, list):
        return value
    if value and isinstance(value, list) and isinstance(value[0], Data):
        # tool calls and turns, which hold values of their own
        return deepcopy(value)
    return load(dump(value))


def _restore(value: Any, original: Any) -> None:
    if isinstance(value, dict):
        value.clear()
        value.update(original)
    else:
        value[:] = original


class _Shape:
    """What is the same for all data points with the same fields: how to build one, and its keys in Genkit's order."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.make = DataPoint.maker(names)
        present = [name for name in _ALIAS if name in names or name == "trace_ids"]
        self.parts = [
            (name, b'%b"%b":' % (b"," if place else b"{", _ALIAS[name].encode())) for place, name in enumerate(present)
        ]
        self.json = [name for name in names if name not in _RICH]


_shape_of = lru_cache(maxsize=256)(_Shape)


def _given_values(sample: Sample) -> dict[str, Any]:
    values = sample.__dict__
    given: dict[str, Any] = {"test_case_id": values["test_case_id"]}
    for name in sample.model_fields_set:
        value = values[name]
        if value is not None or name in _NULLABLE:
            given[name] = value
    return given


def _head(shape: _Shape, values: Mapping[str, Any], texts: Mapping[str, bytes], repeat: int | None) -> bytes:
    """The result's JSON up to its metrics, in the order in which Genkit writes the keys."""
    parts: list[bytes] = []
    for name, key in shape.parts:
        text = texts.get(name)
        if text is None:
            # only trace_ids may be absent: Genkit wants it on every result
            value = values.get(name, ())
            text = dump(plain(value) if name in _RICH else value)
        parts += key, text
    if repeat is not None:
        parts.append(b',"repeat":%d' % repeat)
    return b'%b,"metrics":' % b"".join(parts)
