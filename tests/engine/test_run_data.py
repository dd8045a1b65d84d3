"""What flows and evaluators are given, and what is made of what they give."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import anyio
import pytest

from genkit_eval import DataPoint, GenkitEval, Limits, Outcome, Status, record_context
from tests.engine.cases import define_same, same, samples

pytestmark = pytest.mark.anyio


@pytest.mark.case("run/falsy-scores-kept")
async def test_zero_and_false_are_scores(ge: GenkitEval) -> None:
    ge.define_evaluator("t/number", lambda point: [0, 0.0, False, 1][point.input])

    run = await ge.evaluate([{"input": i, "output": 1} for i in range(4)], target=None, evaluators=["t/number"])

    assert [result.metrics[0].score for result in run.results] == [0, 0.0, False, 1]
    (summary,) = run.summary()
    assert (summary.verdict, summary.scored, summary.mean) == (4, 3, pytest.approx(1 / 3))


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
