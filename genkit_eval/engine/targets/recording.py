"""What a target reports beside its output, by calls inside it or by what it returns: documents it read, tools it used.

The `record_…` functions reach the case that is running through a context variable: tasks and threads that a flow starts
have it too (threads, if they are given the context). Outside an evaluation they do nothing. Where the target breaks, it
is kept what was recorded by then.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import ValidationError

from genkit_eval._json import json_form
from genkit_eval.attachments import made_of
from genkit_eval.errors import DataError
from genkit_eval.misfits import explained
from genkit_eval.types import Attachment, Sample, ToolCall, Turn, Usage

__all__ = [
    "REPORTED",
    "TargetResult",
    "gathered",
    "observed",
    "record_attachment",
    "record_context",
    "record_plan",
    "record_retrieved",
    "record_tool_call",
    "record_turn",
    "record_usage",
    "recorder",
]

D = TypeVar("D", ToolCall, Turn, Usage)

recorder: ContextVar[list[tuple[str, Any]] | None] = ContextVar("genkit_eval_recorder", default=None)
"""Where what is recorded goes, in order, each with the name of its data point field; None outside an evaluation."""


class _Absent:
    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()
"""Nothing was given: None is a value."""

MOST: Final = 1e15
"""No count, time or sum of money of a single case is larger."""
REPORTED = {
    "output",
    "output_attachments",
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
"""Fields of a data point that a target may fill."""
_BY_KEY = {(Sample.model_fields[name].alias or name): name for name in REPORTED} | {name: name for name in REPORTED}
# a target has no other files than those that it makes
_BY_KEY["attachments"] = "output_attachments"
_ONE_BY_ONE, _SEVERAL = frozenset({"context", "turns"}), frozenset({"tools", "retrieved_ids", "output_attachments"})
"""Fields that hold lists, by how they are recorded."""


def record_attachment(content: bytes | Path | str, *, name: str | None = None) -> None:
    """Call inside a flow, once for each file that is a part of its answer: a PDF, PNG, JPEG, WEBP or SVG.

    They are `point.output_attachments`, whole, in the order in which they are recorded: the file itself may go, or be
    overwritten by the next case. Outside an evaluation it does nothing.

    Args:
        content: the bytes, a `Path` that is read now, or an address that begins with "data:". One that begins with
            http stays what it is, and nothing is fetched from there.
        name: what it is called.

    Raises:
        DataError: it cannot be read, is larger than 20 MB, or is none of these kinds.
    """
    if recorder.get() is not None:
        _record("output_attachments", (made_of(content, name),))


def record_context(*documents: object) -> None:
    """Call inside a flow: these documents (texts or JSON objects) are the context its answer stands on.

    They are kept in order, after those of earlier calls. Outside an evaluation it does nothing.

    Raises:
        DataError: a document that JSON cannot hold.
    """
    records = recorder.get()
    if records is not None:
        records.extend(("context", json_form(document)) for document in documents)


def record_tool_call(
    name: str,
    arguments: object = ABSENT,
    *,
    output: object = ABSENT,
    error: str | None = None,
    id: str | None = None,
) -> None:
    """Call inside a flow, once for each call of a tool: what was asked, and what came back, or the error.

    They are `point.tools`, in the order in which they are recorded. Where the sample has `expectedTools`, a flow that
    records none has made none. Outside an evaluation it does nothing.

    Raises:
        DataError: what was given cannot be kept.
    """
    given: dict[str, object] = {"name": name}
    given |= {key: item for key, item in (("arguments", arguments), ("output", output)) if item is not ABSENT}
    given |= {key: item for key, item in (("error", error), ("id", id)) if item is not None}
    _record("tools", (_checked(ToolCall, given),))


def record_turn(
    role: str, content: object = ABSENT, *, tool_calls: Sequence[ToolCall] = (), tool_call_id: str | None = None
) -> None:
    """Call inside a flow: a turn of the conversation, by the "user", the "assistant", a "tool" or the "system".

    They are `point.turns`, oldest first. Outside an evaluation it does nothing.

    Raises:
        DataError: what was given cannot be kept.
    """
    given: dict[str, object] = {"role": role}
    if content is not ABSENT:
        given["content"] = content
    if tool_calls:
        given["tool_calls"] = tool_calls
    if tool_call_id is not None:
        given["tool_call_id"] = tool_call_id
    _record("turns", _checked(Turn, given))


def record_retrieved(*ids: str) -> None:
    """Call inside a flow: the ids of what it retrieved, best first; they are `point.retrieved_ids`.

    They are kept in order, after those of earlier calls. A search that found nothing is recorded by a call without ids.
    Outside an evaluation it does nothing.

    Raises:
        DataError: an id that is no text.
    """
    for given in ids:
        if not isinstance(given, str):
            raise DataError(f"record_retrieved takes ids, which are texts: found {given!r:.80}")
    _record("retrieved_ids", ids)


def record_usage(
    *,
    input_tokens: int | None = None,
    output_tokens: int | None = None,
    cached_tokens: int | None = None,
    cost_usd: float | None = None,
    model_calls: int = 1,
) -> None:
    """Call inside a flow, after each call of a model: what it took; `point.usage` is the sum.

    `model_calls` says how many calls it speaks of. Outside an evaluation it does nothing.

    Raises:
        DataError: a figure that is below zero, or larger than any can be.
    """
    given = {
        "input_tokens": input_tokens,
        "output_tokens": output_tokens,
        "cached_tokens": cached_tokens,
        "cost_usd": cost_usd,
        "model_calls": model_calls,
    }
    for name, item in given.items():
        _check_figure(f"record_usage: {name}", item)
    _record("usage", _checked(Usage, {name: item for name, item in given.items() if item is not None}))


def record_plan(*steps: str) -> None:
    """Call inside a flow: the steps it means to take, which are `point.plan`; a later plan replaces an earlier one.

    Outside an evaluation it does nothing.
    """
    _record("plan", list(steps))


def _record(name: str, item: object) -> None:
    records = recorder.get()
    if records is not None:
        records.append((name, item))


def _checked(kind: type[D], given: Mapping[str, object]) -> D:
    try:
        return kind.model_validate(given)
    except ValidationError as fault:
        raise DataError(f"what was recorded cannot be kept: {explained(fault, given)}") from fault


def gathered(records: Sequence[tuple[str, Any]], reported: Mapping[str, Any]) -> dict[str, Any]:
    """The data point fields in what a target recorded and in what it returned beside its output.

    Lists are what was recorded and then what was returned; of anything else, what was returned goes before.
    """
    fields: dict[str, Any] = {}
    for name, item in records:
        if name in _ONE_BY_ONE:
            fields.setdefault(name, []).append(item)
        elif name in _SEVERAL:
            fields.setdefault(name, []).extend(item)
        elif name == "usage":
            fields[name] = _sum(fields[name], item) if name in fields else item
        else:
            fields[name] = item
    for name, item in reported.items():
        joined = name in fields and name in _ONE_BY_ONE | _SEVERAL
        fields[name] = [*fields[name], *item] if joined else item
    return fields


def _sum(first: Usage, second: Usage) -> Usage:
    """Both together; what neither says stays unsaid."""
    total = {name: getattr(first, name) for name in first.model_fields_set}
    for name in second.model_fields_set:
        value = getattr(second, name)
        total[name] = value if total.get(name) is None else total[name] + value
    return Usage.trusted(total)


@dataclass(frozen=True, slots=True)
class TargetResult:
    """What a flow returns when it reports more than its output; `reported` holds data point fields by name."""

    output: object
    reported: Mapping[str, Any] = field(default_factory=dict)


def observed(value: object) -> tuple[object, dict[str, Any]]:
    """The output in what a target returned, and the data point fields it reported beside it.

    A mapping reports when it has `output`, at least one more key, and only keys of a data point that a target
    can know (`context`, `usage`, `tools`, `attachments`, …); any other mapping is the output itself. What is null
    there is not reported.
    """
    if type(value) is dict:
        if len(value) > 1 and "output" in value and all(key in _BY_KEY for key in value):
            # many who write JSON write null where there is nothing
            reported = {key: item for key, item in value.items() if key != "output" and item is not None}
            return value["output"], _fields(reported)
        return value, {}
    if isinstance(value, TargetResult):
        return value.output, _fields(value.reported)
    if inspect.iscoroutine(value):
        value.close()
        raise DataError("it is a coroutine: define the flow with 'async def', and so a decorator around it")
    return value, {}


def _fields(reported: Mapping[str, Any]) -> dict[str, Any]:
    unknown = [key for key in reported if key not in _BY_KEY]
    if unknown:
        raise DataError(f"the target reported {', '.join(unknown)}: expected {', '.join(sorted(REPORTED))}")
    given = {_BY_KEY[key]: item for key, item in reported.items()}
    if "output_attachments" in given:
        given["output_attachments"] = _made(given["output_attachments"])
    try:
        checked = Sample.model_validate(given)
    except ValidationError as fault:
        raise DataError(f"beside it the target reported {explained(fault, given)}") from fault
    figures = {"latency": checked.latency}
    if checked.usage is not None:
        figures |= {f"usage.{name}": getattr(checked.usage, name) for name in checked.usage.model_fields_set}
    for name, figure in figures.items():
        _check_figure(f"beside it the target reported {name}, which", figure)
    return {name: getattr(checked, name) for name in checked.model_fields_set}


def _made(items: object) -> list[Attachment]:
    """The files that a target reports, each by its content or its address: what they say may come from anywhere."""
    if not isinstance(items, list | tuple):
        raise DataError(f"beside it the target reported attachments as {type(items).__name__}: expected a list")
    found = []
    for number, item in enumerate(items):
        try:
            found.append(_one_made(item))
        except DataError as problem:
            raise DataError(f"beside it the target reported attachments[{number}]: {problem}") from problem
    return found


def _one_made(item: object) -> Attachment:
    fields = item.to_json() if isinstance(item, Attachment) else item if isinstance(item, Mapping) else {"url": item}
    content, name = fields.get("url"), fields.get("name")
    if not isinstance(content, str | bytes) or "path" in fields or not isinstance(name, str | None):
        raise DataError(
            "expected an address that begins with data:, or an object of it as 'url' and a 'name'; a file of this "
            "machine is given by record_attachment(Path(…)) inside a flow"
        )
    return made_of(content, name)


def _check_figure(name: str, figure: float | None) -> None:
    # sums of them must stay numbers, and no budget may grow by them
    if figure is not None and not 0 <= figure <= MOST:
        raise DataError(f"{name} is {figure!s:.40}, expected 0 to {MOST:g}")
