"""A run as users hold it, and how far one has come."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from genkit_eval.engine.case_filter import CaseFilter
from genkit_eval.stats import RepeatSummary, summarize, summarize_repeats
from genkit_eval.stored import EvalResult, EvalRunKey, MetricSummary, RunState
from genkit_eval.stores import StoredRun

__all__ = ["EvalRun", "Progress"]


_OF_ALL = ("summary", "metric_summaries", "usage")
"""What a run's key says of all its cases together."""


class EvalRun:
    """One evaluation: its key, and its results, which are read from the file when they are asked for."""

    def __init__(self, stored: StoredRun) -> None:
        self._stored = stored

    @property
    def key(self) -> EvalRunKey:
        """What the run is listed by."""
        return self._stored.key

    @property
    def id(self) -> str:
        """The run's id."""
        return self.key.eval_run_id

    @property
    def results(self) -> Sequence[EvalResult]:
        """The results in the dataset's order, read lazily."""
        return self._stored.results

    @property
    def path(self) -> Path:
        """Where the run lies."""
        return self._stored.path

    @property
    def complete(self) -> bool:
        """Whether every case is done."""
        return self._stored.complete

    def failing(self) -> Iterator[EvalResult]:
        """The results whose target broke, or that have a FAIL or FAILED metric, in the dataset's order."""
        # the words are in the JSON of every such result; what has them elsewhere is looked at and left out
        return (result for result in self._stored.results.holding(b'"FAIL', b'"error"') if result.fails)

    def where(
        self, *, tags: Collection[str] = (), user_id: str | None = None, session_id: str | None = None
    ) -> EvalRun:
        """The run as if it had only the cases with one of these tags, of this user, of this session.

        Its results and summaries are theirs; what the run has cost is known of all cases only, and so left out.
        """
        chosen = CaseFilter(tags=tags, user_id=user_id, session_id=session_id)
        stored = self._stored
        key = stored.key.model_copy(update=dict.fromkeys(_OF_ALL, ()) | {"case_count": None})
        results = stored.results.at(array("Q", chosen.places(stored)))
        return EvalRun(StoredRun(stored.path, key, results, complete=stored.complete))

    def summary(self) -> Sequence[MetricSummary]:
        """One summary per metric and score id; computed from the results where the run does not hold it."""
        key = self.key
        if key.summary and key.state is RunState.COMPLETE:
            return key.summary
        return summarize(self.finished(), key.evaluators)

    def repeats(self) -> Sequence[RepeatSummary]:
        """What the passes over each case come to, one for each metric and score id: `CaseVerdict`, pass@k, pass^k."""
        return summarize_repeats(self.finished(), self.key.evaluators)

    def finished(self) -> Iterable[EvalResult]:
        """The results that no evaluator is missing from: all of a complete run."""
        if self.complete:
            return self.results
        # an output is kept before its judges have answered: that says nothing about them
        needed = {record.evaluator for record in self.key.evaluators}
        return (
            result
            for result in self.results
            if result.target_failed or needed <= {metric.evaluator for metric in result.metrics}
        )

    def __repr__(self) -> str:
        # asyncio takes the text of what a program's main task returns: that must not read a whole run file
        count = self.key.case_count if self.complete else None
        count = len(self.results) if count is None else count
        return f"EvalRun({self.id!r}, {count} results, {self.key.state.value.lower()})"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is: cases done of all, targets that failed, cells that passed of those that have a verdict."""

    run_id: str
    done: int
    total: int
    target_errors: int
    passed: int
    judged: int
    seconds: float
    resumed: int = 0
    notices: tuple[str, ...] = ()
    """What should be said to the user; given once, before the first case."""
    cost_usd: float | None = None
    """What is known of the cost so far."""
    stopping: str | None = None
    """Why it ends early, from when nothing new begins on."""
    repeats: int = 1
    """How often each case runs: `done` and `total` count every pass."""
