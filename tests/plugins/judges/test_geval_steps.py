"""The steps of G-Eval: made of the criterion once, kept, and edited."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from genkit_eval import (
    Budget,
    ConfigError,
    GenkitEval,
    JudgeError,
    Limits,
    Outcome,
    RunState,
    Status,
)
from genkit_eval.testing import ScriptedModel, data_point
from genkit_eval_judges import GEval, judges
from tests.plugins.judges.replies import rating
from tests.plugins.judges.steps import CRITERION, FIRST, GIVEN, OTHER, judging

SVG = "data:image/svg+xml,%3Csvg%3E%3Ctext%3EIt%20rained.%3C/text%3E%3C/svg%3E"


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
    assert len({metric.version for result in (*run.results, *again.results) for metric in result.metrics}) == 1


@pytest.mark.anyio
async def test_runs_side_by_side_go_by_the_same_steps(tmp_path: Path) -> None:
    """Each may ask for some, as none are there; those that were kept first hold for all."""
    made = [json.dumps({"steps": [f"Read {number}.", "Rate."]}) for number in range(3)]
    left, all_asked = [*made], anyio.Event()

    async def judge(prompt: str) -> str:
        if "You write down how to judge" not in prompt:
            return rating(4)
        steps = left.pop()
        if not left:
            all_asked.set()
        await all_asked.wait()
        return steps

    own = GEval(name="coherence", criterion=CRITERION)
    ge = GenkitEval(plugins=[judges(judge=judge, own=[own])], root=tmp_path)
    runs = []

    async def run() -> None:
        runs.append(await ge.evaluate([GIVEN], target=None, evaluators=["geval/coherence"]))

    async with anyio.create_task_group() as group:
        for _ in made:
            group.start_soon(run)

    assert len({metric.version for done in runs for result in done.results for metric in result.metrics}) == 1
    assert [result.metrics[0].score for done in runs for result in done.results] == [0.75] * 3


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
    """By the app that had them made as well, which may be a notebook that goes on."""
    ge, model = judging([json.dumps(FIRST), rating(4), rating(4)], tmp_path)
    (first,) = await ge.score(data_point(**GIVEN), "geval/coherence")
    (file,) = (tmp_path / "prepared").iterdir()
    file.write_text(file.read_text().replace("Look at links", "Count links"))

    (second,) = await ge.score(data_point(**GIVEN), "geval/coherence")

    assert "Count links between sentences." in model.calls[2].text
    assert first.version != second.version


@pytest.mark.anyio
async def test_a_run_tells_of_the_call_that_was_made_before_it(tmp_path: Path) -> None:
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
@pytest.mark.parametrize("text", ["", "steps: [1", "steps: []\n", "steps: [1]\n", "- 1\n", "steps: [' ']\n"])
async def test_a_file_of_steps_that_is_of_no_use_is_refused_by_name(tmp_path: Path, text: str) -> None:
    ge, _ = judging([json.dumps(FIRST), rating(4)], tmp_path)
    await ge.score(data_point(**GIVEN), "geval/coherence")
    (file,) = (tmp_path / "prepared").iterdir()
    file.write_text(text)
    other, model = judging([], tmp_path)

    with pytest.raises(ConfigError, match="mend it, or delete the file") as refused:
        await other.score(data_point(**GIVEN), "geval/coherence")

    assert str(file) in str(refused.value)
    assert model.calls == []


@pytest.mark.anyio
async def test_nothing_is_paid_for_before_the_rest_of_a_run_is_known_to_be_right(tmp_path: Path) -> None:
    ge, model = judging(json.dumps(FIRST), tmp_path)

    with pytest.raises(ConfigError, match="nowhere"):
        await ge.evaluate([GIVEN], target="nowhere", evaluators=["geval/coherence"])

    assert model.calls == []


@pytest.mark.anyio
async def test_each_root_keeps_the_steps_of_its_own_runs(tmp_path: Path) -> None:
    """A run can be gone on with where it lies, also by an app that never knew the other root."""
    ge, _ = judging([json.dumps(steps) for steps in (FIRST, OTHER)] + [rating(4)] * 2, tmp_path / "one")
    prepared = [root / "prepared" for root in (tmp_path / "one", tmp_path / "other")]

    for app in (ge, ge.at(tmp_path / "other")):
        await app.evaluate([GIVEN], target=None, evaluators=["geval/coherence"], budget=Budget(calls=1))

    assert ["Look at links" in "".join(file.read_text() for file in folder.iterdir()) for folder in prepared] == [
        True,
        False,
    ]


@pytest.mark.anyio
async def test_of_several_evaluators_some_may_have_their_steps(tmp_path: Path) -> None:
    model = ScriptedModel([json.dumps(FIRST), rating(4), json.dumps(OTHER), rating(4), rating(4)])
    own = [GEval(name=name, criterion=f"{CRITERION} {name}") for name in ("a", "b")]
    ge = GenkitEval(plugins=[judges(judge=model, own=own)], root=tmp_path)
    await ge.score(data_point(**GIVEN), "geval/a")

    metrics = await ge.score(data_point(**GIVEN), ["geval/a", "geval/b"])

    assert [metric.score for metric in metrics] == [0.75, 0.75]
    assert ["Look at links" in call.text for call in model.calls[3:]] == [True, False]


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
        samples, target=None, evaluators=["geval/coherence"], budget=Budget(calls=2), limits=Limits(max_concurrency=1)
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


@pytest.mark.anyio
async def test_a_run_whose_steps_are_gone_is_not_gone_on_with(tmp_path: Path) -> None:
    ge, _ = judging([json.dumps(FIRST), rating(4)], tmp_path)
    samples = [{**GIVEN, "testCaseId": name} for name in "ab"]
    run = await ge.evaluate(
        samples, target=None, evaluators=["geval/coherence"], budget=Budget(calls=2), limits=Limits(max_concurrency=1)
    )
    (file,) = (tmp_path / "prepared").iterdir()
    file.unlink()
    other, model = judging([json.dumps(FIRST), rating(2)], tmp_path)

    with pytest.raises(ConfigError, match="bring its file back"):
        await other.evaluate(samples, resume=run.key.eval_run_id)

    assert model.calls == []


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("criterion", "given"),
    [
        (CRITERION, {"output": "", "output_attachments": [SVG]}),
        ("The answer is as {{attachments}} say.", {"output": "a", "attachments": [SVG]}),
        ("The answer is as {{context}} says.", {"output": "a", "attachments": [SVG]}),
    ],
)
async def test_steps_are_made_for_a_case_of_which_only_its_files_say_something(
    tmp_path: Path, criterion: str, given: dict[str, Any]
) -> None:
    ge, model = judging([json.dumps(FIRST), rating(5)], tmp_path, criterion=criterion)

    (metric,) = await ge.score(data_point(**given), "geval/coherence")

    assert metric.score == 1
    assert ["It rained." in call.text for call in model.calls] == [False, True]
