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
    Price,
    Reply,
    RunState,
    Status,
    Usage,
)
from genkit_eval.testing import Answer, Call, OpenAIServer, ScriptedModel, chat_answer, data_point, error_answer
from genkit_eval_judges import GEval, judges
from genkit_eval_openai import openai_models
from tests.plugins.judges.replies import rating

CRITERION = "The sentences of {{response}} build on each other."
FIRST = {"steps": ["Read [response] once.", "Look at links between sentences.", "Rate from 1 to 5."]}
SVG = "data:image/svg+xml,%3Csvg%3E%3Ctext%3EIt%20rained.%3C/text%3E%3C/svg%3E"
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

    (version,) = {metric.version for done in runs for result in done.results for metric in result.metrics}
    assert version == ge.registry.evaluator("geval/coherence").version
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
@pytest.mark.parametrize("name", ["geval/coherence", "geval_coherence"])
async def test_the_call_that_makes_the_steps_is_part_of_what_the_run_costs(tmp_path: Path, name: str) -> None:
    usage = Usage(input_tokens=100, output_tokens=10)
    replies = [Reply(text=text, usage=usage) for text in (json.dumps(FIRST), *[rating(4)] * 4)]
    ge, model = judging(replies, tmp_path)
    priced = ge.with_prices({model.name: Price(input=1, output=2)})

    run = await priced.evaluate([GIVEN, {**GIVEN, "testCaseId": "b"}], target=None, evaluators=[name])
    again = await priced.rescore(run)

    (spent,), (later,) = run.key.usage, again.key.usage
    # three calls of 100 x 1 + 10 x 2 dollars a million tokens; the steps are there when it is judged once more
    assert (spent.used_by, spent.model_calls, spent.cost_usd) == (f"/evaluator/{name}", 3, pytest.approx(360e-6))
    assert run.key.unbilled is None
    assert (later.model_calls, later.cost_usd) == (2, pytest.approx(240e-6))


@pytest.mark.anyio
async def test_the_call_that_makes_the_steps_counts_in_the_budget(tmp_path: Path) -> None:
    ge, model = judging([json.dumps(FIRST), rating(4)], tmp_path)

    run = await ge.evaluate([GIVEN], target=None, evaluators=["geval/coherence"], budget=Budget(calls=1))
    resumed = await ge.evaluate([GIVEN], resume=run.key.eval_run_id)

    assert (run.key.state, len(model.calls)) == (RunState.INCOMPLETE, 2)
    assert run.key.stopped is not None
    assert "1 of 1 calls" in run.key.stopped.reason
    (spent,) = resumed.key.usage
    assert (resumed.key.state, spent.model_calls) == (RunState.COMPLETE, 2)


@pytest.mark.anyio
async def test_a_budget_that_ends_before_the_steps_are_made_is_told(tmp_path: Path) -> None:
    # the first reply is of no use, and the question cannot be put once more
    ge, model = judging('{"steps": []}', tmp_path)

    with pytest.raises(JudgeError, match="the budget is spent: 1 of 1 calls") as refused:
        await ge.evaluate([GIVEN], target=None, evaluators=["geval/coherence"], budget=Budget(calls=1))

    assert "geval/coherence" in str(refused.value)
    assert len(model.calls) == 1
    assert ge.runs.list() == []
    assert not (tmp_path / "prepared").exists()


@pytest.mark.anyio
async def test_a_budget_of_dollars_that_no_price_lets_one_keep_is_refused_before_the_steps(tmp_path: Path) -> None:
    ge, model = judging(json.dumps(FIRST), tmp_path)

    with pytest.raises(ConfigError, match="is not known"):
        await ge.evaluate([GIVEN], target=None, evaluators=["geval/coherence"], budget=Budget(usd=1))

    assert model.calls == []


@pytest.mark.anyio
async def test_the_call_that_makes_the_steps_is_retried_like_any_other(tmp_path: Path) -> None:
    busy = [error_answer(429, "slow down", headers={"retry-after": "0"})]

    def answer(call: Call) -> Answer:
        if busy:
            return busy.pop()
        return chat_answer(json.dumps(FIRST) if "steps" in str(call.body["response_format"]) else rating(4))

    own = GEval(name="coherence", criterion=CRITERION)
    with OpenAIServer(answer) as server:
        models = openai_models(base_url=server.url)
        ge = GenkitEval(plugins=[models, judges(judge="openai/m", own=[own])], root=tmp_path)
        run = await ge.evaluate([GIVEN], target=None, evaluators=["geval/coherence"])

    (spent,) = run.key.usage
    assert run.results[0].metrics[0].score == 0.75
    assert (spent.model_calls, spent.retries) == (2, 1)


@pytest.mark.anyio
async def test_steps_that_take_too_long_are_told_of_by_name(tmp_path: Path) -> None:
    class Silent:
        name = "silent"

        async def generate(self, messages: object, **how: object) -> Reply:
            await anyio.sleep_forever()
            raise AssertionError

    own = GEval(name="coherence", criterion=CRITERION)
    ge = GenkitEval(plugins=[judges(judge=Silent(), own=[own])], root=tmp_path)

    with pytest.raises(JudgeError, match=r"geval/coherence.*no answer within 0\.05 s"):
        await ge.evaluate([GIVEN], target=None, evaluators=["geval/coherence"], limits=Limits(evaluator_seconds=0.05))


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
