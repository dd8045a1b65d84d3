"""The deadline of a whole sample, from the call of the target to its last score."""

from __future__ import annotations

import threading
from typing import Any

import anyio
import pytest

from genkit_eval import DataPoint, EvalResult, GenkitEval, Limits
from tests.engine.cases import samples

pytestmark = pytest.mark.anyio

TOO_LONG = "timeout: the sample took longer than 0.4 s"
LIMITS = Limits(max_concurrency=4, sample_seconds=0.4)


def define(ge: GenkitEval, kind: str, name: str, *, hangs_at: int | None) -> None:
    """A flow ("f") or an evaluator that returns the input, but hangs at one."""
    never = threading.Event()

    def given(x: Any) -> Any:
        return x.output if isinstance(x, DataPoint) else x

    def sync(x: Any) -> Any:
        if given(x) == hangs_at:
            never.wait()
        return given(x)

    async def asynchronous(x: Any) -> Any:
        if given(x) == hangs_at:
            await anyio.sleep_forever()
        return given(x)

    fn = sync if kind == "sync" else asynchronous
    if name == "f":
        ge.define_flow("f", fn)
    else:
        ge.define_evaluator(name, fn)


def errors(result: EvalResult) -> dict[str, str | None]:
    return {metric.name: metric.error for metric in result.metrics}


@pytest.mark.case("run/flow-hangs")
@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_a_target_that_takes_the_samples_time_fails_it(ge: GenkitEval, kind: str) -> None:
    define(ge, kind, "f", hangs_at=2)
    define(ge, "sync", "t/one", hangs_at=None)

    run = await ge.evaluate(samples(5), target="f", evaluators=["t/one"], limits=LIMITS)

    assert run.complete
    assert [result.error for result in run.results] == [None, None, TOO_LONG, None, None]
    assert [len(result.metrics) for result in run.results] == [1, 1, 0, 1, 1]


@pytest.mark.parametrize("hanging", ["sync", "async"])
@pytest.mark.parametrize("other", ["sync", "async"])
@pytest.mark.parametrize("target", ["sync", "async"])
async def test_what_is_open_at_the_samples_deadline_is_failed(
    ge: GenkitEval, target: str, hanging: str, other: str
) -> None:
    """What had its score by then keeps it; asynchronous evaluators come after synchronous ones, side by side."""
    define(ge, target, "f", hangs_at=None)
    define(ge, hanging, "t/hanging", hangs_at=2)
    define(ge, other, "t/other", hangs_at=None)

    run = await ge.evaluate(samples(5), target="f", evaluators=["t/hanging", "t/other"], limits=LIMITS)

    assert run.complete
    late = errors(run.results[2])
    assert late["t/hanging"] == TOO_LONG
    assert late["t/other"] == (TOO_LONG if hanging == "sync" else None)
    for result in [*run.results[:2], *run.results[3:]]:
        assert errors(result) == {"t/hanging": None, "t/other": None}


async def test_the_shorter_deadline_is_the_one_that_is_named(ge: GenkitEval) -> None:
    define(ge, "async", "f", hangs_at=1)
    define(ge, "async", "t/one", hangs_at=2)
    limits = Limits(target_seconds=0.1, evaluator_seconds=0.1, sample_seconds=60)

    run = await ge.evaluate(samples(3), target="f", evaluators=["t/one"], limits=limits)

    assert run.results[1].error == "timeout: the target took longer than 0.1 s"
    assert errors(run.results[2]) == {"t/one": "timeout: the evaluator took longer than 0.1 s"}


async def test_waiting_for_a_place_is_not_of_the_samples_time(ge: GenkitEval) -> None:
    """Twenty samples of 0.05 s, one at a time: the last one begins after more than its own deadline."""

    @ge.flow("f")
    async def flow(x: int) -> int:
        await anyio.sleep(0.05)
        return x

    run = await ge.evaluate(samples(20), target="f", evaluators=[], limits=Limits(1, sample_seconds=0.5))

    assert [result.error for result in run.results] == [None] * 20
