"""What a run does with targets and evaluators, well behaved and not."""

from __future__ import annotations

import asyncio
import json
import math
import random
import re
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest
from pydantic import BaseModel

from genkit_eval import (
    ConfigError,
    DataError,
    DataFileError,
    DataPoint,
    DuplicateName,
    GenkitEval,
    InvalidOptions,
    Limits,
    Outcome,
    Sample,
    Score,
    Status,
    UnknownName,
    record_context,
)

pytestmark = pytest.mark.anyio


def samples(count: int) -> list[dict[str, Any]]:
    return [{"testCaseId": f"s{i}", "input": i, "reference": i} for i in range(count)]


def same(point: DataPoint) -> bool:
    return bool(point.output == point.reference)


def define_same(ge: GenkitEval) -> str:
    ge.define_evaluator("t/same", same)
    return "t/same"


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
    assert re.fullmatch(r"ValueError: no threes \(test_run.py:\d+\)", str(broken.error))
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
    assert re.fullmatch(r"RuntimeError: broken ruler \(test_run.py:\d+\)", str(broken.error))
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


@pytest.mark.case("run/falsy-scores-kept")
async def test_zero_and_false_are_scores(ge: GenkitEval) -> None:
    ge.define_evaluator("t/number", lambda point: [0, 0.0, False, 1][point.input])

    run = await ge.evaluate([{"input": i, "output": 1} for i in range(4)], target=None, evaluators=["t/number"])

    assert [result.metrics[0].score for result in run.results] == [0, 0.0, False, 1]
    (summary,) = run.summary()
    assert (summary.verdict, summary.scored, summary.mean) == (4, 3, pytest.approx(1 / 3))


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


@pytest.mark.case("run/unknown-evaluator")
@pytest.mark.case("run/unknown-flow")
async def test_names_and_options_are_checked_before_anything_runs(ge: GenkitEval) -> None:
    calls: list[int] = []
    ge.define_flow("real", calls.append)

    @ge.define_evaluator("t/limit")
    def limit(point: DataPoint, options: _Limit) -> bool:
        return True

    with pytest.raises(UnknownName, match="'t/limt': did you mean 't/limit'"):
        await ge.evaluate(samples(1), target="real", evaluators=["t/limt"])
    with pytest.raises(UnknownName, match="'typo'"):
        await ge.evaluate(samples(1), target="/flow/typo", evaluators=["t/limit"])
    with pytest.raises(InvalidOptions, match="did you mean 'most'"):
        await ge.evaluate(samples(1), target="real", evaluators=[ge.ref("t/limit", mos=1)])
    with pytest.raises(ConfigError, match="given twice"):
        await ge.evaluate(samples(1), target="real", evaluators=["t/limit", "/evaluator/t/limit"])
    with pytest.raises(ConfigError, match="no evaluators"):
        await ge.evaluate(samples(1), target="real")

    assert calls == []
    assert ge.runs.list() == []


class _Limit(BaseModel):
    most: int = 3


@pytest.mark.case("run/duplicate-evaluator-names")
def test_a_second_definition_is_refused_and_both_are_named(ge: GenkitEval) -> None:
    ge.define_evaluator("style", same)

    with pytest.raises(DuplicateName, match=r"same .* and by .*lambda"):
        ge.define_evaluator("style", lambda point: True)


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


@pytest.mark.case("data-file/empty-dataset")
async def test_nothing_to_measure_is_an_error(ge: GenkitEval) -> None:
    with pytest.raises(DataError, match="no samples"):
        await ge.evaluate([], target=None, evaluators=[define_same(ge)])


@pytest.mark.case("data-file/duplicate-test-case-id")
async def test_two_samples_of_one_id_are_refused_before_anything_runs(ge: GenkitEval) -> None:
    twins = [{"testCaseId": "t1", "input": 1}, {"testCaseId": "t1", "input": 2}]

    with pytest.raises(DataFileError, match="'t1' is taken by sample 1"):
        await ge.evaluate(twins, target=None, evaluators=[define_same(ge)])


@pytest.mark.case("run/result-order")
@pytest.mark.case("run/evaluator-mutates-sample")
@pytest.mark.parametrize("order", [["t/vandal", "t/equal"], ["t/equal", "t/vandal"]])
@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_an_evaluator_that_changes_its_data_point_fails_alone(
    ge: GenkitEval, order: list[str], kind: str
) -> None:
    def vandal(point: DataPoint) -> bool:
        point.output.append("x")
        return True

    async def async_vandal(point: DataPoint) -> bool:
        await anyio.sleep(random.random() / 1000)
        return vandal(point)

    ge.define_evaluator("t/vandal", vandal if kind == "sync" else async_vandal)
    ge.define_evaluator("t/equal", same)
    given = [{"testCaseId": f"s{i}", "input": i, "output": ["a", i], "reference": ["a", i]} for i in range(20)]

    run = await ge.evaluate(given, target=None, evaluators=order)

    assert [result.test_case_id for result in run.results] == [f"s{i}" for i in range(20)]
    for i, result in enumerate(run.results):
        metrics = {metric.evaluator: metric for metric in result.metrics}
        assert result.output == ["a", i]
        assert metrics["/evaluator/t/equal"].status is Status.PASS
        assert "changed its data point" in str(metrics["/evaluator/t/vandal"].error)
    assert given[0]["output"] == ["a", 0]


async def test_a_flow_may_do_with_its_input_what_it_likes(ge: GenkitEval) -> None:
    @ge.flow("f")
    def flow(x: list[int]) -> list[int]:
        x.append(3)
        return x

    mine = [{"input": [1, 2], "reference": [1, 2, 3]}]

    run = await ge.evaluate(mine, target="f", evaluators=[define_same(ge)])

    assert mine[0]["input"] == [1, 2]
    assert run.results[0].input == [1, 2]
    assert run.results[0].metrics[0].status is Status.PASS


@dataclass
class _Answer:
    a: int


@pytest.mark.case("run/unserialisable-output")
async def test_outputs_are_turned_into_json_or_refused_one_by_one(ge: GenkitEval) -> None:
    outputs = [
        _Answer(a=1),
        datetime(2026, 1, 2, tzinfo=UTC),
        {2, 1},
        b"\xff",
        (item for item in [1]),
        math.inf,
        (1, 2),
        {1: "one"},
    ]
    ge.define_flow("f", lambda x: outputs[x])

    run = await ge.evaluate(samples(len(outputs)), target="f", evaluators=[define_same(ge)])

    kept = [result.output if result.has("output") else result.error for result in run.results]
    assert kept[:3] == [{"a": 1}, "2026-01-02T00:00:00+00:00", [1, 2]]
    for text, word in zip(kept[3:6], ("bytes", "generator", "inf"), strict=True):
        assert word in text
        assert "JSON" in text
    assert kept[6:] == [[1, 2], {"1": "one"}]


@pytest.mark.case("data-file/big-integers")
async def test_large_integers_keep_every_digit(ge: GenkitEval) -> None:
    numbers = [9007199254740993, 2**70]
    ge.define_flow("f", lambda x: {"order": x})

    run = await ge.evaluate(
        [{"input": n, "reference": {"order": n}} for n in numbers], target="f", evaluators=[define_same(ge)]
    )

    assert [result.output["order"] for result in run.results] == numbers
    assert [result.metrics[0].status for result in run.results] == [Status.PASS, Status.PASS]


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

    assert all(str(result.error).startswith("SystemExit: 3 (test_run.py:") for result in run.results)


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


async def test_the_documents_a_flow_records_are_its_context(ge: GenkitEval) -> None:
    @ge.flow("async")
    async def flow(x: int) -> int:
        record_context(f"page {x}", {"title": x})
        await anyio.sleep(0)
        async with anyio.create_task_group() as group:
            group.start_soon(_record, f"more {x}")
        return x

    @ge.flow("sync")
    def sync_flow(x: int) -> int:
        record_context(f"page {x}")
        return x

    ge.define_evaluator("t/context", lambda point: f"page {point.input}" in point.context, non_empty=["context"])

    run = await ge.evaluate(samples(20), target="async", evaluators=["t/context"])
    again = await ge.evaluate(samples(20), target="sync", evaluators=["t/context"])

    assert run.results[7].context == ["page 7", {"title": 7}, "more 7"]
    assert run.summary()[0].passed == again.summary()[0].passed == 20


async def _record(text: str) -> None:
    record_context(text)


def test_recording_outside_an_evaluation_does_nothing() -> None:
    record_context("unheard")


async def test_a_target_may_report_context_and_usage_in_what_it_returns(ge: GenkitEval) -> None:
    ge.define_flow("f", lambda x: {"output": x, "context": ["doc"], "usage": {"inputTokens": 7}})

    run = await ge.evaluate(samples(1), target="f", evaluators=[define_same(ge)])

    result = run.results[0]
    assert (result.output, result.context) == (0, ["doc"])
    assert result.usage is not None
    assert result.usage.input_tokens == 7


async def test_a_mapping_with_other_keys_is_the_output_itself(ge: GenkitEval) -> None:
    ge.define_flow("f", lambda x: {"output": x, "colour": "red"})

    run = await ge.evaluate(samples(1), target="f", evaluators=[define_same(ge)])

    assert run.results[0].output == {"output": 0, "colour": "red"}


async def test_an_input_that_does_not_fit_the_flow_names_the_sample(ge: GenkitEval) -> None:
    @ge.flow("f")
    async def flow(food: str) -> str:
        return food

    run = await ge.evaluate(
        [{"testCaseId": "ok", "input": "pea"}, {"testCaseId": "no", "input": {"x": 1}}],
        target="f",
        evaluators=[define_same(ge)],
    )

    assert run.results[0].output == "pea"
    assert "sample 'no'" in str(run.results[1].error)
    assert "flow 'f'" in str(run.results[1].error)


@pytest.mark.case("data-file/string-that-looks-like-json")
async def test_text_that_looks_like_json_stays_text(ge: GenkitEval) -> None:
    got: list[Any] = []
    ge.define_flow("f", got.append)
    texts = ['{"a": 1}', "5", "null"]

    await ge.evaluate([{"input": text} for text in texts], target="f", evaluators=[], limits=Limits(max_concurrency=1))

    assert got == texts


async def test_what_an_evaluator_requires_and_does_not_find_is_inconclusive(ge: GenkitEval) -> None:
    ge.define_evaluator("t/needs", same, requires=["output", "reference"])
    given = [
        {"input": 1, "output": 0, "reference": 0},
        {"input": 1, "output": None, "reference": None},
        {"input": 1, "output": 1},
    ]

    run = await ge.evaluate(given, target=None, evaluators=["t/needs"])

    assert [result.metrics[0].outcome for result in run.results] == [
        Outcome.VERDICT,
        Outcome.VERDICT,
        Outcome.INCONCLUSIVE,
    ]
    assert run.results[2].metrics[0].rationale == "no reference was given"


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


def test_a_hung_synchronous_flow_does_not_keep_the_process_from_ending(ge: GenkitEval) -> None:
    ge.define_flow("f", lambda x: time.sleep(1000))

    async def main() -> None:
        await ge.evaluate(samples(2), target="f", evaluators=[define_same(ge)], limits=Limits(target_seconds=0.1))

    # asyncio waits for the threads of its own pool at the end: this one must not be among them
    asyncio.run(main())


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


async def test_a_file_given_as_text_is_told_from_a_dataset(ge: GenkitEval, tmp_path: Path) -> None:
    data = tmp_path / "data.jsonl"
    data.write_text('{"input": 1, "output": 1}\n')

    with pytest.raises(ConfigError, match="is a file, not a dataset's id: give Path"):
        await ge.evaluate(str(data), target=None, evaluators=[define_same(ge)])


async def test_without_a_target_the_samples_must_bring_outputs(ge: GenkitEval) -> None:
    with pytest.raises(ConfigError, match="no sample brings an output"):
        await ge.evaluate(samples(2), evaluators=[define_same(ge)])


async def test_an_error_names_the_line_of_the_users_code(ge: GenkitEval) -> None:
    ge.define_flow("f", lambda x: json.loads("{"))

    run = await ge.evaluate(samples(1), target="f", evaluators=[])

    assert re.search(r"JSONDecodeError: .* \(test_run.py:\d+\)$", str(run.results[0].error))


async def test_an_evaluator_that_lacks_something_is_refused_before_anything_runs(ge: GenkitEval) -> None:
    ge.define_evaluator("t/judged", same, needs="needs a judge: give one")

    with pytest.raises(ConfigError, match="evaluator 't/judged' needs a judge: give one"):
        await ge.evaluate(samples(1), target=None, evaluators=["t/judged"])
    with pytest.raises(ConfigError, match="needs a judge"):
        await ge.score(Sample(output=1), "t/judged")


async def test_options_that_an_evaluator_cannot_run_with_are_refused_before_anything_runs(ge: GenkitEval) -> None:
    seen: list[object] = []

    def check(options: object) -> str | None:
        seen.append(options)
        return "its judge is nowhere"

    ge.define_evaluator("t/judged", same, check_options=check)

    with pytest.raises(ConfigError, match="evaluator 't/judged': its judge is nowhere"):
        await ge.evaluate(samples(3), target=None, evaluators=["t/judged"])

    assert seen == [None]


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


@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_a_flow_that_changes_its_input_and_fails_leaves_the_callers_data_alone(ge: GenkitEval, kind: str) -> None:
    def vandal(x: list[int]) -> int:
        x.append(9)
        raise ValueError("and then it breaks")

    async def async_vandal(x: list[int]) -> int:
        return vandal(x)

    ge.define_flow("f", vandal if kind == "sync" else async_vandal)
    mine = [{"input": [1]}]

    run = await ge.evaluate(mine, target="f", evaluators=[define_same(ge)])

    assert mine == [{"input": [1]}]
    assert run.results[0].input == [1]
