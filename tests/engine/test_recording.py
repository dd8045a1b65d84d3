"""What a target records and returns beside its output reaches the data point, and the run file keeps it."""

from __future__ import annotations

import contextvars
import math
import threading
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from genkit_eval import (
    DataError,
    DataPoint,
    EvalResult,
    GenkitEval,
    Limits,
    ToolCall,
    Turn,
    Usage,
    record_plan,
    record_retrieved,
    record_tool_call,
    record_turn,
    record_usage,
)
from genkit_eval.testing import ScriptedModel

pytestmark = pytest.mark.anyio


async def _result(ge: GenkitEval, flow: Callable[[Any], Any], **sample: Any) -> EvalResult:
    """The case of a run with this flow, as an earlier run's file has it."""
    ge.define_flow("f", flow)
    run = await ge.evaluate([{"input": "x", **sample}], target="f", evaluators=[])
    result = ge.runs.load(run.id).results[0]
    assert result.error is None
    return result


async def test_tool_calls_are_kept_in_their_order_with_what_came_back(ge: GenkitEval) -> None:
    def flow(_: str) -> str:
        record_tool_call("find", {"order": 7}, output=None, id="c1")
        record_tool_call("refund", {"order": 7}, error="too late")
        record_tool_call("ping")
        return "done"

    result = await _result(ge, flow)

    assert result.tools == [
        ToolCall(name="find", arguments={"order": 7}, output=None, id="c1"),
        ToolCall(name="refund", arguments={"order": 7}, error="too late"),
        ToolCall(name="ping"),
    ]
    found, refund, ping = result.tools or ()
    assert found.has("output")
    assert not refund.has("output")
    assert not ping.has("arguments")


async def test_usage_is_the_sum_of_what_was_recorded(ge: GenkitEval) -> None:
    def flow(_: str) -> str:
        record_usage(input_tokens=10, output_tokens=2)
        record_usage(input_tokens=5, cost_usd=0.25)
        record_usage(cost_usd=0.5, model_calls=3)
        return "done"

    result = await _result(ge, flow)

    assert result.usage == Usage(input_tokens=15, output_tokens=2, cost_usd=0.75, model_calls=5)
    assert not result.usage.has("cached_tokens")


async def test_retrieved_ids_turns_and_plan_are_kept(ge: GenkitEval) -> None:
    def flow(_: str) -> str:
        record_plan("guess")
        record_plan("look", "answer")
        record_retrieved("b", "a")
        record_retrieved("c")
        record_turn("user", "hello")
        record_turn("assistant", tool_calls=[ToolCall(name="find")])
        record_turn("tool", 0, tool_call_id="c1")
        return "done"

    result = await _result(ge, flow)

    assert result.retrieved_ids == ["b", "a", "c"]
    assert result.plan == ["look", "answer"]
    assert result.turns == [
        Turn(role="user", content="hello"),
        Turn(role="assistant", tool_calls=[ToolCall(name="find")]),
        Turn(role="tool", content=0, tool_call_id="c1"),
    ]


async def test_a_search_that_found_nothing_is_no_missing_search(ge: GenkitEval) -> None:
    def flow(_: str) -> str:
        record_retrieved()
        return "done"

    result = await _result(ge, flow, relevantIds=["a"])

    assert result.has("retrieved_ids")
    assert result.retrieved_ids == []


async def test_what_was_recorded_takes_the_place_of_what_the_sample_brought(ge: GenkitEval) -> None:
    def flow(_: str) -> str:
        record_retrieved("new")
        return "done"

    result = await _result(ge, flow, retrievedIds=["old"], plan="as before")

    assert (result.retrieved_ids, result.plan) == (["new"], "as before")


async def test_what_is_returned_comes_after_what_was_recorded_and_decides_on_usage(ge: GenkitEval) -> None:
    def flow(_: str) -> dict[str, Any]:
        record_tool_call("first")
        record_usage(input_tokens=1)
        return {"output": "done", "tools": [{"name": "second"}], "usage": {"inputTokens": 9}}

    result = await _result(ge, flow)

    assert [call.name for call in result.tools or ()] == ["first", "second"]
    assert result.usage == Usage(input_tokens=9)


async def test_what_is_returned_as_null_is_not_reported(ge: GenkitEval) -> None:
    result = await _result(
        ge, lambda _: {"output": None, "context": None, "usage": None, "tools": None, "latency": None}
    )

    assert result.has("output")
    assert (result.output, result.error) == (None, None)
    assert not any(result.has(name) for name in ("context", "usage", "tools"))


@pytest.mark.parametrize(
    ("reported", "told"),
    [
        ({"usage": {"inputTokens": -5}}, "usage.input_tokens, which is -5, expected 0 to 1e+15"),
        ({"usage": {"costUsd": 1e308}}, "usage.cost_usd, which is 1e+308"),
        ({"usage": {"outputTokens": 10**40}}, "usage.output_tokens, which is 1000000"),
        ({"latency": -0.5}, "latency, which is -0.5"),
    ],
)
async def test_figures_that_cannot_be_are_the_targets_error(ge: GenkitEval, reported: Any, told: str) -> None:
    ge.define_flow("f", lambda _: {"output": "done", **reported})

    run = await ge.evaluate([{"input": "x"}], target="f", evaluators=[])

    assert told in str(run.results[0].error)


async def test_tasks_and_threads_of_a_flow_record_for_it(ge: GenkitEval) -> None:
    async def find(name: str) -> None:
        record_tool_call(name)

    async def flow(_: str) -> str:
        async with anyio.create_task_group() as group:
            group.start_soon(find, "task")
        await anyio.to_thread.run_sync(record_tool_call, "worker thread")
        thread = threading.Thread(target=contextvars.copy_context().run, args=(record_tool_call, "own thread"))
        thread.start()
        thread.join()
        return "done"

    result = await _result(ge, flow)

    assert [call.name for call in result.tools or ()] == ["task", "worker thread", "own thread"]


async def test_evaluators_see_it(ge: GenkitEval) -> None:
    @ge.flow("f")
    async def flow(name: str) -> str:
        record_tool_call(name)
        await anyio.sleep(0)
        return name

    ge.define_evaluator("t/own", lambda point: [call.name for call in point.tools] == [point.input])

    run = await ge.evaluate([{"input": f"tool {i}"} for i in range(50)], target="f", evaluators=["t/own"])

    assert run.summary()[0].passed == 50


@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_what_was_recorded_before_the_target_broke_is_kept(ge: GenkitEval, kind: str) -> None:
    def flow(_: str) -> str:
        record_tool_call("find")
        record_usage(cost_usd=0.5)
        raise LookupError("no such order")

    async def async_flow(text: str) -> str:
        return flow(text)

    ge.define_flow("f", flow if kind == "sync" else async_flow)
    run = await ge.evaluate([{"input": "x"}], target="f", evaluators=[])

    [result] = run.results
    assert "no such order" in str(result.error)
    assert [call.name for call in result.tools or ()] == ["find"]
    assert result.usage == Usage(cost_usd=0.5, model_calls=1)
    [spent] = run.key.usage
    assert (spent.used_by, spent.cost_usd) == ("target", 0.5)


@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_what_was_recorded_before_the_deadline_is_kept(ge: GenkitEval, kind: str) -> None:
    over = threading.Event()

    def flow(_: str) -> str:
        record_tool_call("find")
        over.wait()
        return "too late"

    async def async_flow(_: str) -> str:
        record_tool_call("find")
        await anyio.sleep_forever()
        return "never"

    ge.define_flow("f", flow if kind == "sync" else async_flow)
    run = await ge.evaluate([{"input": "x"}], target="f", evaluators=[], limits=Limits(target_seconds=0.05))
    over.set()

    [result] = run.results
    assert "timeout" in str(result.error)
    assert [call.name for call in result.tools or ()] == ["find"]


async def test_a_run_that_goes_on_has_what_was_recorded_before(ge: GenkitEval) -> None:
    answered: list[str] = []
    scope = anyio.CancelScope()

    @ge.flow("f")
    def flow(name: str) -> str:
        answered.append(name)
        record_tool_call(name)
        record_usage(input_tokens=1)
        return name

    @ge.define_evaluator("t/own")
    async def own(point: DataPoint) -> bool:
        if point.input == "tool 3" and not scope.cancel_called:
            scope.cancel()
            await anyio.sleep_forever()
        return [call.name for call in point.tools or ()] == [point.output] and point.usage is not None

    samples = [{"input": f"tool {number}"} for number in range(6)]
    with scope:
        await ge.evaluate(samples, target="f", evaluators=["t/own"], limits=Limits(max_concurrency=1))
    [key] = ge.runs.list()

    run = await ge.evaluate(samples, resume=key.eval_run_id)

    assert run.summary()[0].passed == 6
    assert answered.count("tool 3") == 1


@pytest.mark.parametrize(
    ("record", "told"),
    [
        (lambda: record_tool_call("find", object()), "object"),
        (lambda: record_tool_call(7), "name"),  # type: ignore[arg-type]
        (lambda: record_usage(cost_usd=math.nan), "cost_usd"),
        (lambda: record_usage(input_tokens=-1), "input_tokens is -1"),
        (lambda: record_usage(cost_usd=1e308), "cost_usd is 1e+308, expected 0 to 1e+15"),
        (lambda: record_retrieved(["a"]), "found ['a']"),  # type: ignore[arg-type]
        (lambda: record_turn("user", math.inf), "inf"),
    ],
)
def test_what_cannot_be_kept_is_refused_where_it_is_recorded(record: Callable[[], None], told: str) -> None:
    with pytest.raises(DataError) as refused:
        record()

    assert told in str(refused.value)


def test_outside_an_evaluation_nothing_happens() -> None:
    record_tool_call("find", output=[1])
    record_usage(input_tokens=1)
    record_retrieved("a")
    record_turn("user", "hello")
    record_plan("look")


async def test_a_flow_that_records_no_call_has_made_none_where_the_sample_says_what_is_expected(ge: GenkitEval) -> None:
    """Else an agent that forgot its tool would be as inconclusive as data without a word about tools."""
    result = await _result(ge, lambda _: "done", expectedTools=[{"name": "find"}])

    assert result.tools == []


async def test_calls_that_a_flow_returns_are_all_it_made(ge: GenkitEval) -> None:
    def flow(_: str) -> dict[str, Any]:
        return {"output": "done", "tools": [{"name": "find"}]}

    result = await _result(ge, flow, expectedTools=[])

    assert result.tools == [ToolCall(name="find")]


async def test_without_expected_tools_a_flow_says_nothing_of_tools_unless_it_records_them(ge: GenkitEval) -> None:
    result = await _result(ge, lambda _: "done")

    assert not result.has("tools")


async def test_of_a_model_nobody_knows_which_tools_it_has_called(ge: GenkitEval) -> None:
    ge.registry.define_models("fake", {"m": ScriptedModel(["done"])})
    sample = {"input": "x", "expectedTools": [{"name": "find"}]}

    run = await ge.evaluate([sample], target="/model/fake/m", evaluators=[])

    assert not run.results[0].has("tools")
