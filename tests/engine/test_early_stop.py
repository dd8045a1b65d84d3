"""Runs that their own limits end early: what is done is kept, and they can be gone on with."""

from __future__ import annotations

import json

import anyio
import pytest

from genkit_eval import DataPoint, GenkitEval, Limits, RunState
from genkit_eval.stored import StopCause
from tests.engine.cases import samples

pytestmark = pytest.mark.anyio


def define_fragile(ge: GenkitEval, kind: str, calls: list[int]) -> None:
    """A flow that breaks on every odd number."""

    def flow(x: int) -> int:
        calls.append(x)
        if x % 2:
            raise ValueError("odd")
        return x

    async def async_flow(x: int) -> int:
        await anyio.sleep(0)
        return flow(x)

    ge.define_flow("f", flow if kind == "sync" else async_flow)


@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_too_many_failures_end_the_run_and_keep_what_is_done(ge: GenkitEval, kind: str) -> None:
    calls: list[int] = []
    define_fragile(ge, kind, calls)
    limits = Limits(max_concurrency=1, max_failures=3)

    run = await ge.evaluate(samples(100), target="f", evaluators=[], limits=limits)

    assert not run.complete
    assert run.key.state is RunState.INCOMPLETE
    assert run.key.stopped is not None
    assert run.key.stopped.cause is StopCause.FAILURES
    assert run.key.stopped.reason == "3 cases FAILED, which ends the run (max_failures)"
    assert calls == list(range(6))
    assert [result.input for result in run.results] == list(range(6))
    assert ge.runs.load(run.id).key == run.key


async def test_an_evaluator_that_breaks_is_a_failure_too(ge: GenkitEval) -> None:
    @ge.define_evaluator("t/picky")
    def picky(point: DataPoint) -> bool:
        if point.output == 4:
            raise RuntimeError("no fours")
        return True

    ge.define_flow("f", lambda x: x)
    limits = Limits(max_concurrency=1, max_failures=1)

    run = await ge.evaluate(samples(50), target="f", evaluators=["t/picky"], limits=limits)

    assert len(run.results) == 5


@pytest.mark.parametrize("share", [0.1, 0.06])
async def test_failures_may_be_limited_by_their_share_of_all_cases(ge: GenkitEval, share: float) -> None:
    define_fragile(ge, "sync", [])
    limits = Limits(max_concurrency=1, max_failures=share)

    run = await ge.evaluate(samples(50), target="f", evaluators=[], limits=limits)

    assert len(run.results) == 2 * 50 * share


async def test_cases_under_way_end_and_are_kept(ge: GenkitEval) -> None:
    """Of ten at once one breaks when all have begun, and the nine end after it."""
    begun: list[int] = []
    all_begun, broken = anyio.Event(), anyio.Event()

    @ge.flow("f")
    async def flow(x: int) -> int:
        begun.append(x)
        if len(begun) == 10:
            all_begun.set()
        await all_begun.wait()
        if x == 0:
            broken.set()
            raise ValueError("zero")
        await broken.wait()
        await anyio.sleep(0)
        return x

    run = await ge.evaluate(samples(100), target="f", evaluators=[], limits=Limits(max_concurrency=10, max_failures=1))

    assert sorted(result.input for result in run.results) == list(range(10))
    assert sum(result.error is None for result in run.results) == 9


async def test_what_was_stopped_goes_on_with_another_limit(ge: GenkitEval) -> None:
    calls: list[int] = []
    define_fragile(ge, "sync", calls)
    stopped = await ge.evaluate(samples(20), target="f", evaluators=[], limits=Limits(1, max_failures=2))
    assert len(stopped.results) == 4

    again = await ge.evaluate(samples(20), resume=stopped.id)
    then = await ge.evaluate(samples(20), resume=stopped.id, limits=Limits())

    assert again.key.stopped == stopped.key.stopped
    assert len(again.results) == 8
    assert then.complete
    assert then.key.stopped is None
    assert "stopped" not in json.loads(then.path.read_bytes())["key"]
    assert calls == list(range(20))
    assert [result.input for result in then.results] == list(range(20))


async def test_failures_at_the_very_end_leave_a_complete_run(ge: GenkitEval) -> None:
    define_fragile(ge, "sync", [])

    run = await ge.evaluate(samples(4), target="f", evaluators=[], limits=Limits(1, max_failures=2))

    assert run.complete
    assert run.key.stopped is None
