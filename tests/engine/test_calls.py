"""Whatever the user's code raises costs its own cell, and a flow may start a loop of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from genkit_eval import DataPoint, GenkitEval, Limits, Outcome, run_sync


class Speechless(Exception):
    """An exception whose text cannot be made."""

    def __str__(self) -> str:
        raise LookupError("no words")


class Panic(BaseException):
    """What libraries written in Rust panic with, and test frameworks skip and fail with: no Exception."""


RAISED: dict[str, tuple[Callable[[], BaseException], str]] = {
    "speechless": (Speechless, "Speechless"),
    "panic": (lambda: Panic("in the tokenizer"), "Panic: in the tokenizer"),
    "group": (lambda: BaseExceptionGroup("both", [Panic(), ValueError()]), "BaseExceptionGroup: both"),
}


def raising(make: Callable[[], BaseException]) -> Callable[[object], object]:
    def call(given: object) -> object:
        if given == 1 or (isinstance(given, DataPoint) and given.input == 1):
            raise make()
        return True

    return call


def asynchronous(call: Callable[[object], object]) -> Callable[[Any], Any]:
    async def run(given: object) -> object:
        await anyio.sleep(0)
        return call(given)

    return run


KINDS = [(name, kind) for name in RAISED for kind in ("sync", "async")]


@pytest.mark.anyio
@pytest.mark.case("run/flow-raises-one")
@pytest.mark.parametrize(("name", "kind"), KINDS)
async def test_a_flow_may_raise_anything(ge: GenkitEval, name: str, kind: str) -> None:
    make, words = RAISED[name]
    flow = raising(make)
    ge.define_flow("f", flow if kind == "sync" else asynchronous(flow))

    run = await ge.evaluate([{"input": i} for i in range(3)], target="f", evaluators=[])

    first, broken, last = run.results
    assert (first.output, last.output) == (True, True)
    assert str(broken.error).startswith(words)
    assert run.complete


@pytest.mark.anyio
@pytest.mark.case("run/evaluator-raises-one")
@pytest.mark.parametrize(("name", "kind"), [*KINDS, ("speechless", "batch"), ("panic", "batch")])
async def test_an_evaluator_may_raise_anything(ge: GenkitEval, name: str, kind: str) -> None:
    make, words = RAISED[name]
    judge = raising(make)
    if kind == "batch":
        ge.define_evaluator("t/judge", lambda points: [judge(point) for point in points], batch=True)
    else:
        ge.define_evaluator("t/judge", judge if kind == "sync" else asynchronous(judge))

    run = await ge.evaluate([{"input": i, "output": i} for i in range(3)], target=None, evaluators=["t/judge"])

    broken = run.results[1].metrics[0]
    assert broken.outcome is Outcome.FAILED
    assert str(broken.error).startswith(words)
    assert run.summary()[0].verdict == (0 if kind == "batch" else 2)


@pytest.mark.anyio
@pytest.mark.parametrize("what", ["target", "evaluator", "batch", "sample"])
@pytest.mark.parametrize("make", [lambda: SystemExit(3), lambda: Panic("in the middle")], ids=["exit", "panic"])
async def test_what_a_call_raises_when_its_time_is_up_costs_its_own_cell(
    ge: GenkitEval, what: str, make: Callable[[], BaseException]
) -> None:
    async def call(given: object) -> object:
        if what == "batch" or given == 1 or (what != "target" and isinstance(given, DataPoint) and given.input == 1):
            try:
                await anyio.sleep_forever()
            finally:
                raise make()
        return True

    async def echo(x: object) -> object:
        return x

    ge.define_flow("f", call if what == "target" else echo)
    ge.define_evaluator("t/judge", call, batch=what == "batch")
    limits = {"target": Limits(target_seconds=0.05), "sample": Limits(sample_seconds=0.05)}

    run = await ge.evaluate(
        [{"input": i} for i in range(3)],
        target="f",
        evaluators=["t/judge"],
        limits=limits.get(what, Limits(evaluator_seconds=0.05)),
    )

    late = run.results[1]
    error = late.error if what == "target" else late.metrics[0].error
    assert str(error).startswith(f"timeout: the {'evaluator' if what == 'batch' else what} took longer")


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_ctrl_c_in_a_flow_ends_the_run(ge: GenkitEval, kind: str) -> None:
    flow = raising(KeyboardInterrupt)
    ge.define_flow("f", flow if kind == "sync" else asynchronous(flow))

    with pytest.raises((KeyboardInterrupt, BaseExceptionGroup)) as caught:
        run_sync(ge.evaluate([{"input": 1}], target="f", evaluators=[]))

    assert BaseExceptionGroup("", [caught.value]).subgroup(KeyboardInterrupt) is not None


def test_a_synchronous_flow_may_run_an_evaluation_of_its_own(ge: GenkitEval) -> None:
    ge.define_evaluator("t/yes", lambda point: True)
    ge.define_flow("inner", lambda x: x)

    def outer(x: int) -> int:
        run = run_sync(ge.evaluate([{"input": x}], target="inner", evaluators=["t/yes"]))
        return run.summary()[0].passed

    ge.define_flow("outer", outer)

    run = run_sync(ge.evaluate([{"input": 1}], target="outer", evaluators=[]))

    assert [(result.output, result.error) for result in run.results] == [(1, None)]


def test_a_synchronous_evaluator_may_start_a_loop_of_its_own(ge: GenkitEval) -> None:
    async def later() -> bool:
        await asyncio.sleep(0)
        return True

    ge.define_evaluator("t/one", lambda point: anyio.run(later))
    ge.define_evaluator("t/all", lambda points: [anyio.run(later) for _ in points], batch=True)

    run = run_sync(ge.evaluate([{"input": 1, "output": 1}], target=None, evaluators=["t/one", "t/all"]))

    assert [metric.score for metric in run.results[0].metrics] == [True, True]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_flow_that_returns_a_coroutine_is_told_what_to_do(ge: GenkitEval, kind: str) -> None:
    async def later(x: object) -> object:
        return x

    def hidden(x: object) -> object:
        # as a decorator does that knows nothing of asynchronous functions
        return later(x)

    ge.define_flow("f", hidden if kind == "sync" else asynchronous(hidden))

    run = run_sync(ge.evaluate([{"input": 1}], target="f", evaluators=[]))

    assert "it is a coroutine: define the flow with 'async def'" in str(run.results[0].error)


def test_what_a_flow_reports_wrongly_is_said_in_a_line(ge: GenkitEval) -> None:
    ge.define_flow("f", lambda x: {"output": x, "context": "one text", "usage": {"inputTokens": "many"}})

    run = run_sync(ge.evaluate([{"input": 1}], target="f", evaluators=[]))

    error = str(run.results[0].error)
    assert error.startswith("the output cannot be kept: beside it the target reported context: ")
    assert "; usage.inputTokens: " in error
    assert "\n" not in error
