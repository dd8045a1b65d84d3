"""A flow or an evaluator that raises, hangs or gives no score costs its own cell, and nothing else."""

from __future__ import annotations

import asyncio
import json
import math
import re
import threading
import time
from typing import Any

import anyio
import pytest

from genkit_eval import DataPoint, GenkitEval, Limits, Outcome, Status
from tests.engine.cases import define_same, samples

pytestmark = pytest.mark.anyio


@pytest.mark.case("run/flow-raises-one")
@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_a_flow_that_raises_costs_its_own_sample_only(ge: GenkitEval, kind: str) -> None:
    seen: list[Any] = []

    def flow(x: int) -> int:
        if x == 3:
            raise ValueError("no threes")
        return x

    async def async_flow(x: int) -> int:
        return flow(x)

    @ge.define_evaluator("t/seen")
    def record(point: DataPoint) -> bool:
        seen.append(point.test_case_id)
        return True

    ge.define_flow("f", flow if kind == "sync" else async_flow)

    run = await ge.evaluate(samples(5), target="f", evaluators=["t/seen"])

    broken = run.results[3]
    assert re.fullmatch(r"ValueError: no threes \(test_failing_calls.py:\d+\)", str(broken.error))
    assert not broken.has("output")
    assert broken.metrics == []
    assert sorted(seen) == ["s0", "s1", "s2", "s4"]
    (summary,) = run.summary()
    assert (summary.total, summary.passed, summary.failed) == (5, 4, 1)
    assert run.key.target_errors == 1


@pytest.mark.case("run/flow-hangs")
@pytest.mark.parametrize("kind", ["sync", "async", "stubborn"])
async def test_a_flow_that_hangs_costs_its_own_sample_only(ge: GenkitEval, kind: str) -> None:
    never = threading.Event()

    def hang(x: int) -> int:
        if x == 2:
            never.wait()
        return x

    async def async_hang(x: int) -> int:
        if x == 2:
            await anyio.Event().wait()
        return x

    async def stubborn(x: int) -> int:
        if x == 2:
            try:
                await anyio.Event().wait()
            except BaseException:  # noqa: BLE001  # what it should not do
                return -1
        return x

    ge.define_flow("f", {"sync": hang, "async": async_hang, "stubborn": stubborn}[kind])

    run = await ge.evaluate(samples(5), target="f", evaluators=[define_same(ge)], limits=Limits(target_seconds=0.3))
    never.set()

    assert run.results[2].error == "timeout: the target took longer than 0.3 s"
    assert [len(result.metrics) for result in run.results] == [1, 1, 0, 1, 1]


@pytest.mark.case("run/evaluator-raises-one")
@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_an_evaluator_that_raises_costs_its_own_cell_only(ge: GenkitEval, kind: str) -> None:
    def boom(point: DataPoint) -> bool:
        if point.input == 1:
            raise RuntimeError("broken ruler")
        return True

    async def async_boom(point: DataPoint) -> bool:
        return boom(point)

    ge.define_evaluator("t/boom", boom if kind == "sync" else async_boom)

    run = await ge.evaluate(
        [{**s, "output": 1} for s in samples(3)], target=None, evaluators=["t/boom", define_same(ge)]
    )

    by_name = {metric.evaluator: metric for metric in run.results[1].metrics}
    broken = by_name["/evaluator/t/boom"]
    assert (broken.status, broken.outcome) == (Status.UNKNOWN, Outcome.FAILED)
    assert re.fullmatch(r"RuntimeError: broken ruler \(test_failing_calls.py:\d+\)", str(broken.error))
    counts = {summary.evaluator: (summary.verdict, summary.failed) for summary in run.summary()}
    assert counts == {"/evaluator/t/boom": (2, 1), "/evaluator/t/same": (3, 0)}


@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_an_evaluator_that_hangs_costs_its_own_cell_only(ge: GenkitEval, kind: str) -> None:
    never = threading.Event()

    def hang(point: DataPoint) -> bool:
        if point.input == 1:
            never.wait()
        return True

    async def async_hang(point: DataPoint) -> bool:
        if point.input == 1:
            await anyio.Event().wait()
        return True

    ge.define_evaluator("t/hang", hang if kind == "sync" else async_hang)
    ge.define_flow("f", lambda x: x)

    run = await ge.evaluate(
        samples(3), target="f", evaluators=["t/hang", define_same(ge)], limits=Limits(evaluator_seconds=0.3)
    )
    never.set()

    metrics = {metric.evaluator: metric for metric in run.results[1].metrics}
    assert metrics["/evaluator/t/hang"].error == "timeout: the evaluator took longer than 0.3 s"
    assert metrics["/evaluator/t/same"].status is Status.PASS
    assert [len(result.metrics) for result in run.results] == [2, 2, 2]


@pytest.mark.case("run/evaluator-returns-none")
async def test_what_is_no_score_is_failed_and_names_the_type(ge: GenkitEval) -> None:
    returned: dict[str, Any] = {"a": None, "b": [], "c": object(), "d": "great", "e": {"foo": 1}}
    ge.define_evaluator("t/odd", lambda point: returned[point.input])

    run = await ge.evaluate([{"input": key, "output": 1} for key in returned], target=None, evaluators=["t/odd"])

    metrics = [result.metrics[0] for result in run.results]
    assert [metric.outcome for metric in metrics] == [Outcome.FAILED] * 3 + [Outcome.VERDICT] * 2
    assert [metric.score for metric in metrics] == [None, None, None, "great", 1]
    assert metrics[4].score_id == "foo"
    for metric, word in zip(metrics, ("NoneType", "an empty list", "object"), strict=False):
        assert word in str(metric.error)


@pytest.mark.case("run/evaluator-returns-nan")
async def test_a_score_that_is_not_finite_is_failed(ge: GenkitEval) -> None:
    ge.define_evaluator("t/number", lambda point: [1.0, math.nan, 0.5][point.input])

    run = await ge.evaluate([{"input": i, "output": 1} for i in range(3)], target=None, evaluators=["t/number"])

    (summary,) = run.summary()
    assert (summary.mean, summary.scored, summary.failed) == (0.75, 2, 1)
    assert "not finite" in str(run.results[1].metrics[0].error)

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    json.loads(run.path.read_text(), parse_constant=refuse)


@pytest.mark.case("run/stop-iteration-in-flow")
async def test_stop_iteration_in_a_flow_is_an_error_like_any_other(ge: GenkitEval) -> None:
    @ge.flow("f")
    async def flow(x: int) -> int:
        return next(iter([]))

    run = await ge.evaluate(samples(3), target="f", evaluators=[define_same(ge)])

    assert all("StopIteration" in str(result.error) for result in run.results)


@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_sys_exit_in_a_flow_is_an_error_like_any_other(ge: GenkitEval, kind: str) -> None:
    def leave(x: int) -> int:
        raise SystemExit(3)

    async def async_leave(x: int) -> int:
        raise SystemExit(3)

    ge.define_flow("f", leave if kind == "sync" else async_leave)

    run = await ge.evaluate(samples(2), target="f", evaluators=[define_same(ge)])

    assert all(str(result.error).startswith("SystemExit: 3 (test_failing_calls.py:") for result in run.results)


async def test_a_call_that_cancels_itself_is_an_error_like_any_other(ge: GenkitEval, anyio_backend_name: str) -> None:
    if anyio_backend_name == "trio":
        pytest.skip("trio has no way to raise its cancellation by hand")

    @ge.flow("f")
    async def flow(x: int) -> int:
        if x == 1:
            raise asyncio.CancelledError
        return x

    run = await ge.evaluate(samples(3), target="f", evaluators=[define_same(ge)])

    assert [result.error for result in run.results] == [None, "cancelled: the call cancelled itself", None]


async def test_a_flow_may_use_cancel_scopes_of_its_own(ge: GenkitEval) -> None:
    @ge.flow("f")
    async def flow(x: int) -> str:
        with anyio.move_on_after(0.01 if x % 2 else None) as scope:
            await anyio.sleep(10 if x % 2 else 0)
        return "late" if scope.cancelled_caught else "in time"

    run = await ge.evaluate(samples(10), target="f", evaluators=[], limits=Limits(target_seconds=5))

    assert [result.output for result in run.results] == ["in time", "late"] * 5


def test_a_hung_synchronous_flow_does_not_keep_the_process_from_ending(ge: GenkitEval) -> None:
    ge.define_flow("f", lambda x: time.sleep(1000))

    async def main() -> None:
        await ge.evaluate(samples(2), target="f", evaluators=[define_same(ge)], limits=Limits(target_seconds=0.1))

    # asyncio waits for the threads of its own pool at the end: this one must not be among them
    asyncio.run(main())


async def test_an_error_names_the_line_of_the_users_code(ge: GenkitEval) -> None:
    ge.define_flow("f", lambda x: json.loads("{"))

    run = await ge.evaluate(samples(1), target="f", evaluators=[])

    assert re.search(r"JSONDecodeError: .* \(test_failing_calls.py:\d+\)$", str(run.results[0].error))
