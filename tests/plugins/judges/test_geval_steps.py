"""The steps of G-Eval: made of the criterion once, kept, and edited."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from genkit_eval import Budget, ConfigError, GenkitEval, JudgeError, Limits, Outcome, RunState, Status
from genkit_eval.testing import ScriptedModel, data_point
from genkit_eval_judges import GEval, judges
from tests.plugins.judges.replies import rating

CRITERION = "The sentences of {{response}} build on each other."
FIRST = {"steps": ["Read [response] once.", "Look at links between sentences.", "Rate from 1 to 5."]}
GIVEN = {"output": "It rained. So the game was off."}


def judging(replies: Any, root: Path, **said: Any) -> tuple[GenkitEval, ScriptedModel]:
    """An app with one G-Eval without steps, and the model that is asked."""
    model = ScriptedModel(replies)
    own = GEval(**{"name": "coherence", "criterion": CRITERION, **said})
    return GenkitEval(plugins=[judges(judge=model, own=[own])], root=root), model


@pytest.mark.anyio
async def test_steps_are_made_of_the_criterion_once_and_kept(tmp_path: Path) -> None:
    ge, model = judging([json.dumps(FIRST), rating(4), rating(2)], tmp_path)

    run = await ge.evaluate([GIVEN, GIVEN], target=None, evaluators=["geval/coherence"])

    # whichever is asked first
    assert sorted(result.metrics[0].score for result in run.results) == [0.25, 0.75]
    assert len(model.calls) == 3
    assert "The sentences of [response] build on each other." in model.calls[0].text
    assert "2. Look at links between sentences." in model.calls[1].text
    other, asked = judging([rating(5)], tmp_path)
    again = await other.evaluate([GIVEN], target=None, evaluators=["geval_coherence"])
    assert [result.metrics[0].score for result in again.results] == [1.0]
    assert len(asked.calls) == 1
    assert {metric.version for result in (*run.results, *again.results) for metric in result.metrics} == {
        ge.registry.evaluator("geval/coherence").version
    }


@pytest.mark.anyio
async def test_an_empty_answer_costs_no_call_even_without_steps(tmp_path: Path) -> None:
    ge, model = judging([json.dumps(FIRST), rating(4)], tmp_path)

    (empty,) = await ge.score(data_point(output=" "), "geval_coherence")
    asked = len(model.calls)
    (rated,) = await ge.score(data_point(**GIVEN), "geval_coherence")

    assert (empty.outcome, asked) == (Outcome.INCONCLUSIVE, 0)
    assert (rated.score, len(model.calls)) == (0.75, 2)


@pytest.mark.anyio
async def test_steps_that_were_edited_are_gone_by_and_are_another_version(tmp_path: Path) -> None:
    ge, _ = judging([json.dumps(FIRST), rating(4)], tmp_path)
    await ge.score(data_point(**GIVEN), "geval/coherence")
    (file,) = (tmp_path / "prepared").iterdir()
    file.write_text(file.read_text().replace("Look at links", "Count links"))

    other, model = judging([rating(4)], tmp_path)
    await other.score(data_point(**GIVEN), "geval/coherence")

    assert "Count links between sentences." in model.calls[0].text
    versions = {item.registry.evaluator("geval/coherence").version for item in (ge, other)}
    assert len(versions) == 2


@pytest.mark.anyio
async def test_a_run_tells_of_the_call_that_was_made_beside_it(tmp_path: Path) -> None:
    ge, _ = judging([json.dumps(FIRST), rating(4), rating(4)], tmp_path)

    notices: list[str] = []

    for _ in range(2):
        await ge.evaluate(
            [GIVEN],
            target=None,
            evaluators=["geval/coherence"],
            progress=lambda progress: notices.extend(progress.notices),
        )

    (file,) = (tmp_path / "prepared").iterdir()
    assert [str(file) in notice for notice in notices] == [True]
    assert file.read_text().startswith("# the steps of geval/coherence")


@pytest.mark.anyio
async def test_another_criterion_has_other_steps(tmp_path: Path) -> None:
    ge, _ = judging([json.dumps(FIRST), rating(4)], tmp_path)
    await ge.score(data_point(**GIVEN), "geval/coherence")
    other, model = judging([json.dumps(FIRST), rating(4)], tmp_path, criterion="It is short.")

    await other.score(data_point(**GIVEN), "geval/coherence")

    assert len(model.calls) == 2
    assert len(list((tmp_path / "prepared").iterdir())) == 2


@pytest.mark.anyio
@pytest.mark.parametrize("text", ["steps: []\n", "steps: [1]\n", "- 1\n", "steps: [' ']\n"])
async def test_a_file_of_steps_that_is_of_no_use_is_refused_by_name(tmp_path: Path, text: str) -> None:
    ge, _ = judging([json.dumps(FIRST), rating(4)], tmp_path)
    await ge.score(data_point(**GIVEN), "geval/coherence")
    (file,) = (tmp_path / "prepared").iterdir()
    file.write_text(text)
    other, model = judging([], tmp_path)

    with pytest.raises(ConfigError, match="steps") as refused:
        await other.score(data_point(**GIVEN), "geval/coherence")

    assert str(file) in str(refused.value)
    assert model.calls == []
    assert "needs its steps" in (other.registry.evaluator("geval/coherence").needs or "")


@pytest.mark.anyio
async def test_nothing_is_paid_for_before_the_rest_of_a_run_is_known_to_be_right(tmp_path: Path) -> None:
    ge, model = judging(json.dumps(FIRST), tmp_path)

    with pytest.raises(ConfigError, match="nowhere"):
        await ge.evaluate([GIVEN], target="nowhere", evaluators=["geval/coherence"])

    assert model.calls == []


@pytest.mark.anyio
async def test_without_leave_to_ask_steps_that_are_not_there_are_refused(tmp_path: Path) -> None:
    ge, model = judging(json.dumps(FIRST), tmp_path)

    with pytest.raises(ConfigError, match="may be asked"):
        await ge.with_cache("only").evaluate([GIVEN], target=None, evaluators=["geval/coherence"])

    assert model.calls == []


@pytest.mark.anyio
async def test_a_judge_that_gives_no_steps_fails_before_the_run(tmp_path: Path) -> None:
    ge, model = judging('{"steps": []}', tmp_path)

    with pytest.raises(JudgeError, match="three to seven steps"):
        await ge.evaluate([GIVEN], target=None, evaluators=["geval/coherence"])

    assert len(model.calls) == 2
    assert ge.runs.list() == []


@pytest.mark.anyio
async def test_a_run_that_was_stopped_goes_on_with_the_same_steps(tmp_path: Path) -> None:
    ge, _ = judging([json.dumps(FIRST), rating(4)], tmp_path)
    samples = [{**GIVEN, "testCaseId": name} for name in "ab"]
    run = await ge.evaluate(
        samples, target=None, evaluators=["geval/coherence"], budget=Budget(calls=1), limits=Limits(max_concurrency=1)
    )

    other, model = judging([rating(2)], tmp_path)
    resumed = await other.evaluate(samples, resume=run.key.eval_run_id)

    assert run.key.state is RunState.INCOMPLETE
    assert [result.metrics[0].score for result in resumed.results] == [0.75, 0.25]
    assert len({result.metrics[0].version for result in resumed.results}) == 1
    assert len(model.calls) == 1


@pytest.mark.anyio
async def test_other_names_of_it_stay(tmp_path: Path) -> None:
    ge, _ = judging([json.dumps(FIRST), rating(4)], tmp_path)
    ge.define_alias("mine/strict", "geval/coherence", threshold=0.9)

    (metric,) = await ge.score(data_point(**GIVEN), "mine/strict")

    assert (metric.evaluator, metric.score, metric.status) == ("/evaluator/mine/strict", 0.75, Status.FAIL)


@pytest.mark.anyio
async def test_a_name_of_several_parts_is_one_file(tmp_path: Path) -> None:
    ge, _ = judging([json.dumps(FIRST), rating(4)], tmp_path, name="text/co:herence")

    await ge.score(data_point(**GIVEN), "geval/text/co:herence")

    (file,) = (tmp_path / "prepared").iterdir()
    assert file.name.startswith("geval.text.co.herence-")


@pytest.mark.anyio
async def test_a_place_that_the_judge_makes_up_in_a_step_is_asked_of_no_case(tmp_path: Path) -> None:
    ge, model = judging([json.dumps({"steps": ["Read {{answer}}.", "Rate it."]}), rating(4)], tmp_path)

    (metric,) = await ge.score(data_point(**GIVEN), "geval/coherence")

    assert metric.score == 0.75
    assert "1. Read [answer]." in model.calls[1].text
