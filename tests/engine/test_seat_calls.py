"""Synchronous evaluators and flows that ask models, through a loop of their own, ask in the run's name all the same."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from genkit_eval import (
    Budget,
    DataPoint,
    EvalRun,
    GenkitEval,
    Judge,
    Limits,
    Message,
    ModelError,
    ModelLimits,
    Reply,
    Usage,
    run_sync,
)
from genkit_eval.model_calls import generate

SAMPLES = [{"input": number, "output": number} for number in range(12)]
ONE_AT_A_TIME = ModelLimits(concurrency=1, most_concurrency=1)


class Counting:
    """A model that counts its calls, the most at one time too, and fails the first ones."""

    name = "house/judge"

    def __init__(self, *, faults: int = 0) -> None:
        self.calls = self.most = 0
        self._now, self._faults = 0, faults
        self._lock = threading.Lock()

    async def generate(self, messages: Sequence[Message], **_: object) -> Reply:
        with self._lock:
            self.calls += 1
            self._now += 1
            self.most = max(self.most, self._now)
            failing = self.calls <= self._faults
        try:
            if failing:
                raise ModelError("busy", kind="server", status=500)
            return Reply(text='{"label": "yes"}', usage=Usage(input_tokens=6, output_tokens=4))
        finally:
            with self._lock:
                self._now -= 1


def define_judge(ge: GenkitEval, model: Counting) -> str:
    @ge.define_evaluator("t/judge")
    def judge(point: DataPoint) -> bool:
        asked = [Message(role="user", content=f"Is {point.output} right?")]
        return run_sync(Judge(model).choose(asked, ["yes", "no"])) == "yes"

    return "t/judge"


def judged(ge: GenkitEval, name: str, **options: object) -> EvalRun:
    return run_sync(ge.evaluate(SAMPLES, target=None, evaluators=[name], **options))


def test_they_take_turns(ge: GenkitEval) -> None:
    model = Counting()

    run = judged(ge, define_judge(ge, model), limits=Limits(models=ONE_AT_A_TIME))

    assert all(result.metrics[0].score is True for result in run.results)
    assert (model.calls, model.most) == (12, 1)


def test_what_may_pass_is_sent_again_and_what_it_took_stands_with_the_score(ge: GenkitEval) -> None:
    model = Counting(faults=1)

    run = judged(ge, define_judge(ge, model), limits=Limits(models=ONE_AT_A_TIME))

    spent = [usage for result in run.results for usage in result.metrics[0].usage]
    assert all(result.metrics[0].score is True for result in run.results)
    assert sum(usage.model_calls or 0 for usage in spent) == 12
    assert sum(usage.retries or 0 for usage in spent) == 1
    assert [(usage.used_by, usage.input_tokens) for usage in run.key.usage] == [("/evaluator/t/judge", 72)]


def test_a_budget_ends_them_and_leaves_their_cases_open(ge: GenkitEval) -> None:
    model = Counting()
    name = define_judge(ge, model)

    stopped = judged(ge, name, budget=Budget(calls=5))
    calls = model.calls
    run = run_sync(ge.evaluate(SAMPLES, resume=stopped.id))

    assert not stopped.complete
    assert calls == 5
    assert model.calls == 12
    assert all(result.metrics[0].score is True for result in run.results)


def test_waiting_for_a_turn_is_no_time_of_theirs(ge: GenkitEval) -> None:
    limits = Limits(evaluator_seconds=0.25, models=ModelLimits(requests_per_minute=600))

    run = judged(ge, define_judge(ge, Counting()), limits=limits)

    assert [result.metrics[0].error for result in run.results] == [None] * 12


def test_a_flow_that_asks_has_its_own_cost(ge: GenkitEval) -> None:
    model = Counting()

    @ge.flow("ask")
    def ask(question: int) -> str:
        asked = [Message(role="user", content=f"{question}?")]
        return run_sync(generate(model, asked, read=lambda reply: reply.text))

    run = run_sync(ge.evaluate([{"input": 1}, {"input": 2}], target="ask", evaluators=[]))

    assert [result.usage and result.usage.model_calls for result in run.results] == [1, 1]


def test_what_took_too_long_after_it_had_asked_has_its_cost_too(ge: GenkitEval) -> None:
    model, never = Counting(), threading.Event()
    asked = [Message(role="user", content="Is it right?")]

    @ge.flow("f")
    def hangs(question: int) -> str:
        run_sync(generate(model, asked, read=lambda reply: reply.text))
        never.wait()
        return "never"

    @ge.define_evaluator("t/hangs")
    def hangs_too(point: DataPoint) -> bool:
        run_sync(generate(model, asked, read=lambda reply: reply.text))
        return never.wait()

    limits = Limits(target_seconds=1, evaluator_seconds=1)
    flow = run_sync(ge.evaluate(SAMPLES[:2], target="f", evaluators=[], limits=limits))
    evaluator = run_sync(ge.evaluate(SAMPLES[:2], target=None, evaluators=["t/hangs"], limits=limits))
    never.set()

    assert [result.error for result in flow.results] == ["timeout: the target took longer than 1 s"] * 2
    assert [(spent.used_by, spent.model_calls, spent.input_tokens) for spent in flow.key.usage] == [("target", 2, 12)]
    (spent,) = evaluator.key.usage
    assert (spent.model_calls, spent.input_tokens) == (2, 12)
    assert [len(result.metrics[0].usage) for result in evaluator.results] == [1, 1]
