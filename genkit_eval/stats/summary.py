"""What a run's cells add up to, per evaluator and score id.

A cell is what one evaluator said about one case under one score id. Rules, so that in every summary
verdict + undecided + inconclusive + failed is the number of cases:

- A case whose target broke counts as FAILED for every evaluator.
- An evaluator that broke, or had nothing to read, says so once and without a score id. Where it gives ids for
  other cases, that cell counts under each of them.
- A case for which an evaluator gave other ids, or nothing, is INCONCLUSIVE under the id that is missing.
- A score that is not finite is FAILED.
- Mean, spread, low, high and distribution are over the scores of verdicts. Where numbers are mixed with
  booleans or texts, the mean is over the numbers, `scored` says how many they are, and the distribution counts
  the types.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from genkit_eval.stats._cells import DISTINCT_TEXTS, Cells, Signature, Texts, sound
from genkit_eval.stats.moments import mean, spread
from genkit_eval.stored import EvalResult, EvaluatorRecord, MetricSummary
from genkit_eval.types import Direction, Outcome, Status

__all__ = ["Tally", "summarize"]

SHOWN_TEXTS = 20
GENKIT_TEXTS = 5


class Tally:
    """Counts the cells of a run as they come in; one thread at a time.

    Memory: 8 bytes per number, nothing per boolean, at most 1,000 texts per evaluator, score id and verdict.
    """

    def __init__(self, evaluators: Iterable[EvaluatorRecord] = ()) -> None:
        """`evaluators` are those of the run: they appear in this order, with their direction, even without a cell."""
        self.target_errors = 0
        self._directions = {record.evaluator: record.direction for record in evaluators}
        self._cells: dict[tuple[object, ...], Cells] = {}

    def add(self, evaluator: str, metric: Mapping[str, Any]) -> None:
        """Count one metric in its form on disk: `score`, `scoreId`, `status`, `outcome` and `error` are read."""
        get = metric.get
        self.count(evaluator, get("score"), get("status"), get("outcome"), get("scoreId"), get("error") is not None)

    def count(
        self,
        evaluator: str,
        score: object,
        status: str | None = None,
        outcome: str | None = None,
        score_id: str | None = None,
        error: bool = False,  # noqa: FBT002
    ) -> None:
        """Count one cell from its parts: what `add` does, without a mapping.

        `status` and `outcome` are best plain text: members of an enumeration hash six times slower.
        """
        self.count_all([(evaluator, score, status, outcome, score_id, error)])

    def count_all(self, parts: Iterable[tuple[str, object, str | None, str | None, str | None, bool]]) -> None:
        """Count many cells, each from its parts in the order in which `count` takes them."""
        known = self._cells
        for evaluator, score, status, outcome, score_id, error in parts:
            kind: object = type(score)
            key = (evaluator, score_id, outcome, status, score if kind is bool else kind, error)
            cells = known.get(key)
            if cells is None:
                # the first of its signature; positional arguments in this order make a Signature
                cells = known[key] = Cells(Signature(*key))  # type: ignore[arg-type]
            if cells.keep is not None:
                cells.keep(score)
            cells.count += 1

    def target_failed(self) -> None:
        """Count a case whose target broke: one FAILED cell for every evaluator."""
        self.target_errors += 1

    def verdicts(self) -> tuple[int, int]:
        """So far: how many cells are PASS, and how many are PASS or FAIL. May be asked while another thread counts."""
        cells = [cell for cell in tuple(self._cells.values()) if cell.outcome is Outcome.VERDICT]
        passed = _count(cell for cell in cells if cell.status == Status.PASS)
        return passed, passed + _count(cell for cell in cells if cell.status == Status.FAIL)

    def summaries(self, total: int) -> list[MetricSummary]:
        """One summary per evaluator and score id; `total` is the number of cases that ended, broken ones included."""
        return [
            _summary(
                name, score_id, cells, total=total, target_errors=self.target_errors, direction=self._direction(name)
            )
            for name, score_id, cells in self._groups()
        ]

    def genkit_summaries(self, total: int) -> list[dict[str, JsonValue]]:
        """The same in Genkit's form and by its rules: cases whose target broke are left out."""
        answered = total - self.target_errors
        return [_genkit_summary(name, score_id, cells, answered) for name, score_id, cells in self._groups()]

    def _direction(self, evaluator: str) -> Direction:
        return self._directions.get(evaluator, Direction.MAXIMIZE)

    def _groups(self) -> Iterator[tuple[str, str | None, list[Cells]]]:
        by_evaluator: dict[str, list[Cells]] = {name: [] for name in self._directions}
        for cell in sound(self._cells.values()):
            by_evaluator.setdefault(cell.evaluator, []).append(cell)
        for evaluator, cells in by_evaluator.items():
            for score_id, group in _by_score_id(cells).items():
                yield evaluator, score_id, group


def summarize(results: Iterable[EvalResult], evaluators: Sequence[EvaluatorRecord] = ()) -> list[MetricSummary]:
    """Summaries of a run's results, read once as a stream; for run files of any tool.

    A result with an error and no metrics is a case whose target broke.
    """
    tally, total = Tally(evaluators), 0
    for result in results:
        total += 1
        if result.error is not None and not result.metrics:
            tally.target_failed()
        for metric in result.metrics:
            tally.count(
                metric.evaluator, metric.score, metric.status, metric.outcome, metric.score_id, metric.error is not None
            )
    return tally.summaries(total)


def _by_score_id(cells: Sequence[Cells]) -> dict[str | None, list[Cells]]:
    """Cells by score id; those without one that say the evaluator as a whole gave nothing stand under every id."""
    whole = [cell for cell in cells if cell.score_id is None and cell.outcome in (Outcome.FAILED, Outcome.INCONCLUSIVE)]
    groups: dict[str | None, list[Cells]] = {}
    for cell in sorted(cells, key=lambda cell: cell.score_id or ""):
        if cell not in whole:
            groups.setdefault(cell.score_id, []).append(cell)
    return {score_id: group + whole for score_id, group in groups.items()} or {None: whole}


def _count(cells: Iterable[Cells]) -> int:
    return sum(cell.count for cell in cells)


def _summary(
    evaluator: str,
    score_id: str | None,
    cells: Sequence[Cells],
    *,
    total: int,
    target_errors: int,
    direction: Direction,
) -> MetricSummary:
    by_outcome = {outcome: [cell for cell in cells if cell.outcome is outcome] for outcome in Outcome}
    counts = {outcome: _count(group) for outcome, group in by_outcome.items()}
    verdicts = by_outcome[Outcome.VERDICT]
    # Genkit gives samples with the same id each other's metrics: then there are more cells than cases
    silent = max(0, total - target_errors - sum(counts.values()))
    return MetricSummary(
        evaluator=evaluator,
        score_id=score_id,
        total=sum(counts.values()) + target_errors + silent,
        verdict=counts[Outcome.VERDICT],
        undecided=counts[Outcome.UNDECIDED],
        inconclusive=counts[Outcome.INCONCLUSIVE] + silent,
        failed=counts[Outcome.FAILED] + target_errors,
        passed=_count(cell for cell in verdicts if cell.status == Status.PASS),
        failed_status=_count(cell for cell in verdicts if cell.status == Status.FAIL),
        direction=direction,
        **_measures(verdicts),
    )


def _types(cells: Sequence[Cells]) -> dict[str, int]:
    counts = {kind: _count(cell for cell in cells if cell.type == kind) for kind in ("boolean", "number", "text")}
    return {kind: count for kind, count in counts.items() if count}


def _measures(cells: Sequence[Cells]) -> dict[str, Any]:
    types = _types(cells)
    measures: dict[str, Any] = {"scored": types.get("number") or sum(types.values())}
    if "number" in types:
        numbers = _numbers(cells)
        measures |= {"low": min(numbers), "high": max(numbers), "mean": mean(numbers), "spread": spread(numbers)}
    if len(types) > 1:
        measures["distribution"] = types
    elif "boolean" in types:
        measures["distribution"] = _booleans(cells)
    elif "text" in types:
        counts = _texts(cells).counts
        measures["distinct"] = DISTINCT_TEXTS + 1 if counts is None else len(counts)
        measures["distribution"] = None if counts is None else _commonest(counts, SHOWN_TEXTS)
    return measures


def _numbers(cells: Iterable[Cells]) -> array[float]:
    numbers = array("d")
    for cell in cells:
        numbers.extend(cell.numbers)
    return numbers


def _booleans(cells: Iterable[Cells]) -> dict[str, int]:
    counts = {"true": 0, "false": 0}
    for cell in cells:
        if cell.type == "boolean":
            counts["true" if cell.score else "false"] += cell.count
    return counts


def _texts(cells: Iterable[Cells]) -> Texts:
    merged = Texts()
    for cell in cells:
        merged.merge(cell.texts)
    return merged


def _commonest(counts: Mapping[str, int], most: int) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:most])


def _genkit_summary(
    evaluator: str, score_id: str | None, cells: Sequence[Cells], answered: int
) -> dict[str, JsonValue]:
    key = evaluator if evaluator.startswith("/evaluator/") else f"/evaluator/{evaluator}"
    statuses: dict[str, JsonValue] = {}
    for status in sorted({cell.status or "undefined" for cell in cells}):
        statuses[str(status)] = _count(cell for cell in cells if (cell.status or "undefined") == status)
    return {
        "evaluator": key if score_id is None else f"{key}/{score_id}",
        "testCaseCount": answered,
        "errorCount": _count(cell for cell in cells if cell.error),
        "scoreUndefinedCount": _count(cell for cell in cells if cell.type is None),
        "statusDistribution": statuses,
        **_genkit_scores(cells),
    }


def _genkit_scores(cells: Sequence[Cells]) -> dict[str, JsonValue]:
    """Genkit looks at the first score's type only, and writes nonsense when others follow: then we write nothing."""
    types = _types(cells)
    if set(types) == {"number"}:
        return {"averageScore": mean(_numbers(cells))}
    if set(types) == {"boolean"}:
        return {"scoreDistribution": dict(_booleans(cells))}
    if set(types) == {"text"}:
        counts = _texts(cells).counts
        if counts is not None and len(counts) <= GENKIT_TEXTS:
            return {"scoreDistribution": dict(_commonest(counts, GENKIT_TEXTS))}
    return {}
