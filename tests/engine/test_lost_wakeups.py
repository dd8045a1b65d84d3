"""Who is told of work wakes up, and what a call has left behind, or was too late for, ends no other."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from types import TracebackType

import anyio
import anyio.lowlevel
import pytest

from genkit_eval import Budget, DataPoint, GenkitEval, Limits, Message, Outcome, Reply, Sample
from genkit_eval.engine import Means, new_key
from genkit_eval.engine.case import Case
from genkit_eval.engine.feed import Feed
from genkit_eval.engine.ledger import Ledger
from genkit_eval.engine.sync_calls import SyncCalls, _Seat
from genkit_eval.stats import Tally
from tests.engine.cases import define_same, samples


class Terse:
    """A model that says one word."""

    name = "house/terse"

    async def generate(self, messages: Sequence[Message], **_: object) -> Reply:
        return Reply(text="yes")


@pytest.mark.anyio
async def test_a_task_left_behind_that_is_refused_a_reply_ends_no_other_call(ge: GenkitEval) -> None:
    ge.define_models("house", {"terse": Terse()})
    judging, asking = anyio.Event(), anyio.Event()

    async def ask_late() -> None:
        await judging.wait()
        asking.set()
        await ge.generate("house/terse", "and now?")

    @ge.define_evaluator("t/patient")
    async def patient(point: DataPoint) -> bool:
        judging.set()
        await asking.wait()
        for _ in range(100):
            await anyio.lowlevel.checkpoint()
        return True

    with anyio.fail_after(20):
        async with anyio.create_task_group() as left_behind:

            @ge.flow("f")
            async def flow(x: int) -> int:
                await ge.generate("house/terse", "and?")
                left_behind.start_soon(ask_late)
                return x

            run = await ge.evaluate(
                samples(3), target="f", evaluators=["t/patient"], limits=Limits(1), budget=Budget(calls=1)
            )
            left_behind.cancel_scope.cancel()

    (result,) = run.results
    assert result.output == 0
    assert [metric.outcome for metric in result.metrics] == [Outcome.VERDICT]


class _Door:
    """A lock that tells when somebody has to wait for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.knocked = threading.Event()

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        if self._lock.acquire(blocking=False):
            return True
        self.knocked.set()
        return blocking and self._lock.acquire(timeout=timeout)

    def release(self) -> None:
        self._lock.release()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


async def _calls_of(ge: GenkitEval, cases: Iterator[Case]) -> SyncCalls:
    ge.define_flow("f", lambda x: x)
    plan, source = await ge.plan(samples(1), target="f", evaluators=[define_same(ge)])
    means = Means(ge.terms(plan))
    journal = ge.runs.store.begin(new_key(plan, source, means.terms))
    ledger = Ledger(journal, Tally(journal.key.evaluators))
    ledger.feed = feed = Feed(cases, 1)
    # as if one had just ended, whose place is given back in the next look
    feed.in_flight = ledger.pending = 1
    return SyncCalls(plan, feed, ledger, means.terms.limits, means.calls, lambda case: None)


@pytest.mark.anyio
async def test_who_is_told_when_nobody_waits_any_more_leaves_the_next_to_be_told(ge: GenkitEval) -> None:
    """One tells of work just while a thread that looked for some finds it: the next who waits is told all the same."""
    first, second, third = (Case(number, Sample(input=number)) for number in range(3))
    door = _Door()
    teller = threading.Thread(target=lambda: calls.put(second), daemon=True)

    def cases() -> Iterator[Case]:
        teller.start()
        assert door.knocked.wait(20)
        yield first

    calls = await _calls_of(ge, cases())
    calls._news = threading.Condition(door)  # type: ignore[arg-type]
    found: list[Case | None] = [calls._next()]
    teller.join(20)
    found.append(calls._next())
    waiter = threading.Thread(target=lambda: found.append(calls._next()), daemon=True)
    waiter.start()
    waits = False
    while not waits:
        with calls._news:
            waits = calls._idle > 0

    calls.put(third)
    waiter.join(20)

    assert found == [first, second, third]


@pytest.mark.anyio
async def test_a_call_that_returns_while_it_is_found_late_is_not_taken_for_the_next_one(ge: GenkitEval) -> None:
    calls = await _calls_of(ge, iter(()))
    first, second = (Case(number, Sample(input=number)) for number in range(2))
    seat = _Seat(calls._begin_asking)
    seat.enter(first, 0, -1.0)
    found_late = seat.hold
    assert seat.is_late

    assert seat.leave(seat.hold) is first
    seat.enter(second, 0, 60.0)
    calls._take_away(seat, found_late)

    assert seat.leave(seat.hold) is second
