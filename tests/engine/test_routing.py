"""`route`: one evaluator settles a case, the cheapest of those that its sample calls for."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from genkit_eval import (
    ConfigError,
    DataPoint,
    EvalMetric,
    EvaluatorKind,
    EvaluatorRef,
    GenkitEval,
    InvalidOptions,
    Outcome,
    Score,
    Status,
    UnknownName,
    all_of,
    route,
)
from genkit_eval.engine import make_plan
from genkit_eval_heuristics import heuristics

pytestmark = pytest.mark.anyio


class Threshold(BaseModel):
    least: float = 0.5


@pytest.fixture
def app(ge: GenkitEval) -> GenkitEval:
    ge.registry.install(heuristics())

    @ge.define_evaluator(
        "t/judge", kind="agentic", is_billed=True, low=0, high=1, metadata={"models": {"judge": "p/m"}}
    )
    async def judge(point: DataPoint, options: Threshold) -> Score:
        decided = Score.passed if options.least <= 0.7 else Score.failed
        return decided(0.7, reason="rather good")

    ge.define_evaluator("t/no_verdict", lambda point: 0.3)
    ge.define_evaluator("t/raises", lambda point: 1 / 0)
    return ge


async def settle(
    ge: GenkitEval, expect: dict[str, Any] | None, ref: EvaluatorRef, output: str = "shipped"
) -> EvalMetric:
    point = {"output": output} | ({} if expect is None else {"expect": expect})
    [metric] = await ge.score(DataPoint.model_validate(point), ref)
    return metric


@pytest.mark.parametrize(
    ("expect", "decider", "status"),
    [
        ({"label": "shipped"}, "rule/label_match", Status.PASS),
        ({"label": "lost"}, "rule/label_match", Status.FAIL),
        ({"phrases": ["ship"]}, "rule/contains_all", Status.PASS),
        ({"phrases": ["ship", "tomorrow"]}, "rule/contains_all", Status.FAIL),
        ({"metric": "heuristic/json_validity"}, "heuristic/json_validity", Status.FAIL),
        ({"metric": "/evaluator/t/judge"}, "t/judge", Status.PASS),
        ({}, "t/judge", Status.PASS),
        (None, "t/judge", Status.PASS),
        ({"phrases": []}, "t/judge", Status.PASS),
        ({"label": "shipped", "phrases": ["lost"]}, "rule/label_match", Status.PASS),
        ({"metric": "t/judge", "phrases": ["lost"]}, "rule/contains_all", Status.FAIL),
    ],
)
async def test_what_a_sample_expects_says_who_decides(
    app: GenkitEval, expect: dict[str, Any] | None, decider: str, status: Status
) -> None:
    metric = await settle(app, expect, route(judge="t/judge"))

    assert metric.details is not None
    assert (metric.details["decidedBy"], metric.status) == (decider, status)
    assert str(metric.rationale).startswith(f"{decider}: ")
    assert metric.findings[0].text == decider
    assert metric.score is (status is Status.PASS)


async def test_what_the_decider_said_stands_in_the_findings(app: GenkitEval) -> None:
    metric = await settle(app, {"phrases": ["ship", "tomorrow"]}, route())

    assert [(finding.text, finding.passed) for finding in metric.findings] == [
        ("rule/contains_all", False),
        ("ship", True),
        ("tomorrow", False),
    ]
    assert metric.findings[0].details == {"outcome": "VERDICT", "score": 0.5}


async def test_nobody_decides_where_nothing_is_expected_and_there_is_no_judge(app: GenkitEval) -> None:
    metric = await settle(app, None, route())

    assert (metric.ended, metric.details) == (Outcome.INCONCLUSIVE, None)


@pytest.mark.parametrize(
    ("metric", "ended", "told"),
    [
        ("t/no_verdict", Outcome.FAILED, "give it a threshold"),
        ("t/raises", Outcome.FAILED, "ZeroDivisionError"),
        ("heuristic/token_f1", Outcome.INCONCLUSIVE, "no reference was given"),
        ("t/unknown", Outcome.FAILED, "unknown evaluator 't/unknown'"),
    ],
)
async def test_what_the_decider_cannot_settle_is_not_settled(
    app: GenkitEval, metric: str, ended: Outcome, told: str
) -> None:
    found = await settle(app, {"metric": metric}, route(judge="t/judge"))

    assert found.ended is ended
    assert told in str(found.error or found.rationale)


async def test_its_evaluators_may_be_others_with_options(app: GenkitEval) -> None:
    ref = route(
        judge=app.ref("t/judge", least=0.9),
        label="heuristic/json_validity",
        metrics=(app.ref("heuristic/token_f1", threshold=0.9),),
    )

    judged = await settle(app, None, ref)
    label = await settle(app, {"label": "x"}, ref, output="[1]")
    near = {"output": "the red house", "reference": "red house door", "expect": {"metric": "heuristic/token_f1"}}
    [metric] = await app.score(DataPoint.model_validate(near), ref)

    assert judged.status is Status.FAIL
    assert (label.status, label.details and label.details["decidedBy"]) == (Status.PASS, "heuristic/json_validity")
    assert metric.status is Status.FAIL


@pytest.mark.parametrize(
    ("ref", "error", "told"),
    [
        (route(judge="t/juge"), UnknownName, "did you mean 't/judge'"),
        (route(label="t/labels"), UnknownName, "t/labels"),
        (route(judge=EvaluatorRef("t/judge", {"last": 1})), InvalidOptions, "did you mean 'least'"),
        (EvaluatorRef("route", {"jugde": "t/judge"}), InvalidOptions, "did you mean 'judge'"),
        (route(judge="route"), ConfigError, "choose another"),
    ],
)
async def test_what_cannot_decide_is_refused_before_the_run(
    app: GenkitEval, ref: EvaluatorRef, error: type[Exception], told: str
) -> None:
    with pytest.raises(error, match=told):
        await app.evaluate([{"input": 1, "output": "a"}], target=None, evaluators=[ref])

    assert app.runs.list() == []


async def test_samples_that_nobody_can_settle_are_told_before_the_run(
    app: GenkitEval, caplog: pytest.LogCaptureFixture
) -> None:
    samples: list[dict[str, Any]] = [
        {"testCaseId": "wrong", "input": 1, "output": "a", "expect": {"metric": "rule/contain_all"}},
        {"testCaseId": "none", "input": 2, "output": "b"},
        {"testCaseId": "right", "input": 3, "output": "b", "expect": {"label": "b"}},
    ]

    run = await app.evaluate(samples, target=None, evaluators=[route()])

    assert "2 of 3 samples cannot be judged" in caplog.text
    assert "sample 'wrong': unknown evaluator 'rule/contain_all': did you mean 'rule/contains_all'" in caplog.text
    assert [result.metrics[0].ended for result in run.results] == [
        Outcome.FAILED,
        Outcome.INCONCLUSIVE,
        Outcome.VERDICT,
    ]


async def test_without_the_plugin_of_rules_a_route_still_has_its_judge(ge: GenkitEval) -> None:
    ge.define_evaluator("t/judge", lambda point: True)

    fine = await settle(ge, None, route(judge="t/judge"))
    lacking = await settle(ge, {"label": "a"}, route(judge="t/judge"))

    assert fine.status is Status.PASS
    assert "unknown evaluator 'rule/label_match'" in str(lacking.error)


def test_it_costs_what_its_judge_does_and_its_version_holds_its_evaluators(app: GenkitEval) -> None:
    [dear] = make_plan(app.registry, None, [route(judge="t/judge")]).cells
    [other] = make_plan(app.registry, None, [route(judge=EvaluatorRef("t/judge", {"least": 0.9}))]).cells
    [cheap] = make_plan(app.registry, None, ["route"]).cells

    assert (dear.evaluator.kind, dear.evaluator.is_billed) == (EvaluatorKind.AGENTIC, True)
    assert dear.record().models == {"judge": "p/m"}
    assert (cheap.evaluator.kind, cheap.evaluator.is_billed) == (EvaluatorKind.HEURISTIC, False)
    assert len({dear.version, other.version, cheap.version}) == 3


async def test_a_run_goes_on_with_the_same_route(app: GenkitEval) -> None:
    calls = 0

    @app.flow("f")
    def flow(x: int) -> str:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise KeyboardInterrupt
        return "shipped"

    samples = [{"input": i, "expect": {"label": "shipped"}} for i in range(5)]
    with pytest.raises(KeyboardInterrupt):
        await app.evaluate(samples, target="f", evaluators=[route(judge="t/judge")])
    [key] = app.runs.list()

    run = await app.evaluate(samples, resume=key.eval_run_id)

    assert run.summary()[0].passed == 5


async def test_an_apps_own_route_is_left_alone(app: GenkitEval) -> None:
    app.define_evaluator("route", lambda point: "mine")

    [metric] = await app.score(DataPoint(output="a"), "route")

    assert metric.score == "mine"


def test_a_route_may_be_a_part(app: GenkitEval) -> None:
    app.define_combination("t/both", all_of(route(judge="t/judge"), "heuristic/json_validity"))

    assert app.registry.evaluator("t/both").is_billed
