"""Several judges: each judges by itself, and what they say becomes one score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from genkit_eval import ConfigError, EvalMetric, GenkitEval, ModelError, Outcome, Status
from genkit_eval.testing import ScriptedModel, data_point
from genkit_eval_judges import MetricConfig, Panel, judges
from genkit_eval_metrics import genkit_metrics
from tests.plugins.judges.replies import rating, statements, verdicts

NAMES = ("a", "b", "c", "d")
CASE = {"output": "Behind the house.", "reference": "Behind the house, for guests."}
CORRECTNESS = "judge/correctness"


def panel(replies: Sequence[Any], by: Any = "majority") -> Panel:
    return Panel([ScriptedModel(said, name=name) for name, said in zip(NAMES, replies, strict=False)], by=by)


async def score(given: Any, name: str = CORRECTNESS, **options: object) -> EvalMetric:
    ge = GenkitEval(plugins=[judges(judge=given)])
    (metric,) = await ge.score(data_point(**CASE), ge.ref(name, **options))
    return metric


def down() -> ModelError:
    return ModelError("no such model", kind="bad_request")


@pytest.mark.anyio
async def test_most_judges_decide_and_the_number_is_the_median() -> None:
    metric = await score(panel([rating(0.9, "all there"), rating(0.2, "guests are missing"), rating(0.6, "mostly")]))

    assert (metric.score, metric.status) == (0.6, Status.PASS)
    assert metric.rationale == "2 PASS, 1 FAIL; a: all there; b: guests are missing; c: mostly"


@pytest.mark.anyio
async def test_each_opinion_and_how_far_they_agree_stand_in_the_details() -> None:
    metric = await score(panel([rating(0.9), rating(0.2), rating(0.6)]))

    found = metric.details["panel"]
    assert found["by"] == "majority"
    assert found["agreement"] == pytest.approx(2 / 3)
    assert found["spread"] == pytest.approx(0.7)
    assert [(item["judge"], item["score"], item["status"]) for item in found["judges"]] == [
        ("a", 0.9, "PASS"),
        ("b", 0.2, "FAIL"),
        ("c", 0.6, "PASS"),
    ]


@pytest.mark.anyio
async def test_an_even_split_is_undecided() -> None:
    metric = await score([ScriptedModel(rating(1.0), name="a"), ScriptedModel(rating(0.2), name="b")])

    assert metric.outcome is Outcome.UNDECIDED
    assert metric.score == pytest.approx(0.6)
    assert metric.details["panel"]["agreement"] == 0.5


@pytest.mark.anyio
@pytest.mark.parametrize(("threshold", "status"), [(0.5, Status.FAIL), (0.4, Status.PASS)])
async def test_the_mean_is_held_against_the_threshold(threshold: float, status: Status) -> None:
    given = panel([rating(0.1), rating(0.6), rating(0.65)], by="mean")

    metric = await score(given, threshold=threshold)

    assert metric.score == pytest.approx(0.45)
    assert metric.status is status


@pytest.mark.anyio
async def test_a_mean_between_the_bands_is_undecided() -> None:
    metric = await score(panel([rating(1.0), rating(0.2)], by="mean"), bands=True)

    assert metric.outcome is Outcome.UNDECIDED
    assert metric.score == pytest.approx(0.6)


@pytest.mark.anyio
async def test_a_judge_that_failed_has_no_vote() -> None:
    metric = await score(panel([rating(0.9), down(), rating(0.7)]))

    assert (metric.score, metric.status) == (pytest.approx(0.8), Status.PASS)
    assert metric.rationale.startswith("2 PASS, 1 failed; ")
    assert metric.details["panel"]["judges"][1]["error"] == "LLM judge error: no such model"


@pytest.mark.anyio
async def test_a_panel_of_which_half_failed_has_failed() -> None:
    metric = await score(panel([rating(0.9), down()]))

    assert metric.outcome is Outcome.FAILED
    assert metric.error == "1 of 2 judges failed; b: LLM judge error: no such model"


@pytest.mark.anyio
async def test_a_case_that_most_judges_cannot_judge_is_inconclusive() -> None:
    metric = await score(panel([rating(None, "no answer"), rating(None, "no answer"), rating(1.0)]))

    assert metric.outcome is Outcome.INCONCLUSIVE
    assert metric.rationale.startswith("2 inconclusive, 1 PASS; ")


@pytest.mark.anyio
async def test_what_is_missing_costs_none_of_them_a_call() -> None:
    given = panel([[], []])
    ge = GenkitEval(plugins=[judges(judge=given)])

    (metric,) = await ge.score(data_point(output="Behind the house."), CORRECTNESS)

    assert metric.outcome is Outcome.INCONCLUSIVE
    assert metric.rationale == "there is no reference to judge by"


@pytest.mark.anyio
async def test_findings_say_whose_they_are() -> None:
    replies = [[statements("It is behind the house."), verdicts(value)] for value in (True, False, True)]
    ge = GenkitEval(plugins=[judges(judge=panel(replies))])

    (metric,) = await ge.score(data_point(output="It is behind.", context=["Behind."]), "judge/faithfulness")

    assert [(item.details["judge"], item.passed) for item in metric.findings] == [
        ("a", True),
        ("b", False),
        ("c", True),
    ]


@pytest.mark.anyio
async def test_the_run_says_what_each_judge_cost(tmp_path: Any) -> None:
    ge = GenkitEval(plugins=[judges(judge=panel([rating(0.9), rating(0.8)]))], root=tmp_path)

    run = await ge.evaluate([{"testCaseId": "s", "input": "?", **CASE}], target=None, evaluators=[CORRECTNESS])

    asked = [(item.used_by, item.model, item.model_calls) for item in run.key.usage or ()]
    assert asked == [(f"/evaluator/{CORRECTNESS}", "a", 1), (f"/evaluator/{CORRECTNESS}", "b", 1)]
    assert sorted(item.model for item in run.results[0].metrics[0].usage or ()) == ["a", "b"]
    assert run.key.evaluators[0].models == {"judge": "a", "judge 2": "b"}


def version(given: Any) -> str:
    return GenkitEval(plugins=[judges(judge=given)]).registry.evaluator(CORRECTNESS).version


def test_who_sits_on_it_and_how_it_decides_is_in_the_version() -> None:
    one, two, three = (ScriptedModel("", name=name) for name in "abc")

    versions = [version(given) for given in (one, [one, two], Panel([one, two], by="mean"), [one, three])]

    assert len(set(versions)) == 4
    assert version([one]) == version(one)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ([], "a panel of no judges"),
        (["a/x", "a/x"], "2 judges of the name 'a/x'"),
        (Panel(["a/x", "b/y"], by="loudest"), "by 'majority' or 'mean', not by 'loudest'"),  # type: ignore[arg-type]
        (["a/x", 5], "5 cannot be a judge"),
    ],
)
def test_what_is_no_panel_is_refused(given: Any, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        GenkitEval(plugins=[judges(judge=given)])


@pytest.mark.anyio
async def test_a_judge_that_nobody_defines_is_found_before_anything_is_paid(tmp_path: Any) -> None:
    known = ScriptedModel(rating(1.0), name="a")
    ge = GenkitEval(plugins=[judges(judge=[known, "nobody/here"])], root=tmp_path)

    with pytest.raises(ConfigError, match="nobody"):
        await ge.evaluate([{"input": "?", **CASE}], target=None, evaluators=[CORRECTNESS])

    assert known.calls == []


@pytest.mark.anyio
async def test_genkits_metrics_take_panels_too_and_one_of_them_its_own() -> None:
    yes, no = '{"reason": "harm", "verdict": true}', '{"reason": "none", "verdict": false}'
    own = MetricConfig(metric="maliciousness", judge=panel([yes, no, no], by="mean"))
    ge = GenkitEval(plugins=[genkit_metrics(metrics=[own])])

    (metric,) = await ge.score(data_point(**CASE), "genkitEval/maliciousness")

    assert metric.score == pytest.approx(1 / 3)
    # its threshold is its own, so that most of the judges decide
    assert metric.status is Status.PASS
