"""Asynchronous flows and evaluators, as tasks of the caller's event loop (asyncio or trio)."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from time import perf_counter

import anyio
import anyio.lowlevel
from anyio.abc import TaskGroup

from genkit_eval.engine.asking.clock import Clock
from genkit_eval.engine.asking.limits import Limits
from genkit_eval.engine.asking.model_calls import TARGET, CellCalls, RunCalls
from genkit_eval.engine.calls import CUT, Called, called, called_async, called_within, overdue
from genkit_eval.engine.case import Case
from genkit_eval.engine.cells import Cell, changed_point
from genkit_eval.engine.feed import Feed
from genkit_eval.engine.ledger import Ledger
from genkit_eval.engine.plan import Plan
from genkit_eval.engine.repeats import pass_number
from genkit_eval.engine.targets.recording import recorder
from genkit_eval.off_loop import loop_caller
from genkit_eval.types import DataPoint, Score

__all__ = ["LoopCalls"]

TICK_SECONDS = 0.05
BREATHE_EVERY = 64


class _Guard:
    """A worker's deadline: one cancel scope for many calls, renewed only after it was used.

    A scope per call would cost more than a cheap call itself.
    """

    __slots__ = ("calls", "case", "clock", "scope")

    def __init__(self, scope: anyio.CancelScope) -> None:
        self.scope = scope
        self.case: Case | None = None
        self.clock = Clock()
        self.calls: CellCalls

    def begin(self, case: Case, seconds: float | None, calls: CellCalls) -> None:
        self.case, self.clock, self.calls = case, Clock(seconds, None, self._cut), calls
        calls.timed_by(self.clock)

    def end(self) -> None:
        self.case, self.clock.due = None, math.inf

    @property
    def due(self) -> float:
        """The call's deadline, or that of the whole sample."""
        return self.clock.due if self.case is None else min(self.clock.due, self.case.due)

    def _cut(self) -> None:
        # not by what an earlier call has left behind, and is told now that it will have no reply
        if self.case is not None and self.clock.is_cut:
            self.scope.cancel()

    def end_early(self) -> None:
        self.clock.due = math.inf
        self.scope.cancel()


class LoopCalls:
    """Runs what is asynchronous in a plan, and waits for the end of the run."""

    def __init__(self, plan: Plan, feed: Feed, ledger: Ledger, limits: Limits, calls: RunCalls) -> None:
        self._plan, self._feed, self._ledger, self._limits, self._calls = plan, feed, ledger, limits, calls
        self.put_sync: Callable[[Case], None]
        self.on_tick: Sequence[Callable[[], None]] = ()
        self._cancelled = anyio.get_cancelled_exc_class()
        self._guards: set[_Guard] = set()
        self._waiting: deque[anyio.Event] = deque()
        self._inbox: deque[Case] = deque()
        self._news = anyio.Event()
        self._waking = False
        self._call_soon = loop_caller()
        feed.on_room.append(self._tell)

    async def run(self) -> None:
        """Until every case has ended, or the feed has a problem."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._tick)
            if self._plan.loop_takes:
                for _ in range(self._limits.max_concurrency):
                    group.start_soon(self._worker)
            while not self._feed.finished and self._feed.problem is None:
                await self._news.wait()
                self._news = anyio.Event()
                self._start_judging(group)
            group.cancel_scope.cancel()

    def judge_later(self, case: Case) -> None:
        """A case for the asynchronous evaluators; from any thread."""
        self._inbox.append(case)
        self._wake()

    def _start_judging(self, group: TaskGroup) -> None:
        while self._inbox:
            group.start_soon(self._judge, self._inbox.popleft())

    def _tell(self) -> None:
        if self._waiting or self._feed.finished or self._feed.problem is not None:
            self._wake()

    def _wake(self) -> None:
        if not self._waking:
            self._waking = True
            try:
                self._call_soon(self._woken)
            except RuntimeError:
                # the loop is gone: a call outlived a run that was stopped, and nobody waits for it any more
                return

    def _woken(self) -> None:
        self._waking = False
        if self._inbox or self._feed.finished or self._feed.problem is not None:
            self._news.set()
        if self._feed.exhausted:
            while self._waiting:
                self._waiting.popleft().set()
        else:
            self._wake_one()

    def _wake_one(self) -> None:
        if self._waiting:
            self._waiting.popleft().set()

    async def _tick(self) -> None:
        limits = self._limits
        seconds = [limits.target_seconds, limits.sample_seconds] if self._plan.loop_takes else []
        interval = min([TICK_SECONDS, *(shortest / 20 for shortest in seconds if shortest is not None)])
        while True:
            await anyio.sleep(interval)
            now = perf_counter()
            for guard in self._guards:
                if now > guard.due:
                    guard.end_early()
            for tell in self.on_tick:
                tell()

    async def _worker(self) -> None:
        """Take cases through the target, one at a time, until there are no more."""
        more = True
        while more:
            more = False
            with anyio.CancelScope() as scope:
                guard = _Guard(scope)
                self._guards.add(guard)
                try:
                    more = await self._serve(guard)
                finally:
                    self._guards.discard(guard)
            if scope.cancelled_caught and guard.case is not None:
                self._taken_away(guard.case, guard)
                more = True

    async def _serve(self, guard: _Guard) -> bool:
        """Until no case is left (False), or a call used up the guard's scope (True)."""
        calls = 0
        while True:
            case = self._feed.take()
            if case is None and (case := await self._next()) is None:
                return False
            if case.settled:
                await self._judge(case)
            elif self._plan.flow is None:
                await self._given(case)
            else:
                await self._target(case, guard)
            if guard.scope.cancel_called:
                return True
            calls += 1
            if calls % BREATHE_EVERY == 0:
                await anyio.lowlevel.checkpoint()

    async def _next(self) -> Case | None:
        """Wait for a case; None when no more will come."""
        while True:
            self._ledger.flush()
            if self._feed.exhausted:
                return None
            event = anyio.Event()
            # first wait, then look: who makes room after the look sees that somebody waits
            self._waiting.append(event)
            case = self._feed.take()
            if case is None and not self._feed.exhausted:
                await event.wait()
                case = self._feed.take()
                if case is not None:
                    # this one may wait in its call now: let another look for room as well
                    self._wake_one()
            elif event in self._waiting:
                self._waiting.remove(event)
            if case is not None:
                return case

    async def _given(self, case: Case) -> None:
        _, error, took = called(self._plan.call_target, case)
        if error is not None:
            case.broke(error, took)
        if case.error is None and self._plan.async_cells:
            await self._judge(case)
        else:
            self._pass_on(case)

    async def _target(self, case: Case, guard: _Guard) -> None:
        recorder.set(case.records)
        calls = self._calls.begin(TARGET, repeat=case.repeat or 0)
        guard.begin(case, self._limits.target_seconds, calls)
        value, error, took = await called_async(self._plan.call_target, case, self._cancelled)
        guard.end()
        if guard.scope.cancel_called:
            self._taken_away(case, guard)
            return
        if error is None:
            case.answered(value, took, paid=calls.paid())
        else:
            case.broke(error, took, paid=calls.paid())
        if case.error is None and not self._plan.sync_cells and self._plan.async_cells:
            await self._judge(case)
        else:
            self._pass_on(case)

    def _taken_away(self, case: Case, guard: _Guard) -> None:
        if guard.clock.is_cut:
            guard.calls.unbilled()
            self._ledger.leave(case)
            return
        case.timed_out(self._limits, paid=guard.calls.paid())
        self._pass_on(case)

    def _pass_on(self, case: Case) -> None:
        if case.error is None and self._plan.sync_cells:
            self.put_sync(case)
            return
        case.restore_if_changed()
        self._ledger.close(case)
        self._ledger.flush_when_due()

    async def _judge(self, case: Case) -> None:
        """All asynchronous evaluators of one case, side by side; the output is written first."""
        case.restore_if_changed()
        self._ledger.open(case)
        cells = [cell for cell in self._plan.async_cells if case.lacks(cell)]
        if len(cells) == 1:
            await self._judge_cell(case, cells[0])
        elif cells:
            async with anyio.create_task_group() as group:
                for cell in cells:
                    group.start_soon(self._judge_cell, case, cell)
        if case.is_cut:
            self._ledger.leave(case)
            return
        self._ledger.close(case)
        self._ledger.flush()

    async def _judge_cell(self, case: Case, cell: Cell) -> None:
        point = case.private_point()
        why = cell.missing(point)
        if why is not None:
            self._ledger.add(case, [cell.metric(Score.inconclusive(reason=why), 0.0)])
            return
        calls = self._calls.begin(cell.key, slot=case.slot, repeat=pass_number(case.repeat))
        if cell.repeats == 1:
            results = [await self._call_cell(case, cell, point, calls)]
        else:
            results = await self._call_repeatedly(case, cell, calls)
        if any(result is CUT for result in results):
            case.is_cut = True
            calls.unbilled()
            return
        metrics = cell.settled(results[0]) if cell.repeats == 1 else cell.agreed(results)
        self._ledger.add(case, calls.billed(metrics))

    async def _call_cell(self, case: Case, cell: Cell, point: DataPoint, calls: CellCalls) -> Called:
        result = await self._called(case, cell, point, calls)
        return changed_point(result[2]) if result is not CUT and case.differs(point) else result

    async def _call_repeatedly(self, case: Case, cell: Cell, calls: CellCalls) -> list[Called]:
        """As often as its judge is to be asked, side by side, each with a data point and a deadline of its own."""
        results: dict[int, Called] = {}

        async def call(number: int) -> None:
            again = calls.again(pass_number(case.repeat, number))
            results[number] = await self._call_cell(case, cell, case.private_point(), again)

        async with anyio.create_task_group() as group:
            for number in range(cell.repeats):
                group.start_soon(call, number)
        return [results[number] for number in range(cell.repeats)]

    async def _called(self, case: Case, cell: Cell, point: DataPoint, calls: CellCalls) -> Called:
        """Under its own deadline, and that of the whole sample where there is one."""
        limits = self._limits
        if limits.sample_seconds is None:
            return await called_within(cell.call, point, limits.evaluator_seconds, calls.timed_by)
        with anyio.move_on_after(case.due - perf_counter()) as scope:
            if not case.overdue:
                result = await called_within(cell.call, point, limits.evaluator_seconds, calls.timed_by)
                if result is CUT or not scope.cancel_called:
                    return result
        return overdue("sample", limits.sample_seconds)
