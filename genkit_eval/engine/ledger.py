"""The books of a run: what ended goes to the journal and into the counts, in whichever thread it ended."""

from __future__ import annotations

import threading
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from time import monotonic
from typing import Any

from genkit_eval._json import load
from genkit_eval.engine.case import Case
from genkit_eval.engine.feed import Feed
from genkit_eval.engine.metric import Counted, Metric, counted
from genkit_eval.stats import Tally
from genkit_eval.stores import Journal, RecordedCalls

__all__ = ["Ledger"]

FLUSH_SECONDS = 0.005


class Ledger:
    """Writes results, counts them, and gives a case's place back once its line is with the operating system."""

    def __init__(self, journal: Journal, tally: Tally, *, keep: bool = False) -> None:
        self.journal, self.tally = journal, tally
        self.feed: Feed
        self.on_failure: Callable[[], None] | None = None
        self.on_usage: Callable[[Case], None] | None = None
        self.on_replay: Callable[[Mapping[str, Any]], None] | None = None
        self.recorded: RecordedCalls | None = None
        """Replies that evaluators had been given when an earlier session ended; None for a run that begins."""
        self.order = array("q")
        """Where in the journal the result of each sample is, by the sample's position; -1 for none."""
        self.done = 0
        self.left = 0
        """Cases that were left open because the run ends early."""
        self.pending = 0
        self.kept: list[tuple[int, Mapping[str, Any]]] | None = [] if keep else None
        self._lock = threading.Lock()
        self._flushed = monotonic()

    def place(self, index: int, slot: int) -> None:
        """Note where the result of the sample at this position is."""
        order = self.order
        if index == len(order):
            order.append(slot)
            return
        while len(order) <= index:
            order.append(-1)
        order[index] = slot

    def open(self, case: Case) -> None:
        """Write the output and what is scored already; more metrics will follow."""
        if case.slot < 0:
            with self._lock:
                case.slot = self.journal.add(case.line())
                self.place(case.index, case.slot)
            self._take_usage(case)

    def add(self, case: Case, metrics: Sequence[Metric]) -> None:
        """Write metrics of a case that is open."""
        with self._lock:
            case.metrics.extend(metrics)
            for metric in metrics:
                self.journal.add_metric(case.slot, metric.text)

    def close(self, case: Case) -> None:
        """The case has ended: write it if it is not open, and count it."""
        if case.usage is not None and case.slot < 0:
            self._take_usage(case)
        with self._lock:
            if case.slot < 0:
                case.slot = self.journal.add(case.line())
                self.place(case.index, case.slot)
            self._count(case.error is not None, [metric.counted for metric in case.metrics])
            if self.kept is not None and case.error is None:
                self.kept.append((case.slot, load(case.line())))
            self.pending += 1
        if self.on_failure is not None and case.failed:
            self.on_failure()

    def _take_usage(self, case: Case) -> None:
        if case.usage is not None and self.on_usage is not None:
            self.on_usage(case)

    def leave(self, case: Case) -> None:
        """The run ends early, and this case is not done: of it, what is written already is kept."""
        with self._lock:
            self.left += 1
            self.pending += 1
        self.flush()

    def replay(self, slot: int, result: Mapping[str, Any]) -> None:
        """Count a case that ended in an earlier session."""
        if self.kept is not None and "error" not in result:
            self.kept.append((slot, result))
        self._count("error" in result, [counted(form) for form in result["metrics"]])

    def answered(self) -> Sequence[tuple[int, Mapping[str, Any]]]:
        """Slot and result of every case with an output, in the dataset's order; kept only when asked for."""
        position = {slot: index for index, slot in enumerate(self.order)}
        return sorted(self.kept or (), key=lambda row: position[row[0]])

    def add_late(self, slot: int, metrics: Sequence[Metric]) -> None:
        """Write and count metrics of a case that has ended already."""
        with self._lock:
            for metric in metrics:
                self.journal.add_metric(slot, metric.text)
            self.tally.count_all([metric.counted for metric in metrics])

    def _count(self, broke: bool, cells: Iterable[Counted]) -> None:
        self.done += 1
        if broke:
            self.tally.target_failed()
        else:
            self.tally.count_all(cells)

    def flush(self) -> None:
        """Put all that ended on its way to the disk, and give the places back."""
        with self._lock:
            ended, self.pending = self.pending, 0
            self._flushed = monotonic()
            self.journal.flush()
        if ended:
            self.feed.give_back(ended)

    def flush_when_due(self) -> None:
        """Flush, unless that was a moment ago."""
        if monotonic() - self._flushed > FLUSH_SECONDS:
            self.flush()
