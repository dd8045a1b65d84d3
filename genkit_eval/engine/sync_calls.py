"""Synchronous flows and evaluators, on threads of our own.

Why not the loop's thread pool: a hop per call costs more than a cheap evaluator, and a pool waits at exit for
calls that never return. Here a thread takes a case through everything synchronous in one go; a watch adds
threads when all of them wait, and takes the case away from a call that is over its deadline. The thread of such
a call is left behind (a thread cannot be killed); it is a daemon, so it does not keep the process from ending.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from time import perf_counter

from genkit_eval.engine.asking import model_calls
from genkit_eval.engine.asking.budget import SpentError
from genkit_eval.engine.asking.clock import Clock
from genkit_eval.engine.asking.limits import Limits
from genkit_eval.engine.asking.model_calls import CellCalls, RunCalls
from genkit_eval.engine.asking.seat_calls import SeatCalls
from genkit_eval.engine.calls import called, overdue
from genkit_eval.engine.case import Case
from genkit_eval.engine.cells import changed_point
from genkit_eval.engine.feed import Feed
from genkit_eval.engine.ledger import Ledger
from genkit_eval.engine.plan import Plan
from genkit_eval.engine.repeats import pass_number
from genkit_eval.engine.targets.recording import recorder
from genkit_eval.errors import GenkitEvalError
from genkit_eval.model_calls import caller
from genkit_eval.off_loop import caller_context

__all__ = ["SyncCalls"]

TICK_SECONDS = 0.005
MOST_LEFT_BEHIND = 500
TARGET = -1


class _Seat:
    """One thread's place: which call it is in. Whoever pops what that call has in `hold` owns the case."""

    __slots__ = ("asked", "calls", "cell", "clock", "due", "hold", "seen")

    def __init__(self, begin_asking: Callable[[_Seat], CellCalls]) -> None:
        self.hold: list[Case] = []
        self.cell = TARGET
        self.due = math.inf
        self.clock: Clock | None = None
        """In place of `due`, once a call has asked a model: it stands still while that waits for its turn."""
        self.asked = SeatCalls(partial(begin_asking, self))
        self.calls = 0
        self.seen = -1

    def enter(self, case: Case, cell: int, seconds: float | None) -> None:
        self.cell, self.clock = cell, None
        self.due = math.inf if seconds is None else perf_counter() + seconds
        self.calls += 1
        # another one for each call, and last: who finds a call late takes no later one
        self.hold = [case]

    @staticmethod
    def leave(hold: list[Case]) -> Case | None:
        """The case, for one caller only: the thread when its call returns, or the watch when it is overdue."""
        try:
            # a single operation, so that exactly one of two threads gets it
            return hold.pop()
        except IndexError:
            return None

    @property
    def is_late(self) -> bool:
        """Whether the call has passed its deadline."""
        return perf_counter() > (self.due if self.clock is None else self.clock.due)

    @property
    def is_cut(self) -> bool:
        """Whether the run ends before a model that the call asks may be asked."""
        return self.clock is not None and self.clock.is_cut

    @property
    def case_overdue(self) -> bool:
        """Whether the case whose call this is has passed its own deadline."""
        try:
            return self.hold[0].overdue
        except IndexError:
            # the call has just returned
            return False


class SyncCalls:
    """Runs what is synchronous in a plan; cases come from the feed (when the target is) or by `put`."""

    def __init__(
        self,
        plan: Plan,
        feed: Feed,
        ledger: Ledger,
        limits: Limits,
        calls: RunCalls,
        hand_on: Callable[[Case], None],
    ) -> None:
        self._plan, self._feed, self._ledger, self._limits = plan, feed, ledger, limits
        self._calls, self._hand_on = calls, hand_on
        # those that ask several times have the time of as many calls
        limit = limits.evaluator_seconds
        self._cell_seconds = [None if limit is None else limit * cell.repeats for cell in plan.sync_cells]
        self._takes = not plan.loop_takes
        self._queue: deque[Case] = deque()
        self._news = threading.Condition()
        self._idle = 0
        self._told = False
        self._closing = False
        self._seats: list[_Seat] = []
        self._left_behind = 0
        self._context = caller_context()
        feed.on_room.append(self._tell)

    def start(self) -> None:
        """Start the first thread and the watch."""
        self._spawn()
        self._start(self._watch, "genkit-eval-watch")

    def put(self, case: Case) -> None:
        """A case whose output is there, for the synchronous evaluators."""
        self._queue.append(case)
        self._tell()

    def stop(self) -> None:
        """Let the threads end after the call they are in."""
        self._closing = True
        with self._news:
            self._news.notify_all()

    def _tell(self) -> None:
        if self._idle and not self._told:
            with self._news:
                self._told = True
                self._news.notify_all()

    def _spawn(self) -> None:
        seat = _Seat(self._begin_asking)
        self._seats.append(seat)
        self._start(partial(self._work, seat), "genkit-eval-call")

    def _start(self, work: Callable[[], None], name: str) -> None:
        def guarded() -> None:
            try:
                work()
            except BaseException as problem:
                # ours, not the user's: it ends the run, where that is awaited
                self._feed.fail(problem)

        # each thread sees the context variables of whoever started the run
        context = self._context.copy()
        threading.Thread(target=context.run, args=(guarded,), name=name, daemon=True).start()

    def _begin_asking(self, seat: _Seat) -> CellCalls:
        """The call that a seat is in asks a model for the first time."""
        try:
            case = seat.hold[0]
        except IndexError:
            # it was taken away: nobody waits for what it asks
            raise SpentError from None
        seat.clock = Clock(cancel=_end_call)
        seat.clock.due = seat.due
        if seat.cell == TARGET:
            calls = CellCalls(self._calls, model_calls.TARGET, -1, case.repeat or 0)
        else:
            key, repeat = self._plan.sync_cells[seat.cell].key, pass_number(case.repeat)
            calls = CellCalls(self._calls, key, case.slot, repeat)
        calls.timed_by(seat.clock)
        return calls

    def _work(self, seat: _Seat) -> None:
        caller.set(seat.asked)
        while (case := self._next()) is not None:
            if not self._advance(case, seat):
                self._left_behind -= 1
                return

    def _next(self) -> Case | None:
        case = self._pick()
        if case is not None:
            return case
        self._ledger.flush()
        with self._news:
            while True:
                # first idle, then look: who adds work after the look sees that somebody waits
                self._idle += 1
                # who told may have come when nobody waited any more: what is told now is news again
                self._told = False
                try:
                    case = self._pick()
                    if case is not None or self._closing:
                        return case
                    self._news.wait()
                finally:
                    self._idle -= 1

    def _pick(self) -> Case | None:
        try:
            return self._queue.popleft()
        except IndexError:
            return self._feed.take() if self._takes else None

    def _advance(self, case: Case, seat: _Seat) -> bool:
        """Everything synchronous about a case; False when the watch took it away meanwhile."""
        if not case.settled and not self._target(case, seat):
            return False
        if case.error is None and not case.is_cut and not self._judge(case, seat):
            return False
        if case.is_cut:
            self._ledger.leave(case)
        else:
            self._pass_on(case)
        return True

    def _judge(self, case: Case, seat: _Seat) -> bool:
        """All synchronous evaluators of a case; False when the watch took it away meanwhile.

        Whether they left the data point alone is looked at once, after the last. When they did not, they judge
        again, one by one, so that only those are FAILED who change it; billed ones are looked at one by one at once.
        """
        first, judged = case.next_cell, len(case.metrics)
        if self._plan.billed:
            # what the target did to the values must not be laid at an evaluator's door
            case.restore_if_changed()
        if not self._judge_all(case, seat, one_by_one=self._plan.billed):
            return False
        if case.changed and not case.is_cut:
            case.restore()
            del case.metrics[judged:]
            case.next_cell = first
            return self._judge_all(case, seat, one_by_one=True)
        return True

    def _judge_all(self, case: Case, seat: _Seat, *, one_by_one: bool) -> bool:
        cells, seconds = self._plan.sync_cells, self._cell_seconds
        for number in range(case.next_cell, len(cells)):
            seat.enter(case, number, seconds[number])
            metrics = cells[number].run(case.point)
            if seat.leave(seat.hold) is None:
                return False
            asked = seat.asked.ended()
            if asked is not None and seat.is_cut:
                case.is_cut = True
                asked.unbilled()
                return True
            if one_by_one and case.changed:
                case.restore()
                metrics = cells[number].settled(changed_point(metrics[0].seconds))
            case.metrics += metrics if asked is None else asked.billed(metrics)
        return True

    def _target(self, case: Case, seat: _Seat) -> bool:
        recorder.set(case.records)
        seat.enter(case, TARGET, self._limits.target_seconds)
        value, error, took = called(self._plan.call_target, case)
        if seat.leave(seat.hold) is None:
            return False
        asked = seat.asked.ended()
        if asked is not None and seat.is_cut:
            case.is_cut = True
            asked.unbilled()
        elif error is not None:
            case.broke(error, took, paid=None if asked is None else asked.paid())
        elif self._plan.flow is not None:
            case.answered(value, took, paid=None if asked is None else asked.paid())
        return True

    def _pass_on(self, case: Case) -> None:
        if case.error is None and self._plan.async_cells:
            self._hand_on(case)
            return
        if case.error is not None or not self._plan.sync_cells:
            case.restore_if_changed()
        self._ledger.close(case)
        self._ledger.flush_when_due()

    def _watch(self) -> None:
        pause = threading.Event()
        while not self._closing:
            pause.wait(TICK_SECONDS)
            waiting = 0
            for seat in list(self._seats):
                hold = seat.hold
                if not hold:
                    continue
                if seat.is_late or (self._limits.sample_seconds is not None and seat.case_overdue):
                    self._take_away(seat, hold)
                elif seat.seen == seat.calls:
                    waiting += 1
                seat.seen = seat.calls
            if waiting == len(self._seats):
                self._grow()

    def _grow(self) -> None:
        """All threads are in the same call as a tick ago: they wait for something, so twice as many can."""
        if not self._queue and (self._feed.exhausted or not self._takes):
            return
        for _ in range(min(max(1, len(self._seats)), self._limits.max_concurrency - len(self._seats))):
            self._spawn()

    def _take_away(self, seat: _Seat, hold: list[Case]) -> None:
        case = seat.leave(hold)
        if case is None:
            return
        self._seats.remove(seat)
        self._left_behind += 1
        asked = seat.asked.ended()
        if seat.cell == TARGET:
            case.timed_out(self._limits, paid=None if asked is None else asked.paid())
            self._pass_on(case)
            self._ledger.flush()
        else:
            self._fail_cells(case, seat.cell, asked)
            case.restore()
            self.put(case)
        if self._left_behind >= MOST_LEFT_BEHIND:
            raise GenkitEvalError(
                f"{MOST_LEFT_BEHIND} calls are over their deadline and still running: the run was stopped; "
                "give the target a time limit of its own, then resume the run"
            )
        self._spawn()

    def _fail_cells(self, case: Case, number: int, asked: CellCalls | None) -> None:
        """The evaluator that is over its deadline, with what it asked; where that is the sample's, the others too."""
        limits, cells = self._limits, self._plan.sync_cells
        if case.overdue:
            ended, result = len(cells), overdue("sample", limits.sample_seconds)
        else:
            ended, result = number + 1, overdue("evaluator", self._cell_seconds[number])
        late = cells[number].settled(result)
        case.metrics += late if asked is None else asked.billed(late)
        for cell in cells[number + 1 : ended]:
            case.metrics += cell.settled(result)
        case.next_cell = ended


def _end_call() -> None:
    """Out of the call that asks: the case is left open, whatever the call makes of it."""
    raise SpentError
