"""A budget is a hard stop: what is in flight ends and is kept, nothing new begins, and a new budget goes on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from genkit_eval import (
    Budget,
    ConfigError,
    DataPoint,
    EvalRun,
    GenkitEval,
    Judge,
    Limits,
    Message,
    Model,
    ModelError,
    ModelLimits,
    Price,
    Reply,
    RunState,
    StopCause,
    Usage,
    record_usage,
)
from genkit_eval.engine.asking.brake import Brake
from genkit_eval.engine.asking.budget import Purse, SpentError
from genkit_eval.prices import Prices

pytestmark = pytest.mark.anyio

TEN = Usage(input_tokens=6, output_tokens=4)


class Counting:
    """A model that answers after a moment, and knows how many calls it had, and how many at one time."""

    def __init__(self, usage: Usage | None = TEN, *, name: str = "house/judge", pause: float = 0.0) -> None:
        self.name, self.usage, self.pause = name, usage, pause
        self.calls = self.in_flight = self.most = 0

    async def generate(self, messages: Sequence[Message], **_: object) -> Reply:
        self.calls += 1
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        await anyio.sleep(self.pause)
        self.in_flight -= 1
        return Reply(text='{"label": "yes"}', finish_reason="stop", usage=self.usage)


def judged(ge: GenkitEval, model: Model, *, calls: int = 1, at_once: bool = False, batch: bool = False) -> str:
    """An evaluator that asks so many times about each output, one after the other or all at once."""

    async def ask(point: DataPoint, number: int) -> None:
        await Judge(model).choose([Message(role="user", content=f"{point.output}, {number}")], ["yes", "no"])

    async def judge(point: DataPoint) -> bool:
        if at_once:
            async with anyio.create_task_group() as group:
                for number in range(calls):
                    group.start_soon(ask, point, number)
        else:
            for number in range(calls):
                await ask(point, number)
        return True

    async def judge_all(points: Sequence[DataPoint]) -> list[bool]:
        return [await judge(point) for point in points]

    ge.define_evaluator("t/judge", judge_all if batch else judge, batch=batch)
    return "t/judge"


def samples(count: int) -> list[dict[str, Any]]:
    return [{"testCaseId": f"s{i}", "input": i, "output": i} for i in range(count)]


async def evaluated(ge: GenkitEval, count: int, budget: Budget | None, **more: Any) -> EvalRun:
    terms = {"target": None, "evaluators": ["t/judge"], "limits": Limits(4), "budget": budget}
    return await ge.evaluate(samples(count), **(terms | more))


def assert_stopped(run: EvalRun, reason: str) -> None:
    assert not run.complete
    assert run.key.state is RunState.INCOMPLETE
    assert run.key.stopped is not None
    assert run.key.stopped.cause is StopCause.BUDGET
    assert run.key.stopped.reason == reason


async def test_no_call_beyond_a_budget_of_calls(ge: GenkitEval) -> None:
    model = Counting()
    judged(ge, model)

    run = await evaluated(ge, 40, Budget(calls=10))

    assert_stopped(run, "the budget is spent: 10 of 10 calls")
    assert model.calls == 10
    assert sum(len(result.metrics) for result in run.results) == 10
    assert ge.runs.load(run.id).key.budget == {"calls": 10}


@pytest.mark.parametrize("at_once", [False, True])
async def test_what_was_paid_for_is_not_paid_again_under_the_next_budget(ge: GenkitEval, at_once: bool) -> None:
    """Three calls a case: some budgets end in the middle of one."""
    model = Counting()
    judged(ge, model, calls=3, at_once=at_once)
    run = await evaluated(ge, 20, Budget(calls=7))
    calls = [model.calls]

    while not run.complete:
        run = await ge.evaluate(samples(20), resume=run.id, budget=Budget(calls=7))
        calls.append(model.calls)

    assert calls == [*range(7, 60, 7), 60]
    assert [result.input for result in run.results] == list(range(20))
    assert all(result.metrics[0].score is True for result in run.results)
    assert run.key.stopped is None


async def test_the_calls_in_flight_are_all_that_goes_beyond_a_budget_of_tokens(ge: GenkitEval) -> None:
    model = Counting(pause=0.001)
    judged(ge, model)

    run = await evaluated(ge, 60, Budget(tokens=100))

    assert run.key.stopped is not None
    assert "of 100 tokens" in run.key.stopped.reason
    assert 10 <= model.calls <= 10 + model.most - 1
    assert sum(len(result.metrics) for result in run.results) == model.calls


async def test_a_budget_of_dollars_needs_prices_and_stops_by_them(tmp_path: Path) -> None:
    """Ten calls of six tokens at 1 dollar each and four at 2: 140 dollars."""
    ge = GenkitEval(root=tmp_path, prices={"house/judge": Price(1_000_000, 2_000_000)})
    model = Counting()
    judged(ge, model)

    run = await evaluated(ge, 40, Budget(usd=140), limits=Limits(1))

    assert_stopped(run, "the budget is spent: 140 of 140 US dollars")
    assert model.calls == 10


async def test_why_a_run_stopped_is_logged_where_nobody_shows_progress(
    ge: GenkitEval, caplog: pytest.LogCaptureFixture
) -> None:
    judged(ge, Counting())

    run = await evaluated(ge, 5, Budget(calls=2), limits=Limits(1))

    assert caplog.messages == [
        f"run {run.id} stopped after 2 of 5 cases (the budget is spent: 2 of 2 calls); resume it by this id"
    ]


async def test_a_cost_that_nobody_knows_ends_a_budget_of_dollars(ge: GenkitEval) -> None:
    model = Counting()
    judged(ge, model)

    run = await evaluated(ge, 40, Budget(usd=140), limits=Limits(1))

    assert_stopped(run, "what house/judge costs is not known: give its price, or a budget of calls, tokens or seconds")
    assert model.calls == 1


@pytest.mark.case("api-fault/usage-missing")
async def test_tokens_that_nobody_names_end_a_budget_of_tokens(ge: GenkitEval) -> None:
    model = Counting(usage=None)
    judged(ge, model)

    run = await evaluated(ge, 40, Budget(tokens=1000), limits=Limits(1))

    assert_stopped(run, "house/judge does not say how many tokens it takes: give a budget of calls or seconds")


async def test_time_that_is_up_lets_what_is_under_way_end(ge: GenkitEval) -> None:
    ended: list[int] = []

    @ge.flow("f")
    async def flow(x: int) -> int:
        await anyio.sleep(0.05)
        ended.append(x)
        return x

    run = await evaluated(ge, 1000, Budget(seconds=0.2), target="f", evaluators=[])

    assert run.key.stopped is not None
    assert "of 0.2 seconds" in run.key.stopped.reason
    assert sorted(result.input for result in run.results) == sorted(ended) == list(range(len(ended)))


async def test_a_run_that_just_fits_is_complete(ge: GenkitEval) -> None:
    model = Counting()
    judged(ge, model)

    run = await evaluated(ge, 10, Budget(calls=10, tokens=100))

    assert run.complete
    assert run.key.stopped is None
    assert run.key.budget == {"tokens": 100, "calls": 10}


@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_what_a_flow_reports_counts(ge: GenkitEval, kind: str) -> None:
    def flow(x: int) -> int:
        record_usage(input_tokens=20, output_tokens=5, cost_usd=0.25)
        return x

    async def async_flow(x: int) -> int:
        await anyio.sleep(0)
        return flow(x)

    ge.define_flow("f", flow if kind == "sync" else async_flow)
    more: dict[str, Any] = {"target": "f", "evaluators": [], "limits": Limits(1)}

    by_tokens = await evaluated(ge, 40, Budget(tokens=100), **more)
    by_dollars = await evaluated(ge, 40, Budget(usd=1.5), **more)

    assert_stopped(by_tokens, "the budget is spent: 100 of 100 tokens")
    assert len(by_tokens.results) == 4
    assert_stopped(by_dollars, "the budget is spent: 1.5 of 1.5 US dollars")
    assert len(by_dollars.results) == 6


async def test_a_target_that_is_a_model_is_asked_within_the_budget_and_paid_once(ge: GenkitEval) -> None:
    model = Counting(name="house/writer")
    ge.define_models("house", {"writer": model})
    questions = [{"testCaseId": f"s{i}", "input": f"question {i}"} for i in range(40)]
    more: dict[str, Any] = {"target": "/model/house/writer", "evaluators": []}

    run = await ge.evaluate(questions, limits=Limits(1), budget=Budget(tokens=100), **more)
    resumed = await ge.evaluate(questions, resume=run.id)

    assert_stopped(run, "the budget is spent: 100 of 100 tokens")
    assert len(run.results) == 10
    assert resumed.complete
    assert model.calls == 40


async def test_a_batch_evaluator_is_left_out_when_the_budget_ends_it(ge: GenkitEval) -> None:
    model = Counting()
    judged(ge, model, batch=True)

    run = await evaluated(ge, 8, Budget(calls=5))
    kept = [len(result.metrics) for result in run.results]
    resumed = await ge.evaluate(samples(8), resume=run.id)

    assert_stopped(run, "the budget is spent: 5 of 5 calls")
    assert kept == [0] * 8
    assert resumed.complete
    assert all(result.metrics[0].score is True for result in resumed.results)


async def test_evaluators_that_ask_no_model_end_what_is_under_way(ge: GenkitEval) -> None:
    """A case whose judge is cut keeps its output and what the others said."""
    model = Counting()
    judged(ge, model)
    ge.define_evaluator("t/cheap", lambda point: True)

    run = await evaluated(ge, 20, Budget(calls=2), evaluators=["t/cheap", "t/judge"])
    names = [sorted(metric.name for metric in result.metrics) for result in run.results]
    finished = len(list(run.finished()))
    resumed = await ge.evaluate(samples(20), resume=run.id)

    assert names.count(["t/cheap", "t/judge"]) == 2
    assert all(spoken in (["t/cheap", "t/judge"], ["t/cheap"]) for spoken in names)
    assert finished == 2
    assert resumed.complete
    assert model.calls == 20
    assert all(len(result.metrics) == 2 for result in resumed.results)


async def test_an_evaluator_cannot_make_a_score_of_a_call_that_never_came(ge: GenkitEval) -> None:
    model = Counting()

    @ge.define_evaluator("t/judge")
    async def stubborn(point: DataPoint) -> bool:
        try:
            await Judge(model).choose([Message(role="user", content=f"{point.output}")], ["yes", "no"])
        except BaseException:  # noqa: BLE001
            return False
        return True

    run = await evaluated(ge, 20, Budget(calls=2))

    assert [metric.score for result in run.results for metric in result.metrics] == [True, True]


async def test_a_run_that_ends_does_not_wait_for_calls_that_wait(ge: GenkitEval) -> None:
    """One call is told to come back in a minute, the others have no turn before it."""

    class Busy(Counting):
        async def generate(self, messages: Sequence[Message], **_: object) -> Reply:
            self.calls += 1
            raise ModelError("too many", kind="rate_limit", retry_after_seconds=60)

    model = Busy()
    judged(ge, model)

    with anyio.fail_after(30):
        run = await evaluated(
            ge, 8, Budget(seconds=0.2), limits=Limits(4, models=ModelLimits(concurrency=1, most_concurrency=1))
        )

    assert run.key.stopped is not None
    assert not list(run.results) or not any(result.metrics for result in run.results)
    assert model.calls <= 8


async def test_failures_end_the_calls_of_models_too(ge: GenkitEval) -> None:
    """All four under way fail or are cut; none asks a second time."""
    model = Counting()

    @ge.define_evaluator("t/judge")
    async def breaks(point: DataPoint) -> bool:
        await Judge(model).choose([Message(role="user", content=f"{point.output}")], ["yes", "no"])
        raise RuntimeError("out of order")

    run = await evaluated(ge, 100, None, limits=Limits(4, max_failures=1))

    assert run.key.stopped is not None
    assert run.key.stopped.cause is StopCause.FAILURES
    assert model.calls <= 4


@pytest.mark.parametrize(
    "given",
    [
        {"usd": 0},
        {"usd": -1},
        {"usd": "1"},
        {"usd": float("nan")},
        {"tokens": 1.5},
        {"calls": 0},
        {"calls": True},
        {"seconds": float("inf")},
    ],
)
def test_a_budget_that_cannot_be_is_refused(given: dict[str, Any]) -> None:
    (name,) = given

    with pytest.raises(ConfigError, match=rf"a budget's {name} is .*: expected"):
        Budget(**given)


def test_a_purse_stops_when_it_is_empty_and_not_before() -> None:
    brake = Brake()
    purse = Purse(Budget(calls=2), Prices(), brake)

    purse.take_call()
    purse.take_call()

    assert brake.stopped is None
    with pytest.raises(SpentError):
        purse.take_call()
    assert brake.stopped is not None
