"""A judge may be asked several times about each output; what it says becomes one score."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import anyio
import pytest
from pydantic import JsonValue

from genkit_eval import (
    Budget,
    ConfigError,
    DataPoint,
    EvalMetric,
    GenkitEval,
    Limits,
    Message,
    Outcome,
    Repeats,
    Reply,
    Score,
)
from genkit_eval.engine.repeats import pass_number
from genkit_eval.types import Usage

SAMPLE = {"testCaseId": "a", "input": "x", "output": ["y"]}

pytestmark = pytest.mark.anyio


class Grader:
    """A model whose replies are graded 0.2, 0.8, 0.6, 0.2, …"""

    name = "test/grader"

    def __init__(self) -> None:
        self._grades = itertools.cycle(["0.2", "0.8", "0.6"])

    async def generate(
        self,
        messages: Sequence[Message],
        *,
        output: object = None,
        config: Mapping[str, JsonValue] | None = None,
    ) -> Reply:
        return Reply(text=next(self._grades), usage=Usage(input_tokens=10, output_tokens=1))


def judged_by(ge: GenkitEval, model: Any) -> None:
    ge.define_models("test", {"grader": model})

    @ge.define_evaluator("t/judge", kind="agentic", threshold=0.5, low=0.0, high=1.0, version="1")
    async def judge(point: DataPoint) -> float:
        return float((await ge.generate("test/grader", str(point.output))).text)


async def one(ge: GenkitEval, *evaluators: str, limits: Limits | None = None) -> list[EvalMetric]:
    run = await ge.evaluate([SAMPLE], target=None, evaluators=evaluators, repeats=Repeats(judge=3), limits=limits)
    return list(run.results[0].metrics)


async def test_the_score_is_the_median_and_its_cost_that_of_all_calls(ge: GenkitEval) -> None:
    judged_by(ge, Grader())

    [metric] = await one(ge, "t/judge")

    assert (metric.score, metric.status, metric.outcome) == (0.6, "PASS", Outcome.VERDICT)
    [usage] = metric.usage
    assert (usage.model, usage.model_calls, usage.input_tokens) == ("test/grader", 3, 30)
    answers = (metric.details or {})["judgeRepeats"]["answers"]
    assert sorted(answer["score"] for answer in answers) == [0.2, 0.6, 0.8]


async def test_only_judges_are_asked_again(ge: GenkitEval) -> None:
    calls: list[str] = []
    judged_by(ge, Grader())
    ge.define_evaluator("t/rule", lambda point: calls.append("rule") is None, version="1")

    metrics = await one(ge, "t/judge", "t/rule")

    assert calls == ["rule"]
    assert [metric.details is None for metric in metrics if metric.name == "t/rule"] == [True]


async def test_a_synchronous_judge_is_asked_again_too(ge: GenkitEval) -> None:
    grades = iter([True, False, True])
    ge.define_evaluator("t/slow", lambda point: next(grades), kind="agentic", version="1")

    [metric] = await one(ge, "t/slow")

    assert (metric.score, metric.status) == (True, "PASS")
    assert (metric.details or {})["judgeRepeats"]["answers"][1]["status"] == "FAIL"


async def test_a_call_that_breaks_or_changes_its_data_point_costs_that_answer_alone(ge: GenkitEval) -> None:
    numbers = itertools.count()

    @ge.define_evaluator("t/odd", kind="agentic", version="1")
    async def odd(point: DataPoint) -> Score:
        number = next(numbers)
        if number == 0:
            raise RuntimeError("no reply")
        if number == 1:
            point.output.append("z")
        return Score.passed(reason=f"it holds {len(point.output)}")

    [metric] = await one(ge, "t/odd")

    assert (metric.status, metric.rationale) == ("PASS", "it holds 1")
    errors = [answer.get("error", "") for answer in (metric.details or {})["judgeRepeats"]["answers"]]
    assert sorted(error.split(":")[0] for error in errors) == [
        "",
        "RuntimeError",
        "the evaluator changed its data point",
    ]


async def test_each_answer_has_the_whole_deadline_for_itself(ge: GenkitEval) -> None:
    numbers = itertools.count()

    @ge.define_evaluator("t/stalling", kind="agentic", version="1")
    async def stalling(point: DataPoint) -> bool:
        if next(numbers) == 0:
            await anyio.sleep_forever()
        return True

    [metric] = await one(ge, "t/stalling", limits=Limits(evaluator_seconds=0.05))

    assert metric.status == "PASS"
    errors = [answer.get("error") for answer in (metric.details or {})["judgeRepeats"]["answers"]]
    assert [error for error in errors if error] == ["timeout: the evaluator took longer than 0.05 s"]


async def test_what_needs_nothing_to_read_is_not_asked_at_all(ge: GenkitEval) -> None:
    asked: list[int] = []
    ge.define_evaluator("t/needy", lambda point: asked.append(1), kind="agentic", requires=["reference"], version="1")

    [metric] = await one(ge, "t/needy")

    assert (metric.outcome, asked) == (Outcome.INCONCLUSIVE, [])


async def test_judges_that_no_evaluator_has_are_refused_before_the_run(ge: GenkitEval) -> None:
    ge.define_evaluator("t/rule", lambda point: True)

    with pytest.raises(ConfigError, match="judges are to be asked 3 times, but no evaluator of the run is one"):
        await one(ge, "t/rule")

    assert ge.runs.list() == []


async def test_a_run_says_how_often_its_judges_were_asked(ge: GenkitEval) -> None:
    judged_by(ge, Grader())

    run = await ge.evaluate([SAMPLE], target=None, evaluators=["t/judge"], repeats=Repeats(judge=3))

    assert run.key.repeats == {"target": 1, "judge": 3}
    assert run.results[0].repeat is None


def test_every_pair_of_passes_has_a_number_of_its_own() -> None:
    numbers = {pass_number(target, judge) for target in range(20) for judge in range(20)}

    assert len(numbers) == 400
    assert (pass_number(None), pass_number(0, 0)) == (0, 0)


@pytest.mark.parametrize("form", ["sync", "async"])
async def test_a_batch_evaluator_is_asked_again_about_all_and_each_case_has_its_consensus(
    ge: GenkitEval, form: str
) -> None:
    answers = iter([[0.2, True], [0.8, False], [0.6, True]])
    asked: list[list[str | None]] = []

    def judge(points: Sequence[DataPoint]) -> list[Any]:
        asked.append([point.test_case_id for point in points])
        return next(answers)

    async def judge_later(points: Sequence[DataPoint]) -> list[Any]:
        return judge(points)

    fn = judge if form == "sync" else judge_later
    ge.define_evaluator("t/all", fn, batch=True, kind="agentic", version="1")
    samples = [SAMPLE, {**SAMPLE, "testCaseId": "b"}]

    run = await ge.evaluate(samples, target=None, evaluators=["t/all"], repeats=Repeats(judge=3))

    [first], [second] = [result.metrics for result in run.results]
    assert asked == [["a", "b"]] * 3
    assert (first.score, second.score, second.status) == (0.6, True, "PASS")
    assert [answer["score"] for answer in (first.details or {})["judgeRepeats"]["answers"]] == [0.2, 0.8, 0.6]


async def test_a_batch_that_breaks_costs_that_answer_alone_and_its_changes_are_its_own(ge: GenkitEval) -> None:
    numbers = itertools.count()

    @ge.define_evaluator("t/all", batch=True, kind="agentic", version="1")
    async def judge(points: Sequence[DataPoint]) -> list[Score]:
        number = next(numbers)
        if number == 0:
            points[0].output.append("z")
            raise RuntimeError("no reply")
        return [] if number == 1 else [Score.passed(reason=f"it holds {len(points[0].output)}")]

    [metric] = await one(ge, "t/all")

    assert (metric.status, metric.rationale) == ("PASS", "it holds 1")
    errors = [answer.get("error", "") for answer in (metric.details or {})["judgeRepeats"]["answers"]]
    assert errors[0].startswith("RuntimeError: no reply")
    assert errors[1] == "the evaluator returned 0 values for 1 data points: expected one for each"


async def test_a_batch_pays_for_each_of_its_answers_and_a_resumed_run_for_none_again(ge: GenkitEval) -> None:
    model = Grader()
    ge.define_models("test", {"grader": model})

    @ge.define_evaluator("t/all", batch=True, kind="agentic", threshold=0.5, low=0.0, high=1.0, version="1")
    async def judge(points: Sequence[DataPoint]) -> list[float]:
        return [float((await ge.generate("test/grader", str(point.output))).text) for point in points]

    begun = await ge.evaluate(
        [SAMPLE], target=None, evaluators=["t/all"], repeats=Repeats(judge=3), budget=Budget(calls=2)
    )
    run = await ge.evaluate([SAMPLE], resume=begun.id)

    assert sum(usage.model_calls or 0 for usage in begun.key.usage) == 2
    [metric] = run.results[0].metrics
    [usage] = metric.usage
    assert (metric.score, usage.model_calls) == (0.6, 3)
    assert sum(usage.model_calls or 0 for usage in run.key.usage) == 3


async def test_a_batch_evaluator_that_is_no_judge_is_asked_once(ge: GenkitEval) -> None:
    calls: list[int] = []
    judged_by(ge, Grader())
    ge.define_evaluator("t/rank", lambda points: calls.append(1) or [True], batch=True, version="1")

    await one(ge, "t/judge", "t/rank")

    assert calls == [1]
