"""The columns of CSV and TSV: which key each one is, and how its cells are read and written.

A cell is text and stays text: `007`, `true`, `NA` and `2024-01-05` are what they look like. Only these are more:

- A column `input` or `reference` whose JSON Schema has a `type` that text does not fit holds JSON.
- Lists (`context`, `tags`, `traceIds`, …) are JSON arrays; text that does not start with `[` is a list of that text.
- Objects and numbers (`custom`, `expect`, `turns`, `usage`, `latency`, …) are JSON.
- `phrases` and `label` are the two of `expect`; any other column goes into `custom` under its own name.

An empty cell means "not given", but for `input`, where it is the empty text. A row of empty cells is a blank line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from genkit_eval._json import dump
from genkit_eval.datasets.fields import ATTRIBUTES, CHECKS, KEYS, kind_of, meant
from genkit_eval.datasets.strict_json import Faulty, parse
from genkit_eval.errors import shortened
from genkit_eval.stored import DatasetSchema

__all__ = ["Column", "cell", "columns_of", "row_of"]

EXPECT_PARTS = ("phrases", "label")
MOST_LOOKED_AT = 200
"""So many columns are looked at for slips of the fingers, which takes a millisecond each."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, the key (and the key inside it) that it fills, and how its cells are read."""

    name: str
    key: str
    inner: str | None
    read: Callable[[str], Any]

    @property
    def is_text(self) -> bool:
        """Whether cells stay as they are, so that nothing in them can be wrong."""
        return self.read is str


def columns_of(names: Sequence[str], schema: DatasetSchema | None) -> tuple[list[Column], list[str], list[str]]:
    """The columns of a header, what is wrong with it, and what is odd about it."""
    columns: list[Column] = []
    problems, notices = [], []
    seen: set[tuple[str, str | None]] = set()
    for number, name in enumerate(names, start=1):
        column = _column(name.strip(), schema)
        if not column.name:
            problems.append(f"column {number} has no name: name it or take it out")
        elif (column.key, column.inner) in seen:
            problems.append(f"column '{column.name}' is there twice: keep one")
        elif column.key == "custom" and column.inner is not None and number <= MOST_LOOKED_AT:
            likely = meant(column.name)
            if likely:
                notices.append(f"column '{column.name}' is kept in 'custom': did you mean '{likely}'?")
        seen.add((column.key, column.inner))
        columns.append(column)
    if "input" not in {column.key for column in columns}:
        found = ", ".join(f"'{name}'" for name in names[:8])
        hint = ": separate cells with commas" if len(names) == 1 and ";" in names[0] else ""
        problems.append(f"there is no column 'input' (found {found}){hint}")
    return columns, problems, notices


def _column(name: str, schema: DatasetSchema | None) -> Column:
    attribute = ATTRIBUTES.get(name)
    if attribute is not None:
        return Column(name, KEYS[attribute], None, _reader(attribute, schema))
    if name in EXPECT_PARTS:
        return Column(name, "expect", name, _list if name == "phrases" else str)
    return Column(name, "custom", name, str)


def _reader(attribute: str, schema: DatasetSchema | None) -> Callable[[str], Any]:
    if attribute in ("input", "output", "reference"):
        given = schema and {"input": schema.input_schema, "reference": schema.reference_schema}.get(attribute)
        types = given.get("type", "string") if given else "string"
        types = [types] if isinstance(types, str) else list(types)
        return str if "string" in types else lambda text: _typed(text, types)
    expected = CHECKS[attribute].expected if attribute in CHECKS else "JSON"
    if expected.startswith("a list"):
        return _list
    if expected.startswith("text or"):
        return lambda text: _json(text) if text.startswith("[") else text
    return str if expected == "text" else _json


def _json(text: str) -> Any:
    try:
        return parse(text)
    except Faulty as fault:
        raise ValueError(f"expected JSON, found {_start(text)}: {fault}") from None


def _list(text: str) -> Any:
    if not text.startswith("["):
        return [text]
    try:
        return parse(text)
    except Faulty as fault:
        advice = f"write {dump([text[:20]]).decode()} if it is one text"
        raise ValueError(f"it starts with '[' but is no JSON array ({fault}): {advice}") from None


def _typed(text: str, types: Sequence[str]) -> Any:
    value = _json(text)
    if value is None:
        fits = "null" in types
    elif isinstance(value, bool):
        fits = "boolean" in types
    elif isinstance(value, int | float):
        fits = "number" in types or ("integer" in types and value == value // 1)
    else:
        fits = ("array" if isinstance(value, list) else "object" if isinstance(value, dict) else "string") in types
    if not fits:
        raise ValueError(f"expected {' or '.join(types)} as the schema says, found {kind_of(value)} {_start(text)}")
    return value


def _start(text: str) -> str:
    return f"'{shortened(text, 40)}'"


def row_of(columns: Sequence[Column], cells: Sequence[str]) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """The sample's JSON object from the cells of a row, and what is wrong with them, by column."""
    row: dict[str, Any] = {}
    problems = []
    for column, text in zip(columns, cells, strict=True):
        if not text and not (column.key == "input" and column.is_text):
            continue
        try:
            value = text if column.is_text else column.read(text)
        except ValueError as fault:
            problems.append((column.name, str(fault)))
            continue
        if column.inner is not None:
            value = {column.inner: value}
        elif column.key not in row:
            row[column.key] = value
            continue
        # `custom` beside columns that go into it, or `expect` beside its parts
        earlier = row.setdefault(column.key, {})
        if not isinstance(earlier, dict) or not isinstance(value, dict):
            problems.append((column.key, "expected a JSON object, as other columns go into it"))
        elif twice := sorted(earlier.keys() & value.keys()):
            problems.append((column.name, f"'{twice[0]}' of '{column.key}' is given twice: keep one"))
        else:
            # in place: a new one for each of very many columns would take their number squared
            earlier.update(value)
    return row, problems


def cell(column: Column, row: Mapping[str, Any]) -> str:
    """The text that `row_of` reads as this key of the sample's JSON object."""
    value = row.get(column.key)
    if column.key not in row:
        return ""
    return value if isinstance(value, str) and column.read is not _json else dump(value).decode()
