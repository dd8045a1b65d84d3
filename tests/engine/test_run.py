"""How a run goes: in what order, how much at once, and what cancels it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import anyio
import pytest
from pydantic import BaseModel

from genkit_eval import DataPoint, GenkitEval, Limits, Sample, Score, Status, record_context
from tests.engine.cases import define_same, same, samples

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_every_output_is_scored_in_the_order_of_the_samples(ge: GenkitEval, kind: str) -> None:
    if kind == "sync":
        ge.define_flow("f", lambda x: x)
    else:

        @ge.flow("f")
        async def flow(x: int) -> int:
            await anyio.sleep(0)
            return x

    run = await ge.evaluate(samples(100), target="f", evaluators=[define_same(ge)])

    assert [result.test_case_id for result in run.results] == [f"s{i}" for i in range(100)]
    assert all(result.output == result.input for result in run.results)
    assert run.complete
    (summary,) = run.summary()
    assert (summary.total, summary.passed, summary.pass_rate) == (100, 100, 1.0)


@pytest.mark.case("run/sync-flow-does-not-block")
async def test_synchronous_flows_run_side_by_side(ge: GenkitEval) -> None:
    together = threading.Barrier(10)

    def flow(x: int) -> int:
        # gets through only when ten of them are here at once
        together.wait(timeout=10)
        return x

    ge.define_flow("f", flow)

    run = await ge.evaluate(samples(10), target="f", evaluators=[define_same(ge)], limits=Limits(max_concurrency=10))

    assert run.key.target_errors == 0


async def test_no_more_samples_are_in_flight_than_allowed(ge: GenkitEval) -> None:
    inside, most = 0, 0

    @ge.flow("f")
    async def flow(x: int) -> int:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        await anyio.sleep(0.001)
        inside -= 1
        return x

    await ge.evaluate(samples(50), target="f", evaluators=[define_same(ge)], limits=Limits(max_concurrency=7))

    assert most == 7


@pytest.mark.case("run/zero-evaluators")
async def test_without_evaluators_outputs_are_collected_and_nothing_passes(ge: GenkitEval) -> None:
    ge.define_flow("f", lambda x: x)

    run = await ge.evaluate(samples(2), target="f", evaluators=[])

    assert [result.output for result in run.results] == [0, 1]
    assert list(run.summary()) == []


@pytest.mark.case("run/all-rows-errored")
async def test_a_run_in_which_all_failed_has_no_pass_rate(ge: GenkitEval) -> None:
    def flow(x: int) -> int:
        raise OSError("down")

    ge.define_flow("f", flow)

    run = await ge.evaluate(samples(3), target="f", evaluators=[define_same(ge)])

    (summary,) = run.summary()
    assert (summary.pass_rate, summary.failed, summary.total) == (None, 3, 3)
    assert run.key.target_errors == 3


@pytest.mark.case("run/config-leaks-between-runs")
async def test_options_of_one_run_do_not_leak_into_the_next(ge: GenkitEval) -> None:
    class Options(BaseModel):
        threshold: float = 0.5

    def judge(point: DataPoint, options: Options) -> float:
        used = options.threshold
        options.threshold = 99
        return used

    ge.define_evaluator("t/threshold", judge, options=Options)
    given = [{"input": 1, "output": 1}]

    first = await ge.evaluate(given, target=None, evaluators=[ge.ref("t/threshold", threshold=0.9)])
    second = await ge.evaluate(given, target=None, evaluators=["t/threshold"])

    assert [run.results[0].metrics[0].score for run in (first, second)] == [0.9, 0.5]
    assert [run.key.evaluators[0].options for run in (first, second)] == [{"threshold": 0.9}, {"threshold": 0.5}]
    assert first.results[0].metrics[0].version != second.results[0].metrics[0].version


@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_a_batch_evaluator_sees_all_data_points(ge: GenkitEval, kind: str) -> None:
    def ranks(points: Sequence[DataPoint]) -> list[float]:
        ordered = sorted(point.output for point in points)
        return [ordered.index(point.output) for point in points]

    async def async_ranks(points: Sequence[DataPoint]) -> list[float]:
        return ranks(points)

    ge.define_evaluator("t/rank", ranks if kind == "sync" else async_ranks, batch=True)
    ge.define_flow("f", lambda x: 100 - x)

    run = await ge.evaluate(samples(20), target="f", evaluators=["t/rank", define_same(ge)])

    scores = {r.test_case_id: m.score for r in run.results for m in r.metrics if m.evaluator.endswith("rank")}
    assert scores == {f"s{i}": 19 - i for i in range(20)}
    assert [summary.verdict for summary in run.summary()] == [20, 20]


async def test_a_batch_of_the_wrong_length_is_failed_for_every_case(ge: GenkitEval) -> None:
    ge.define_evaluator("t/short", lambda points: [True], batch=True)
    ge.define_flow("f", lambda x: x)

    run = await ge.evaluate(samples(3), target="f", evaluators=["t/short"])

    assert {result.metrics[0].error for result in run.results} == {
        "the evaluator returned 1 values for 3 data points: expected one for each"
    }


async def test_a_flow_may_evaluate_by_itself(ge: GenkitEval) -> None:
    inner = GenkitEval(root=ge.root.parent / "inner")
    inner.define_flow("double", lambda x: 2 * x)
    inner.define_evaluator("t/same", same)

    @ge.flow("outer")
    async def outer(x: int) -> int:
        record_context(f"outer {x}")
        run = await inner.evaluate([{"input": x, "reference": 2 * x}], target="double", evaluators=["t/same"])
        return run.summary()[0].passed

    run = await ge.evaluate(samples(3), target="outer", evaluators=[])

    assert [result.output for result in run.results] == [1, 1, 1]
    assert run.results[2].context == ["outer 2"]


async def test_two_runs_at_once_do_not_mix(ge: GenkitEval) -> None:
    @ge.flow("f")
    async def flow(x: int) -> int:
        await anyio.sleep(0.001)
        return x

    evaluator = define_same(ge)
    runs: dict[int, Any] = {}

    async def one(offset: int) -> None:
        given = [{"testCaseId": f"s{i}", "input": offset + i, "reference": offset + i} for i in range(30)]
        runs[offset] = await ge.evaluate(given, target="f", evaluators=[evaluator])

    async with anyio.create_task_group() as group:
        group.start_soon(one, 0)
        group.start_soon(one, 1000)

    assert runs[0].id != runs[1000].id
    for offset, run in runs.items():
        assert [result.output for result in run.results] == [offset + i for i in range(30)]
        assert run.summary()[0].passed == 30


async def test_cancelling_the_run_keeps_what_is_done_and_it_can_be_resumed(ge: GenkitEval) -> None:
    stuck = anyio.Event()
    calls: list[int] = []

    @ge.flow("f")
    async def flow(x: int) -> int:
        calls.append(x)
        if x == 10 and not stuck.is_set():
            stuck.set()
            await anyio.Event().wait()
        return x

    evaluator = define_same(ge)
    async with anyio.create_task_group() as group:
        group.start_soon(
            lambda: ge.evaluate(samples(20), target="f", evaluators=[evaluator], limits=Limits(max_concurrency=1))
        )
        await stuck.wait()
        group.cancel_scope.cancel()
    (key,) = ge.runs.list()
    interrupted = ge.runs.load(key)

    run = await ge.evaluate(samples(20), resume=key.eval_run_id)

    assert not interrupted.complete
    assert len(interrupted.results) == 10
    assert run.complete
    assert run.summary()[0].passed == 20
    assert [result.output for result in run.results] == list(range(20))
    assert calls == [*range(11), *range(10, 20)]


async def test_scoring_one_data_point_needs_no_store(ge: GenkitEval) -> None:
    class Options(BaseModel):
        most: int = 3

    ge.define_evaluator("t/short", lambda point, options: len(point.output) <= options.most, options=Options)

    @ge.define_evaluator("t/async")
    async def reasoned(point: DataPoint) -> Score:
        return Score.failed(0.2, reason="dull")

    scores = await ge.score(Sample(output="pea soup"), [ge.ref("t/short", most=10), "t/async"])

    assert [(score.evaluator, score.score, score.status) for score in scores] == [
        ("/evaluator/t/short", True, Status.PASS),
        ("/evaluator/t/async", 0.2, Status.FAIL),
    ]
    assert not ge.root.exists()


@pytest.mark.case("run/result-order")
@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_results_stand_in_the_order_of_the_dataset_whoever_ends_first(ge: GenkitEval, kind: str) -> None:
    ended: list[int] = []
    last_ended = threading.Event()

    def flow(x: int) -> int:
        if x == 0:
            last_ended.wait(30)
        ended.append(x)
        if x == 19:
            last_ended.set()
        return x

    async def async_flow(x: int) -> int:
        while x == 0 and not last_ended.is_set():
            await anyio.sleep(0)
        return flow(x)

    ge.define_flow("f", flow if kind == "sync" else async_flow)

    run = await ge.evaluate(samples(20), target="f", evaluators=[])

    assert ended[-1] == 0
    assert [result.input for result in run.results] == list(range(20))


async def test_outputs_that_are_there_take_no_thread_where_only_the_loop_judges(ge: GenkitEval) -> None:
    """To hand each of them over from a thread would cost more than the rest of what a run adds to a judged call."""
    threads: set[str] = set()
    # those of tests before, whose calls nobody can end
    before = set(threading.enumerate())

    @ge.define_evaluator("t/judge")
    async def judge(point: DataPoint) -> bool:
        threads.update(thread.name for thread in threading.enumerate() if thread not in before)
        return point.output == 1

    samples = [{"input": 1, "output": 1}, {"input": 2, "error": "no answer"}, {"input": 3, "output": 3}]
    run = await ge.evaluate(samples, target=None, evaluators=["t/judge"])

    assert [result.error for result in run.results] == [None, "no answer", None]
    assert [[metric.score for metric in result.metrics] for result in run.results] == [[True], [], [False]]
    assert "genkit-eval-call" not in threads
