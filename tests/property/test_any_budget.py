"""Whatever budgets a run is given one after the other: none is overrun, no call is paid twice, every cell ends."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from genkit_eval import (
    Budget,
    DataPoint,
    GenkitEval,
    Judge,
    Limits,
    Message,
    Outcome,
    Repeats,
    Reply,
    Usage,
    run_sync,
)

SAMPLES = 25
TOKENS = 10


class Counting:
    """A model that notes each request, and how many it has at one time."""

    name = "house/judge"

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.asked: Counter[str] = Counter()
        self.in_flight = self.most = 0

    @property
    def calls(self) -> int:
        return sum(self.asked.values())

    async def generate(self, messages: Sequence[Message], **_: object) -> Reply:
        self.asked[messages[-1].content] += 1
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        await anyio.sleep(self.rng.choice([0, 0, 0.001]))
        self.in_flight -= 1
        usage = Usage(input_tokens=TOKENS - 1, output_tokens=1)
        return Reply(text="yes", finish_reason="stop", usage=usage)


class World:
    """A target and evaluators that ask a model, one after the other or at once, drawn from a seed."""

    def __init__(self, seed: int, root: Path) -> None:
        self.rng = random.Random(seed)
        self.ge = GenkitEval(root=root)
        self.model = Counting(self.rng)
        self.ge.define_models("house", {"judge": self.model})
        self.target = self.rng.choice([None, "/model/house/judge"])
        self.repeats = Repeats(judge=self.rng.choice([1, 1, 2]))
        self.calls_of_a_case = 0 if self.target is None else 1
        self.names = [self.define(number) for number in range(self.rng.randrange(1, 4))]

    def define(self, number: int) -> str:
        calls, at_once, breaks = self.rng.randrange(1, 4), self.rng.random() < 0.5, self.rng.random() < 0.3
        self.calls_of_a_case += calls * self.repeats.judge

        async def ask(point: DataPoint, turn: int) -> None:
            asked = f"{number} asks of {point.test_case_id} for the {turn}th time"
            await Judge(self.model).choose([Message(role="user", content=asked)], ["yes", "no"])

        async def judge(point: DataPoint) -> bool:
            if at_once:
                async with anyio.create_task_group() as group:
                    for turn in range(calls):
                        group.start_soon(ask, point, turn)
            else:
                for turn in range(calls):
                    await ask(point, turn)
            if breaks and point.input[-1] == "3":
                raise RuntimeError("broken ruler")
            return True

        self.ge.define_evaluator(f"t/e{number}", judge, kind="agentic")
        return f"t/e{number}"

    def budget(self) -> Budget:
        whole = SAMPLES * self.calls_of_a_case
        amount = self.rng.randrange(1, max(2, whole // 2))
        return self.rng.choice([Budget(calls=amount), Budget(tokens=amount * TOKENS)])


@pytest.mark.parametrize("seed", range(30))
def test_no_budget_is_overrun_and_no_call_paid_twice(seed: int, tmp_path: Path) -> None:
    world = World(seed, tmp_path / ".genkit")
    samples = [{"testCaseId": f"s{i}", "input": f"question {i}", "output": f"answer {i}"} for i in range(SAMPLES)]
    limits = Limits(max_concurrency=world.rng.choice([1, 2, 7, 32]))
    more: dict[str, Any] = {"target": world.target, "evaluators": world.names, "repeats": world.repeats}
    resume: str | None = None

    async def session(budget: Budget) -> Any:
        if resume is None:
            return await world.ge.evaluate(samples, limits=limits, budget=budget, **more)
        return await world.ge.evaluate(samples, resume=resume, budget=budget)

    while True:
        budget, before = world.budget(), world.model.calls
        world.model.most = 0
        run = run_sync(session(budget))
        spent = world.model.calls - before
        if budget.calls is not None:
            assert spent <= budget.calls
        else:
            assert spent * TOKENS <= (budget.tokens or 0) + (world.model.most - 1) * TOKENS
        if run.complete:
            break
        assert spent > 0
        resume = run.id

    assert world.model.calls == SAMPLES * world.calls_of_a_case
    assert set(world.model.asked.values()) <= {1, world.repeats.judge}
    outcomes = Counter(metric.outcome for result in run.results for metric in result.metrics)
    assert sum(outcomes.values()) == SAMPLES * len(world.names)
    assert set(outcomes) <= {Outcome.VERDICT, Outcome.FAILED}
    assert sum(spent.model_calls or 0 for spent in run.key.usage) == SAMPLES * world.calls_of_a_case


class Known(Counting):
    """The same model on this desk only, so that what it said once is never asked again, in whichever run."""

    identity = "house/judge on this desk"


@pytest.mark.parametrize("seed", range(12))
def test_what_many_cases_ask_is_paid_once_under_any_budget(seed: int, tmp_path: Path) -> None:
    """Five different questions, and five times as many cases: who asks the same at the same moment waits."""
    rng = random.Random(seed)
    model = Known(rng)
    samples = [{"testCaseId": f"s{i}", "input": f"question {i}", "output": f"answer {i % 5}"} for i in range(SAMPLES)]
    ge = GenkitEval(root=tmp_path / ".genkit")

    @ge.define_evaluator("t/judge")
    async def judge(point: DataPoint) -> bool:
        for turn in range(2):
            asked = f"{turn}: {point.output}"
            await Judge(model).choose([Message(role="user", content=asked)], ["yes", "no"])
        return True

    async def session(resume: str | None) -> Any:
        budget, limits = Budget(calls=rng.randrange(1, 4)), Limits(max_concurrency=rng.choice([1, 7, 32]))
        if resume is None:
            return await ge.evaluate(samples, target=None, evaluators=["t/judge"], limits=limits, budget=budget)
        return await ge.evaluate(samples, resume=resume, limits=limits, budget=budget)

    run = run_sync(session(None))
    while not run.complete:
        run = run_sync(session(run.id))

    assert set(model.asked.values()) == {1}
    assert model.calls == 10
    assert [metric.score for result in run.results for metric in result.metrics] == [True] * SAMPLES
