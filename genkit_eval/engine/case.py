"""One case of a run: from a sample to its line in the journal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import deepcopy
from functools import lru_cache
from time import perf_counter
from typing import Any

from pydantic import ValidationError

from genkit_eval._data import Data, plain
from genkit_eval._json import dump, json_bytes, load
from genkit_eval.engine.asking.limits import Limits
from genkit_eval.engine.calls import overdue
from genkit_eval.engine.cells import Cell
from genkit_eval.engine.metric import Metric, metric_from
from genkit_eval.engine.targets.recording import gathered, observed
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

    # what all of them begin with stands here: they are many, and most of it never changes
    error: str | None = None
    due = math.inf
    """When all of it should have ended, on `perf_counter`'s scale."""
    is_cut = False
    """Whether the run ended before all of its evaluators could speak."""
    usage: Usage | None = None
    """What the target has cost: as it reports, else as the run has paid for its calls of models."""
    usage_is_paid = False
    next_cell = 0
    slot = -1
    settled = False
    """Whether the output, or the error, is there."""
    point: DataPoint
    _head = _state = b""
    _names: Sequence[str] = ()
    _mutable: Sequence[Any] = ()

    def __init__(self, index: int, sample: Sample, repeat: int | None = None) -> None:
        self.index, self.sample = index, sample
        self.repeat = repeat
        """Which pass over the sample this is, from 0; None where there is only one."""
        self.records: list[tuple[str, Any]] = []
        """What the target has recorded so far, each with the name of its data point field."""
        self.metrics: list[Metric] = []
        self._texts: dict[str, bytes] = {}

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
        """Build the data point, note what could be changed in it, and write the line as far as its metrics."""
        shape, known = _shape_of(tuple(values)), self._texts
        head: list[bytes] = []
        names, mutable, state = [], [], []
        for name, key, is_rich in shape.parts:
            value = values[name]
            if is_rich:
                head += key, dump(plain(value))
                continue
            text = known.get(name) or dump(value)
            head += key, text
            if type(value) is dict or type(value) is list:
                names.append(name)
                mutable.append(value)
                state.append(text)
        if names:
            self._names, self._mutable, self._state = names, mutable, b"[%b]" % b",".join(state)
        self.point = shape.make(values.values())
        self._head = b'%b%b%b,"metrics":' % (b"".join(head), shape.last, _pass(self.repeat))
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
        self.parts: list[tuple[str, bytes, bool]] = []
        key = b"{"
        for name, alias in _ALIAS.items():
            if name in names:
                self.parts.append((name, b'%b"%b":' % (key, alias.encode()), name in _RICH))
                key = b","
            elif name == "trace_ids":
                # Genkit wants it on every result
                key += b'"traceIds":[],'
        self.last = key[:-1]
        """What comes after the last value."""


_shape_of = lru_cache(maxsize=256)(_Shape)


def _pass(number: int | None) -> bytes:
    return b"" if number is None else b',"repeat":%d' % number


def _given_values(sample: Sample) -> dict[str, Any]:
    values = sample.__dict__
    given: dict[str, Any] = {"test_case_id": values["test_case_id"]}
    for name in sample.model_fields_set:
        value = values[name]
        if value is not None or name in _NULLABLE:
            given[name] = value
    return given
