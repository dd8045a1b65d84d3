"""What a run costs is kept by who asked and which model: in the run's key, over sessions, and in the report."""

from __future__ import annotations

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
    ModelError,
    Price,
    Reply,
    Usage,
    record_usage,
)
from genkit_eval.engine.asking.usage import added
from genkit_eval.report.lines import rendered
from genkit_eval.report.run_report import run_lines
from genkit_eval.report.usage_table import usage_table
from genkit_eval.stored import ModelUsage
from genkit_eval.testing import ScriptedModel

pytestmark = pytest.mark.anyio

TEN = Usage(input_tokens=6, output_tokens=4)
PRICES = {"house/writer": Price(100_000, 200_000)}
"""Six tokens of a tenth of a dollar, and four of a fifth: 1.40 dollars a call."""


def scripted(text: str, name: str, usage: Usage | None = TEN) -> ScriptedModel:
    return ScriptedModel(Reply(text=text, finish_reason="stop", usage=usage), name=name)


def judge_by(ge: GenkitEval, name: str, model: ScriptedModel, *, calls: int = 1) -> str:
    @ge.define_evaluator(name)
    async def judge(point: DataPoint) -> bool:
        for number in range(calls):
            await Judge(model).choose([Message(role="user", content=f"{point.output}, {number}")], ["yes", "no"])
        return True

    return name


def samples(count: int) -> list[dict[str, Any]]:
    return [{"testCaseId": f"s{i}", "input": f"question {i}", "output": i} for i in range(count)]


def table(usage: Sequence[ModelUsage]) -> list[tuple[Any, ...]]:
    return [
        (spent.used_by, spent.model, spent.model_calls, spent.input_tokens, spent.output_tokens, spent.cost_usd)
        for spent in usage
    ]


@pytest.fixture
def ge(tmp_path: Path) -> GenkitEval:
    return GenkitEval(root=tmp_path / ".genkit", prices=PRICES)


async def test_tokens_that_a_server_read_before_and_keeps_are_counted(ge: GenkitEval) -> None:
    usage = Usage(input_tokens=6, output_tokens=4, cached_tokens=1, written_tokens=5)
    judge_by(ge, "t/once", scripted("yes", "house/judge", usage))

    run = await ge.evaluate(samples(3), evaluators=["t/once"])

    [spent] = run.key.usage
    assert (spent.input_tokens, spent.cached_tokens, spent.written_tokens) == (18, 3, 15)


async def test_target_and_evaluators_are_told_apart(ge: GenkitEval) -> None:
    ge.define_models("house", {"writer": scripted("An answer.", "house/writer")})
    judge_by(ge, "t/once", scripted("yes", "house/judge"))
    judge_by(ge, "t/twice", scripted("yes", "house/judge", usage=None), calls=2)

    run = await ge.evaluate(samples(5), target="/model/house/writer", evaluators=["t/once", "t/twice"])

    assert table(run.key.usage) == [
        ("target", "house/writer", 5, 30, 20, pytest.approx(7.0)),
        ("/evaluator/t/once", "house/judge", 5, 30, 20, None),
        ("/evaluator/t/twice", "house/judge", 10, None, None, None),
    ]
    usage = run.results[0].usage
    assert usage is not None
    assert (usage.model_calls, usage.input_tokens, usage.cost_usd) == (1, 6, pytest.approx(1.4))
    assert ge.runs.load(run.id).key.usage == run.key.usage


@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_what_a_flow_reports_is_the_targets(ge: GenkitEval, kind: str) -> None:
    def flow(x: str) -> str:
        record_usage(input_tokens=3, output_tokens=1, cost_usd=0.25)
        return x

    async def async_flow(x: str) -> str:
        return flow(x)

    ge.define_flow("f", flow if kind == "sync" else async_flow)

    run = await ge.evaluate(samples(4), target="f", evaluators=[])

    assert table(run.key.usage) == [("target", "/flow/f", 4, 12, 4, pytest.approx(1.0))]


async def test_what_a_flow_asks_through_the_run_is_counted_once(ge: GenkitEval) -> None:
    writer = scripted("An answer.", "house/writer")
    ge.define_models("house", {"writer": writer})

    @ge.flow("f")
    async def flow(x: str) -> str:
        return (await ge.generate("house/writer", x)).text

    run = await ge.evaluate(samples(3), target="f", evaluators=[], budget=Budget(usd=100))

    assert table(run.key.usage) == [("target", "/flow/f", 3, 18, 12, pytest.approx(4.2))]
    assert run.results[2].usage is not None
    assert run.results[2].usage.model_calls == 1


async def test_a_target_that_fails_has_cost_something_too(ge: GenkitEval) -> None:
    cut_off = Reply(text="Cut o", finish_reason="length", usage=TEN)
    ge.define_models("house", {"writer": ScriptedModel(cut_off, name="house/writer")})

    run = await ge.evaluate(samples(2), target="/model/house/writer", evaluators=[])

    assert all(result.error for result in run.results)
    assert table(run.key.usage) == [("target", "house/writer", 2, 12, 8, pytest.approx(2.8))]


async def test_the_sessions_of_a_run_add_up(ge: GenkitEval) -> None:
    """Each evaluator asks three times about a case, and the budget ends it in the middle of one."""
    writer, judge = scripted("An answer.", "house/writer"), scripted("yes", "house/judge")
    ge.define_models("house", {"writer": writer})
    judge_by(ge, "t/judge", judge, calls=3)
    more: dict[str, Any] = {"target": "/model/house/writer", "evaluators": ["t/judge"], "limits": Limits(1)}

    stopped = await ge.evaluate(samples(6), budget=Budget(calls=10), **more)
    resumed = await ge.evaluate(samples(6), resume=stopped.id)

    assert sum(spent.model_calls or 0 for spent in stopped.key.usage) == 10
    assert resumed.complete
    assert (len(writer.calls), len(judge.calls)) == (6, 18)
    assert table(resumed.key.usage) == [
        ("target", "house/writer", 6, 36, 24, pytest.approx(8.4)),
        ("/evaluator/t/judge", "house/judge", 18, 108, 72, None),
    ]


async def test_what_failed_in_an_earlier_session_was_paid_too(ge: GenkitEval) -> None:
    writer = ScriptedModel(Reply(text="Cut o", finish_reason="length", usage=TEN), name="house/writer")
    ge.define_models("house", {"writer": writer})

    stopped = await ge.evaluate(
        samples(5), target="/model/house/writer", evaluators=[], limits=Limits(1), budget=Budget(calls=3)
    )
    resumed = await ge.evaluate(samples(5), resume=stopped.id)

    assert table(resumed.key.usage) == [("target", "house/writer", 5, 30, 20, pytest.approx(7.0))]


async def test_a_run_that_is_cancelled_says_what_it_cost_so_far(ge: GenkitEval) -> None:
    judge = scripted("yes", "house/judge")

    @ge.define_evaluator("t/judge")
    async def hangs_at_the_third(point: DataPoint) -> bool:
        if point.output == 2:
            scope.cancel()
            await anyio.sleep_forever()
        await Judge(judge).choose([Message(role="user", content=str(point.output))], ["yes", "no"])
        return True

    with anyio.CancelScope() as scope:
        await ge.evaluate(samples(5), target=None, evaluators=["t/judge"], limits=Limits(1))

    (key,) = ge.runs.list()
    assert table(ge.runs.load(key.eval_run_id).key.usage) == [("/evaluator/t/judge", "house/judge", 2, 12, 8, None)]


async def test_progress_tells_the_cost_and_why_a_run_is_ending(ge: GenkitEval) -> None:
    told = []
    ge.define_models("house", {"writer": scripted("An answer.", "house/writer")})

    await ge.evaluate(
        samples(9),
        target="/model/house/writer",
        evaluators=[],
        limits=Limits(1),
        budget=Budget(calls=3),
        progress=told.append,
    )

    assert (told[0].cost_usd, told[0].stopping) == (None, None)
    assert (told[-1].cost_usd, told[-1].stopping) == (pytest.approx(4.2), "the budget is spent: 3 of 3 calls")


async def test_a_reply_of_the_cache_costs_nothing_and_is_counted(tmp_path: Path) -> None:
    class Known(ScriptedModel):
        identity = "house/judge on this desk"

    first, second = (GenkitEval(root=tmp_path / name) for name in ("one", "two"))
    for ge in (first, second):
        judge_by(ge, "t/judge", Known(Reply(text="yes", finish_reason="stop", usage=TEN), name="house/judge"))

    await first.evaluate(samples(3), target=None, evaluators=["t/judge"])
    run = await second.evaluate(samples(3), target=None, evaluators=["t/judge"])

    (spent,) = run.key.usage
    assert (spent.cached_calls, spent.model_calls, spent.input_tokens, spent.cost_usd) == (3, 0, None, 0.0)


@pytest.mark.parametrize("cost", [1e308, float("inf"), float("nan")])
async def test_a_model_that_names_no_real_price_costs_no_run(ge: GenkitEval, cost: float) -> None:
    usage = Usage.trusted({"input_tokens": 1, "cost_usd": cost})
    key = judge_by(ge, "own/dear", scripted('{"label": "yes"}', "house/judge", usage), calls=2)

    run = await ge.evaluate(samples(3), target=None, evaluators=[key])

    assert [result.metrics[0].status for result in run.results] == ["PASS"] * 3
    assert [spent.cost_usd for spent in run.key.usage] == [None]


async def test_the_report_has_a_table_of_it(ge: GenkitEval) -> None:
    ge.define_models("house", {"writer": scripted("An answer.", "house/writer")})
    judge_by(ge, "t/judge", scripted("yes", "house/judge", usage=None))

    run = await ge.evaluate(samples(5), target="/model/house/writer", evaluators=["t/judge"])

    lines = [" ".join(text.split()) for text in rendered(run_lines(run, width=100), colour=False)]
    start = lines.index("asked by model calls tokens in out US $")
    assert lines[start + 1 : start + 5] == [
        "target house/writer 5 30 20 7.00",
        "t/judge house/judge 5 ? ? ?",
        "in all 7.00 US dollars, and what is not known of 1 row",
        "?: the server did not say, or no price is known",
    ]


async def test_a_run_that_asks_no_model_has_no_such_table(ge: GenkitEval) -> None:
    ge.define_evaluator("t/yes", lambda point: True)

    run = await ge.evaluate(samples(2), target=None, evaluators=["t/yes"])

    assert run.key.usage == []
    assert not any("asked by" in text for text in rendered(run_lines(run, width=100), colour=False))


async def test_a_judge_that_fails_was_asked(ge: GenkitEval) -> None:
    judge_by(ge, "t/judge", ScriptedModel(ModelError("no", kind="bad_request"), name="house/judge"))

    run = await ge.evaluate(samples(3), target=None, evaluators=["t/judge"])

    assert table(run.key.usage) == [("/evaluator/t/judge", "house/judge", 3, None, None, None)]


async def test_calls_that_were_never_sent_are_not_counted(ge: GenkitEval) -> None:
    """Once a key was refused, nobody is asked any more; and who waits for a turn may run out of time."""
    judge = ScriptedModel(ModelError("no", kind="auth", status=401), name="house/judge")
    judge_by(ge, "t/judge", judge)

    run = await ge.evaluate(samples(40), target=None, evaluators=["t/judge"])

    assert sum(spent.model_calls or 0 for spent in run.key.usage) == len(judge.calls) < 40
    unasked = [metric for result in run.results for metric in result.metrics if not metric.usage]
    assert len(unasked) == 40 - len(judge.calls)


class Stalling:
    """A model that answers nobody."""

    name = "house/writer"

    async def generate(self, messages: Sequence[Message], **_: object) -> Reply:
        await anyio.sleep_forever()
        raise AssertionError


async def test_a_target_that_took_too_long_was_asked(ge: GenkitEval) -> None:
    ge.define_models("house", {"writer": Stalling()})

    run = await ge.evaluate(samples(3), target="/model/house/writer", evaluators=[], limits=Limits(target_seconds=0.05))

    assert all(result.error for result in run.results)
    assert table(run.key.usage) == [("target", "house/writer", 3, None, None, pytest.approx(0.0))]


async def test_what_a_target_has_asked_before_the_run_ended_is_counted(ge: GenkitEval) -> None:
    writer = scripted("An answer.", "house/writer")
    ge.define_models("house", {"writer": writer})

    @ge.flow("f")
    async def flow(x: str) -> str:
        await ge.generate("house/writer", x)
        return (await ge.generate("house/writer", x)).text

    run = await ge.evaluate(samples(3), target="f", evaluators=[], limits=Limits(1), budget=Budget(calls=3))
    again = await ge.evaluate(samples(3), resume=run.id, budget=Budget(calls=1))
    resumed = await ge.evaluate(samples(3), resume=run.id)

    assert not run.complete
    assert sum(spent.model_calls or 0 for spent in run.key.usage) == 3
    assert sum(spent.model_calls or 0 for spent in again.key.usage) == 4
    assert resumed.complete
    assert sum(spent.model_calls or 0 for spent in resumed.key.usage) == len(writer.calls) == 8


async def test_what_was_sent_again_until_the_run_ended_was_asked(ge: GenkitEval) -> None:
    yes = Reply(text="yes", finish_reason="stop", usage=TEN)
    busy = ModelError("busy", kind="rate_limit", status=429, retry_after_seconds=60)
    judge = ScriptedModel([yes, yes, yes, busy, *[yes] * 5], name="house/judge")
    judge_by(ge, "t/judge", judge, calls=2)

    run = await ge.evaluate(samples(4), target=None, evaluators=["t/judge"], limits=Limits(1), budget=Budget(calls=4))
    resumed = await ge.evaluate(samples(4), resume=run.id)

    assert not run.complete
    assert sum(spent.model_calls or 0 for spent in run.key.usage) == 4
    assert resumed.complete
    (spent,) = resumed.key.usage
    assert (spent.model_calls, spent.input_tokens) == (len(judge.calls), 8 * 6)
    assert "unbilled" not in resumed.key.to_json()


@pytest.mark.parametrize(
    ("parts", "total"),
    [
        ([], {}),
        ([Usage(input_tokens=1), Usage(output_tokens=2)], {"input_tokens": 1, "output_tokens": 2}),
        ([Usage(model_calls=1, cost_usd=1.0), Usage(model_calls=1)], {"model_calls": 2}),
        (
            [Usage(model_calls=1, cost_usd=1.0), Usage(model_calls=0, cached_calls=2)],
            {"model_calls": 1, "cached_calls": 2, "cost_usd": 1.0},
        ),
        ([Usage(model_calls=1, cost_usd=0.1)] * 3, {"model_calls": 3, "cost_usd": 0.3}),
    ],
)
def test_what_is_not_known_of_a_part_is_not_known_of_the_sum_of_costs(
    parts: Sequence[Usage], total: dict[str, Any]
) -> None:
    assert added(parts) == total


def test_who_asked_is_readable_at_eighty_columns() -> None:
    spent = ModelUsage(
        model="openai/text-embedding-3-small",
        used_by="/evaluator/genkitEval/answer_similarity",
        model_calls=123,
        cached_calls=45,
        retries=6,
        input_tokens=123456,
    )

    text = list(rendered(usage_table([spent], width=80), colour=False))

    assert all(len(line) <= 80 for line in text)
    assert any("genkitEval/answer_simila" in line for line in text)
