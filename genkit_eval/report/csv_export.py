"""Results as a table of comma separated values.

One row per result. First the columns of the data point that occur, under Genkit's names and in its order; then for
each metric `<evaluator>` (with `/<score id>` where it has one, so that scores do not overwrite each other) the columns
`_score`, `_status`, `_outcome`, `_rationale` and `_error`. What is absent is an empty cell; lists and objects are JSON.

Spreadsheets run a cell that begins with `=`, `+`, `-`, `@`, a tab or a line end as a formula. So any *text* that begins
with one of these, also after spaces, gets an apostrophe before it: the text "-0.5" becomes `'-0.5`, header cells too.
Numbers stay numbers: a score of -0.5 is `-0.5`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pydantic import JsonValue

from genkit_eval._json import dump
from genkit_eval.stored import EvalMetric, EvalResult

__all__ = ["csv_rows"]

_FIELDS = ("testCaseId", "input", "output", "error", "context", "reference", "custom", "traceIds")
_PARTS = ("score", "status", "outcome", "rationale", "error")
# the last four are read as the first four where text is written full-width
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def _harmless(text: str) -> str:
    """The text, with an apostrophe before it where a spreadsheet would run it as a formula."""
    return f"'{text}" if text.startswith(_FORMULA) or text.lstrip(" \xa0\u3000").startswith(_FORMULA) else text


def csv_rows(results: Sequence[EvalResult]) -> Iterator[bytes]:
    """The bytes of the table: the results are gone through once for the columns, and once for the rows."""
    fields, metrics = _columns(results)
    yield _row([_harmless(name) for name in (*fields, *(f"{metric}_{part}" for metric in metrics for part in _PARTS))])
    for result in results:
        values = result.to_json()
        cells = [_cell(values, name) for name in fields]
        spoken = {_name(metric): metric for metric in result.metrics}
        for metric in metrics:
            row = spoken[metric].to_json() if metric in spoken else {}
            cells += [_cell(row, part) for part in _PARTS]
        yield _row(cells)


def _columns(results: Iterable[EvalResult]) -> tuple[list[str], list[str]]:
    """The names of fields and metrics, in the order in which they are met first."""
    fields: dict[str, None] = {}
    metrics: dict[str, None] = {}
    for result in results:
        fields |= dict.fromkeys(result.to_json())
        metrics |= dict.fromkeys(_name(metric) for metric in result.metrics)
    fields.pop("metrics", None)
    further = [name for name in fields if name not in _FIELDS]
    return [name for name in _FIELDS if name in fields] + further, list(metrics)


def _name(metric: EvalMetric) -> str:
    return f"{metric.evaluator}/{metric.score_id}" if metric.score_id else metric.evaluator


def _cell(values: Mapping[str, JsonValue], name: str) -> str:
    if name not in values:
        return ""
    value = values[name]
    return _harmless(value) if isinstance(value, str) else dump(value).decode()


def _row(cells: Sequence[str]) -> bytes:
    # the csv module of Python 3.11 does not quote a lone carriage return
    return (",".join(_quoted(cell) for cell in cells) + "\n").encode()


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if any(mark in cell for mark in ',"\r\n') else cell
