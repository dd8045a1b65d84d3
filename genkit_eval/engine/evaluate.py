"""Drive a run: from its first sample to the closed run file."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from time import monotonic
from typing import Any

from pydantic import JsonValue

from genkit_eval._data import heap_set_aside
from genkit_eval.engine.batch import judge_batches
from genkit_eval.engine.brake import Brake, FailureWatch
from genkit_eval.engine.case import Case
from genkit_eval.engine.feed import Feed
from genkit_eval.engine.interrupts import one_interrupt
from genkit_eval.engine.kept_replies import CacheUse, KeptReplies
from genkit_eval.engine.ledger import Ledger
from genkit_eval.engine.limits import Limits
from genkit_eval.engine.loop_calls import LoopCalls
from genkit_eval.engine.model_calls import RunCalls
from genkit_eval.engine.off_loop import off_loop
from genkit_eval.engine.plan import Plan
from genkit_eval.engine.repeats import Repeats
from genkit_eval.engine.resume import remaining_cases
from genkit_eval.engine.run import EvalRun, Progress
from genkit_eval.engine.source import Source
from genkit_eval.engine.sync_calls import SyncCalls
from genkit_eval.stats import Tally
from genkit_eval.stored import EvalRunKey, RunState, Stopped
from genkit_eval.stores import Journal, StoredRun, new_run_id

__all__ = ["OnProgress", "new_key", "run_cases"]

OnProgress = Callable[[Progress], None]

log = logging.getLogger("genkit_eval")


def new_key(plan: Plan, source: Source, limits: Limits, *, cache: CacheUse = "on") -> EvalRunKey:
    """The key of a run that begins now."""
    values: dict[str, Any] = {
        "evalRunId": new_run_id(),
        "createdAt": datetime.now(UTC),
        "metricsMetadata": plan.metrics_metadata(),
        "state": RunState.INCOMPLETE,
        "caseCount": source.count,
        "evaluators": [cell.record() for cell in plan.cells],
        "source": dict(source.description),
        "limits": limits.to_json(),
        "cache": None if cache == "on" else cache,
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
    limits: Limits,
    *,
    resumed: bool = False,
    cache: CacheUse | None = None,
    notices: tuple[str, ...] = (),
    progress: OnProgress | None = None,
) -> EvalRun:
    """Run what is missing, and close the run file. When anything stops it, all that ended is kept for a resume.

    A run that its own limits end early comes back INCOMPLETE, with why it `stopped` in its key. `cache` is by default
    what the run began with.
    """
    limits = replace(limits, max_concurrency=min(limits.max_concurrency, source.count))
    ledger = Ledger(journal, Tally(journal.key.evaluators), keep=bool(plan.batch_cells))
    meter = _Meter(ledger, source.count, progress)
    kept = KeptReplies(journal, cache=cache or journal.key.cache or "on")
    calls, brake = RunCalls(kept), _brake(ledger, limits.most_failures(source.count))
    # also while it is closed after the first Ctrl-C
    with one_interrupt():
        try:
            cases = await off_loop(lambda: remaining_cases(plan, source, ledger)) if resumed else _fresh_cases(source)
            kept.recorded = ledger.recorded
            meter.begin(notices)
            with heap_set_aside():
                await _run_lanes(plan, cases, ledger, limits, calls, meter, brake)
            if brake.stopped is not None and ledger.done < source.count:
                meter.tell_stopped()
                return EvalRun(await off_loop(partial(_left, journal, brake.stopped), shield=True))
            if plan.batch_cells:
                ledger.flush()
                await judge_batches(plan.batch_cells, ledger, limits, calls)
            meter.tell()
            key = _finished(journal.key, ledger, meter.seconds)
            # all is done: whoever cancels now gets a finished run, not one that is closed twice
            return EvalRun(await off_loop(lambda: journal.finish(key, ledger.order), shield=True))
        except BaseException:
            meter.tell_stopped()
            journal.close()
            raise
        finally:
            kept.close()


def _brake(ledger: Ledger, most_failures: int | None) -> Brake:
    """What ends the run early; an earlier session's reason no longer counts."""
    brake = Brake()
    if most_failures is not None:
        ledger.on_failure = FailureWatch(most_failures, brake).one_more
    if ledger.journal.key.stopped is not None:
        ledger.journal.note({"stopped": None})
    return brake


def _fresh_cases(source: Source) -> Iterator[Case]:
    return (Case(index, sample, repeat) for index, (sample, repeat) in enumerate(source.passes()))


async def _run_lanes(
    plan: Plan, cases: Iterator[Case], ledger: Ledger, limits: Limits, calls: RunCalls, meter: _Meter, brake: Brake
) -> None:
    feed = Feed(cases, limits.max_concurrency, case_seconds=limits.sample_seconds)
    brake.on_pull.append(feed.stop)
    ledger.feed = feed
    async with plan.opened() as ready:
        loop = LoopCalls(ready, feed, ledger, limits, calls)
        threads = SyncCalls(ready, feed, ledger, limits, loop.judge_later)
        loop.put_sync, loop.on_tick = threads.put, meter.tell
        try:
            if plan.sync_cells or not plan.target_is_async:
                threads.start()
            await loop.run()
        finally:
            feed.stop()
            threads.stop()
            ledger.flush()
    if feed.problem is not None:
        raise feed.problem


def _left(journal: Journal, stopped: Stopped) -> StoredRun:
    """A run that ended early, as it can be gone on with."""
    journal.note({"stopped": stopped.to_json()})
    journal.close()
    return StoredRun.open_journal(journal.path)


def _finished(key: EvalRunKey, ledger: Ledger, seconds: float) -> EvalRunKey:
    total = ledger.done
    update: Mapping[str, JsonValue | Any] = {
        "state": RunState.COMPLETE,
        "stopped": None,
        "case_count": total,
        "target_errors": ledger.tally.target_errors,
        "seconds": round(seconds, 3),
        "summary": ledger.tally.summaries(total),
        "metric_summaries": ledger.tally.genkit_summaries(total),
    }
    return key.model_copy(update=dict(update))


class _Meter:
    """Tells the caller how far the run is."""

    def __init__(self, ledger: Ledger, total: int, progress: OnProgress | None) -> None:
        self._ledger, self._total, self._progress = ledger, total, progress
        self._started = monotonic()
        self._resumed = 0

    @property
    def seconds(self) -> float:
        return monotonic() - self._started

    def begin(self, notices: tuple[str, ...]) -> None:
        self._resumed = self._ledger.done
        self.tell(notices)

    def tell_stopped(self) -> None:
        if self._progress is None:
            key, done = self._ledger.journal.key, self._ledger.done
            log.warning("run %s stopped after %d of %d cases; resume it by this id", key.eval_run_id, done, self._total)

    def tell(self, notices: tuple[str, ...] = ()) -> None:
        if self._progress is None:
            for notice in notices:
                log.warning("%s", notice)
            return
        passed, judged = self._ledger.tally.verdicts()
        self._progress(
            Progress(
                run_id=self._ledger.journal.key.eval_run_id,
                done=self._ledger.done,
                total=self._total,
                target_errors=self._ledger.tally.target_errors,
                passed=passed,
                judged=judged,
                seconds=self.seconds,
                resumed=self._resumed,
                notices=notices,
            )
        )
