"""Drive a run: from its first sample to the closed run file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from pydantic import JsonValue

from genkit_eval._data import heap_set_aside
from genkit_eval.engine.asking.brake import Brake, FailureWatch
from genkit_eval.engine.asking.budget import Purse
from genkit_eval.engine.asking.limits import Limits
from genkit_eval.engine.asking.means import Means, Terms
from genkit_eval.engine.asking.model_calls import TARGET, RunCalls
from genkit_eval.engine.asking.usage import Totals
from genkit_eval.engine.batch import judge_batches
from genkit_eval.engine.case import Case
from genkit_eval.engine.feed import Feed
from genkit_eval.engine.interrupts import one_interrupt
from genkit_eval.engine.ledger import Ledger
from genkit_eval.engine.loop_calls import LoopCalls
from genkit_eval.engine.meter import Meter, OnProgress
from genkit_eval.engine.plan import Plan
from genkit_eval.engine.repeats import Repeats
from genkit_eval.engine.resume import remaining_cases
from genkit_eval.engine.run import EvalRun
from genkit_eval.engine.source import Source
from genkit_eval.engine.sync_calls import SyncCalls
from genkit_eval.errors import StoreError
from genkit_eval.off_loop import off_loop
from genkit_eval.stats import Tally
from genkit_eval.stored import EvalRunKey, ModelUsage, RunState, Stopped
from genkit_eval.stores import Journal, StoredRun, new_run_id

__all__ = ["OnProgress", "new_key", "run_cases"]


def new_key(plan: Plan, source: Source, terms: Terms) -> EvalRunKey:
    """The key of a run that begins now."""
    values: dict[str, Any] = {
        "evalRunId": new_run_id(),
        "createdAt": datetime.now(UTC),
        "metricsMetadata": plan.metrics_metadata(),
        "state": RunState.INCOMPLETE,
        "caseCount": source.count,
        "evaluators": [cell.record() for cell in plan.cells],
        "source": dict(source.description),
        "limits": terms.limits.to_json(),
        "budget": None if terms.budget is None else terms.budget.to_json(),
        "cache": None if terms.cache == "on" else terms.cache,
        "repeats": Repeats(target=source.repeats, judge=plan.judge_repeats).to_json(),
    }
    if plan.flow is not None:
        values |= {"actionRef": plan.flow.key, "actionVersion": plan.flow.version}
        if plan.flow.config is not None:
            values["actionConfig"] = plan.flow.config
    if source.dataset is not None:
        values |= {"datasetId": source.dataset.dataset_id, "datasetVersion": source.dataset.version}
    return EvalRunKey.model_validate(values)


async def run_cases(
    plan: Plan,
    source: Source,
    journal: Journal,
    means: Means,
    *,
    resumed: bool = False,
    notices: tuple[str, ...] = (),
    progress: OnProgress | None = None,
) -> EvalRun:
    """Run what is missing, and close the run file. When anything stops it, all that ended is kept for a resume.

    A run that its own limits or its budget end early comes back INCOMPLETE, with why it `stopped` in its key.
    """
    session = _session(plan, source, journal, means, progress)
    if resumed:
        budget = means.terms.budget
        journal.note({"budget": None if budget is None else budget.to_json(), "stopped": None})
    # also while it is closed after the first Ctrl-C
    with one_interrupt():
        try:
            return EvalRun(await session.run(notices, resumed=resumed))
        except BaseException:
            session.meter.tell_stopped()
            session.keep_usage()
            journal.close()
            raise
        finally:
            means.kept.close()


@dataclass(frozen=True)
class _Session:
    """What one process does of a run."""

    plan: Plan
    source: Source
    journal: Journal
    ledger: Ledger
    means: Means
    meter: Meter
    lanes: _Lanes

    async def run(self, notices: tuple[str, ...], *, resumed: bool) -> StoredRun:
        plan, source, ledger = self.plan, self.source, self.ledger
        cases = await off_loop(lambda: remaining_cases(plan, source, ledger)) if resumed else _fresh_cases(source)
        self.means.kept.recorded = ledger.recorded
        self.meter.begin(notices)
        with heap_set_aside():
            await self.lanes.run(cases)
        brake = self.means.brake
        if brake.stopped is None or ledger.done >= source.count:
            await self.lanes.judge_batches()
        if brake.stopped is not None and (ledger.done < source.count or ledger.left):
            self.meter.tell()
            self.meter.tell_stopped()
            return await off_loop(partial(self._left, brake.stopped), shield=True)
        self.meter.tell()
        key = _finished(self.journal.key, ledger, self.meter.seconds, self.usage(), self.means.choices.to_json())
        # all is done: whoever cancels now gets a finished run, not one that is closed twice
        return await off_loop(lambda: self.journal.finish(key, ledger.order), shield=True)

    def usage(self) -> Sequence[ModelUsage]:
        return self.means.calls.totals.of([cell.key for cell in self.plan.cells])

    def keep_usage(self) -> None:
        """Note what was spent; a journal that cannot be written to has been told of already."""
        usage = self.usage()
        unbilled = self.means.calls.totals.unbilled([cell.key for cell in self.plan.cells])
        if usage:
            kept = {"usage": usage, **({"unbilled": unbilled} if unbilled else {})}
            with suppress(StoreError):
                self.journal.note({name: [spent.to_json() for spent in parts] for name, parts in kept.items()})

    def _left(self, stopped: Stopped) -> StoredRun:
        """A run that ended early, as it can be gone on with."""
        self.keep_usage()
        self.journal.note({"stopped": stopped.to_json()})
        self.journal.close()
        return StoredRun.open_journal(self.journal.path)


def _session(plan: Plan, source: Source, journal: Journal, means: Means, progress: OnProgress | None) -> _Session:
    given, calls, brake, purse = means.terms.limits, means.calls, means.brake, means.purse
    limits = replace(given, max_concurrency=min(given.max_concurrency, source.count))
    ledger = Ledger(journal, Tally(journal.key.evaluators), keep=bool(plan.batch_cells))
    most_failures = limits.most_failures(source.count)
    if most_failures is not None:
        ledger.on_failure = FailureWatch(most_failures, brake).one_more
    means.keep_in(journal)
    _count_usage(plan, ledger, purse, calls.totals)
    meter = Meter(ledger, source.count, brake, calls.totals, progress)
    lanes = _Lanes(plan, ledger, limits, calls, brake, (meter.tell, purse.look))
    return _Session(plan, source, journal, ledger, means, meter, lanes)


def _count_usage(plan: Plan, ledger: Ledger, purse: Purse, totals: Totals) -> None:
    """What the target costs counts by what it is; what evaluators cost, by who asks, which their calls see to."""
    target = None if plan.flow is None else plan.flow.name if plan.flow.kind == "model" else plan.flow.key

    def take(case: Case) -> None:
        if case.usage is not None and target is not None:
            totals.add(TARGET, target, case.usage)
            if not case.usage_is_paid:
                purse.pay(case.usage)

    ledger.on_usage, ledger.on_replay = take, partial(totals.replay, target=target)


def _fresh_cases(source: Source) -> Iterator[Case]:
    return (Case(index, sample, repeat) for index, (sample, repeat) in enumerate(source.passes()))


@dataclass(frozen=True)
class _Lanes:
    """What is asynchronous and what runs on threads, side by side, and then what sees all data points at once."""

    plan: Plan
    ledger: Ledger
    limits: Limits
    calls: RunCalls
    brake: Brake
    on_tick: Sequence[Callable[[], None]]

    async def run(self, cases: Iterator[Case]) -> None:
        feed = Feed(cases, self.limits.max_concurrency, case_seconds=self.limits.sample_seconds)
        # no case is to begin when those who wait for a call are told that it will not be sent
        self.brake.tell(feed.stop)
        self.ledger.feed = feed
        async with self.plan.opened() as ready:
            await self._run_open(ready, feed)
        if feed.problem is not None:
            raise feed.problem

    async def judge_batches(self) -> None:
        if self.plan.batch_cells:
            await judge_batches(self.plan.batch_cells, self.ledger, self.limits, self.calls)

    async def _run_open(self, plan: Plan, feed: Feed) -> None:
        loop = LoopCalls(plan, feed, self.ledger, self.limits, self.calls)
        threads = SyncCalls(plan, feed, self.ledger, self.limits, self.calls, loop.judge_later)
        loop.put_sync, loop.on_tick = threads.put, self.on_tick
        try:
            if plan.sync_cells or not plan.loop_takes:
                threads.start()
            await loop.run()
        finally:
            feed.stop()
            threads.stop()
            self.ledger.flush()


def _finished(
    key: EvalRunKey,
    ledger: Ledger,
    seconds: float,
    usage: Sequence[ModelUsage],
    choices: Mapping[str, JsonValue] | None,
) -> EvalRunKey:
    total = ledger.done
    update: Mapping[str, JsonValue | Any] = {
        "state": RunState.COMPLETE,
        "stopped": None,
        "unbilled": None,
        "choices": choices,
        "case_count": total,
        "target_errors": ledger.tally.target_errors,
        "seconds": round(seconds, 3),
        "usage": usage,
        "summary": ledger.tally.summaries(total),
        "metric_summaries": ledger.tally.genkit_summaries(total),
    }
    return key.model_copy(update=dict(update))
