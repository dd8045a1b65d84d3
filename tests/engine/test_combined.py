"""Combinations as evaluators of an app: their parts are asked as if they stood alone."""

from __future__ import annotations

import anyio
import pytest
from pydantic import BaseModel

from genkit_eval import (
    ConfigError,
    DataPoint,
    EvaluatorKind,
    EvaluatorRef,
    GenkitEval,
    InvalidOptions,
    Outcome,
    Score,
    Status,
    UnknownName,
    all_of,
    any_of,
    gate,
    negate,
    weighted,
)

pytestmark = pytest.mark.anyio

SAMPLES = [{"input": text, "output": text} for text in ("ab", "abcdef", "xyz", "")]


class Most(BaseModel):
    most: int = 3


@pytest.fixture
def asked() -> list[str]:
    return []


@pytest.fixture
def app(ge: GenkitEval, asked: list[str]) -> GenkitEval:
    @ge.define_evaluator("t/short", kind="deterministic", non_empty=["output"])
    def short(point: DataPoint, options: Most) -> bool:
        return len(point.output) <= options.most

    @ge.define_evaluator("t/a", kind="deterministic")
    def has_a(point: DataPoint) -> bool:
        return "a" in point.output

    @ge.define_evaluator(
        "t/judge", kind="agentic", is_billed=True, low=0, high=1, metadata={"models": {"judge": "p/m"}}
    )
    async def judge(point: DataPoint) -> Score:
        asked.append(point.output)
        await anyio.sleep(0)
        return Score.passed(0.9, reason="fine")

    return ge


async def statuses(ge: GenkitEval, name: str) -> dict[str, str]:
    """How each output was judged."""
    run = await ge.evaluate(SAMPLES, target=None, evaluators=[name])
    ended = {}
    for result in run.results:
        [metric] = result.metrics
        ended[result.output] = str(metric.status if metric.ended is Outcome.VERDICT else metric.ended)
    return ended


async def test_parts_are_guarded_and_take_their_options(app: GenkitEval) -> None:
    app.define_combination("t/both", all_of(app.ref("t/short", most=2), "t/a"))

    assert await statuses(app, "t/both") == {"ab": "PASS", "abcdef": "FAIL", "xyz": "FAIL", "": "FAIL"}


async def test_combinations_may_be_parts(app: GenkitEval) -> None:
    app.define_combination("t/odd", any_of(negate("t/a"), all_of("t/short", "t/a")))

    assert await statuses(app, "t/odd") == {"ab": "PASS", "abcdef": "FAIL", "xyz": "PASS", "": "PASS"}


async def test_behind_a_closed_gate_nobody_is_asked(app: GenkitEval, asked: list[str]) -> None:
    app.define_combination("t/cheap_first", gate("t/short", "t/judge"))

    ended = await statuses(app, "t/cheap_first")

    assert ended == {"ab": "PASS", "abcdef": "FAIL", "xyz": "PASS", "": "INCONCLUSIVE"}
    assert sorted(asked) == ["ab", "xyz"]


async def test_cheap_rules_and_a_judge_are_weighed(app: GenkitEval) -> None:
    app.define_combination("t/weighed", weighted(("t/a", 1), ("t/judge", 3), threshold=0.7))

    [metric] = await app.score(DataPoint(output="xyz"), "t/weighed")

    assert metric.score == pytest.approx(0.675)
    assert metric.status is Status.FAIL
    assert [finding.text for finding in metric.findings] == ["t/a", "t/judge"]


async def test_a_part_that_raises_is_the_combinations_failure_and_no_others(app: GenkitEval) -> None:
    @app.define_evaluator("t/fragile")
    def fragile(point: DataPoint) -> bool:
        raise ValueError("no " + point.output)

    app.define_combination("t/with_fragile", all_of("t/a", "t/fragile"))

    run = await app.evaluate(SAMPLES[:1], target=None, evaluators=["t/with_fragile", "t/a"])

    broke, fine = run.results[0].metrics
    assert broke.ended is Outcome.FAILED
    assert "t/fragile: ValueError: no ab" in str(broke.error)
    assert fine.status is Status.PASS


def test_it_costs_and_reads_what_its_parts_do(app: GenkitEval) -> None:
    app.define_combination("t/dear", all_of("t/short", "t/judge"))
    app.define_combination("t/cheap", all_of("t/short", "t/a"))
    dear, cheap = app.registry.evaluator("t/dear"), app.registry.evaluator("t/cheap")

    assert (dear.kind, dear.is_billed, dear.is_async) == (EvaluatorKind.AGENTIC, True, True)
    assert dear.models == {"judge": "p/m"}
    assert (cheap.kind, cheap.is_billed, cheap.is_async) == (EvaluatorKind.DETERMINISTIC, False, False)
    assert cheap.reads == ("output",)
    assert cheap.definition == "all_of(t/short, t/a)"


def test_its_version_holds_those_of_its_parts(app: GenkitEval) -> None:
    made = {
        "t/1": all_of("t/short", "t/a"),
        "t/2": all_of("t/short", "t/a"),
        "t/3": any_of("t/short", "t/a"),
        "t/4": all_of(app.ref("t/short", most=4), "t/a"),
        "t/5": weighted(("t/short", 1), ("t/a", 1)),
        "t/6": weighted(("t/short", 1), ("t/a", 2)),
    }
    for name, combination in made.items():
        app.define_combination(name, combination)

    versions = [app.registry.evaluator(name).version for name in made]

    assert versions[0] == versions[1]
    assert len(set(versions[1:])) == 5


def test_a_part_that_is_not_there_is_named(app: GenkitEval) -> None:
    with pytest.raises(UnknownName, match="did you mean 't/short'"):
        app.define_combination("t/x", all_of("t/shor"))
    with pytest.raises(InvalidOptions, match="did you mean 'most'"):
        app.define_combination("t/x", all_of("t/a", EvaluatorRef("t/short", {"mos": 1})))


def test_what_judges_all_cases_at_once_is_no_part(app: GenkitEval) -> None:
    app.define_evaluator("t/batch", lambda points: [True for _ in points], batch=True)

    with pytest.raises(ConfigError, match="judges all cases at once"):
        app.define_combination("t/x", negate("t/batch"))


async def test_what_a_part_needs_is_told_before_the_run(app: GenkitEval) -> None:
    app.define_evaluator("t/lacking", lambda point: True, needs="needs a judge: give one")
    app.define_evaluator("t/wrong", lambda point: True, check_options=lambda options: "no such judge")
    app.define_combination("t/x", all_of("t/a", "t/lacking"))
    app.define_combination("t/y", all_of("t/a", "t/wrong"))

    with pytest.raises(ConfigError, match="evaluator 't/x' needs a judge: give one"):
        await app.evaluate(SAMPLES, target=None, evaluators=["t/x"])
    with pytest.raises(ConfigError, match="evaluator 't/y': t/wrong: no such judge"):
        await app.evaluate(SAMPLES, target=None, evaluators=["t/y"])
