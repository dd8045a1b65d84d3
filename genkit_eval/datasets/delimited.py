"""CSV and TSV, read as a stream: RFC 4180, UTF-8, the first row names the columns (see `columns`).

Written cells are exact, for programs: what a spreadsheet would take for a formula is not neutralised, since that would
change the data. What CSV cannot hold is refused.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import BinaryIO

from genkit_eval.datasets.columns import Column, cell, columns_of, row_of
from genkit_eval.datasets.fields import KEYS
from genkit_eval.datasets.intake import Batch, Intake, Place
from genkit_eval.datasets.sources import text_lines
from genkit_eval.errors import DataFileError, Problem
from genkit_eval.stored import DatasetSchema
from genkit_eval.types import Sample

__all__ = ["read_delimited", "write_delimited"]

ROWS = 500
LONGEST_CELL = 1 << 26


def read_delimited(
    stream: BinaryIO, intake: Intake, *, delimiter: str, schema: DatasetSchema | None
) -> Iterator[Batch]:
    """Batches of some hundred rows."""
    records = _records(stream, intake, delimiter)
    line, names = next(records, (1, []))
    if not names:
        if not intake.problems:
            intake.add(Problem("the file is empty: expected a header with a column 'input'", line=1))
        return
    columns, problems, notices = columns_of(names, schema)
    for problem in problems:
        intake.add(Problem(problem, line=line))
    intake.notices.update({notice: notice for notice in notices})
    if problems:
        return
    position = 1
    while rows := _some(records, columns, position, intake):
        position = rows[-1][1].position + 1
        yield _batch(rows, columns, intake)


def _records(stream: BinaryIO, intake: Intake, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The records that are not blank, with the line where each starts."""
    # the limit of the csv module holds for the whole process; it is only ever raised
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_CELL))
    reader = csv.reader(_lines(stream), delimiter=delimiter, strict=True)
    line = 1
    try:
        for record in reader:
            if record:
                yield line, record
            line = reader.line_num + 1
    except csv.Error as fault:
        intake.add(Problem(f"not valid CSV: {fault}: is a quote left open or not doubled?", line=line))
    except _NotText as fault:
        intake.add(fault.problem)


class _NotText(Exception):
    """Carries what is wrong with the encoding out of the csv module, which asks for the lines."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(str(problem))


def _lines(stream: BinaryIO) -> Iterator[str]:
    for line in text_lines(stream):
        if isinstance(line, Problem):
            raise _NotText(line)
        yield line


def _some(
    records: Iterator[tuple[int, list[str]]], columns: Sequence[Column], position: int, intake: Intake
) -> list[tuple[list[str], Place]]:
    rows: list[tuple[list[str], Place]] = []
    for line, cells in records:
        if not any(cells):
            notice = f"the row of empty cells in line {line} is skipped, and others like it"
            intake.notices.setdefault("row of empty cells", notice)
            continue
        place = Place(line, position + len(rows))
        if len(cells) != len(columns):
            message = (
                f"the row has {len(cells)} cells, the header {len(columns)}: put cells with commas or quotes in quotes"
            )
            intake.add(Problem(message, line=line, sample=str(place.position)))
            # an empty row keeps the count of positions right
            cells = []  # noqa: PLW2901
        rows.append((cells, place))
        if len(rows) == ROWS:
            break
    return rows


def _batch(rows: Sequence[tuple[list[str], Place]], columns: Sequence[Column], intake: Intake) -> Batch:
    parsed = []
    for cells, place in rows:
        if not cells:
            continue
        row, problems = row_of(columns, cells)
        for name, message in problems:
            intake.add(Problem(message, line=place.line, field=name, sample=str(place.position)))
        if not problems:
            parsed.append((row, place))
    if not intake.careful and all(column.is_text for column in columns) and len(parsed) == len(rows):
        samples = intake.quick([row for row, _ in parsed], rows[0][1].position)
        if samples is not None:
            return Batch(samples)
    return intake.batch(parsed)


def write_delimited(
    samples: Iterable[Sample], *, delimiter: str, schema: DatasetSchema | None, target: str
) -> Iterator[bytes]:
    """A header of the keys in use, and a row each; every row is read back before it is written.

    Raises:
        DataFileError: a value that would not be read back as it is.
    """
    rows = [sample.to_json() for sample in samples]
    used = {key for row in rows for key in row} | {"input"}
    columns, _, _ = columns_of([key for key in KEYS.values() if key in used], schema)
    yield _text([column.name for column in columns], delimiter)
    intake = Intake(target)
    for position, row in enumerate(rows, start=1):
        cells = [cell(column, row) for column in columns]
        place = Place(None, position)
        again, problems = row_of(columns, cells)
        if problems or not any(cells) or (found := intake.sample(again, place)) is None or found.to_json() != row:
            raise DataFileError(target, [_refusal(row, again, place)])
        yield _text(cells, delimiter)


def _text(cells: Sequence[str], delimiter: str) -> bytes:
    out = io.StringIO(newline="")
    # CR LF is what RFC 4180 asks for, and makes the writer quote cells that hold either
    csv.writer(out, delimiter=delimiter, lineterminator="\r\n").writerow(cells)
    return out.getvalue().encode()


def _refusal(row: Mapping[str, object], again: Mapping[str, object], place: Place) -> Problem:
    changed = [key for key in {**row, **again} if row.get(key, _ABSENT) != again.get(key, _ABSENT)]
    field = changed[0] if changed else "input"
    message = "would not be read back from CSV as it is: write JSON or JSON Lines, or give a schema with its type"
    return Problem(message, field=field, sample=str(place.position))


_ABSENT = object()
