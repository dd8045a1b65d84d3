"""G-Eval: a criterion, its steps, and a rating from 1 to 5."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from genkit_eval import Budget, ConfigError, EvalMetric, GenkitEval, Limits, Outcome, Reply, Status, TokenLogprob
from genkit_eval.testing import Answer, Call, OpenAIServer, ScriptedModel, chat_answer, data_point, error_answer
from genkit_eval_judges import GEval, judges
from genkit_eval_openai import openai_models
from tests.plugins.judges.replies import rating

CRITERION = "The sentences of {{response}} build on each other."
STEPS = ("Read [response].", "Rate how the sentences follow.")
GIVEN = {"output": "It rained. So the game was off."}


def app(replies: Any, **said: Any) -> tuple[GenkitEval, ScriptedModel]:
    """An app with one G-Eval, and the model that is asked."""
    model = ScriptedModel(replies)
    return GenkitEval(
        plugins=[judges(judge=model, own=[GEval(**{"name": "coherence", "criterion": CRITERION, **said})])]
    ), model


async def score(replies: Any, *, fields: dict[str, Any] | None = None, **said: Any) -> tuple[EvalMetric, ScriptedModel]:
    """The metric of a G-Eval with steps, and the model that was asked."""
    ge, model = app(replies, **{"steps": STEPS, **said})
    (metric,) = await ge.score(data_point(**(GIVEN if fields is None else fields)), "geval/coherence")
    return metric, model


def weighed(rated: int, probabilities: dict[str, float], *, before: str = "") -> Reply:
    """A reply with the log-probabilities of its tokens; the rating is one of its own."""
    start, end = '{"reason": "r' + before + '", "rating": ', "}"
    number = TokenLogprob(
        token=str(rated),
        logprob=math.log(probabilities[str(rated)]),
        alternatives={token: math.log(share) for token, share in probabilities.items()},
    )
    tokens = [TokenLogprob(token=start, logprob=0.0), number, TokenLogprob(token=end, logprob=0.0)]
    return Reply(text=f"{start}{rated}{end}", finish_reason="stop", logprobs=tokens)


@pytest.mark.anyio
@pytest.mark.parametrize(("rated", "expected"), [(1, 0.0), (2, 0.25), (4, 0.75), (5, 1.0)])
async def test_a_rating_s_becomes_s_minus_1_by_4(rated: int, expected: float) -> None:
    metric, model = await score(rating(rated, "they do"))

    assert metric.score == expected
    assert metric.status is (Status.PASS if expected >= 0.5 else Status.FAIL)
    assert metric.details == {
        "rating": rated,
        "raw_score": rated,
        "normalized_score": expected,
        "form": "as rated",
    }
    assert len(model.calls) == 1


@pytest.mark.anyio
async def test_the_judge_is_given_criterion_and_steps_in_order() -> None:
    _, model = await score(rating(4))

    system, user = model.calls[0].messages
    assert "The sentences of [response] build on each other." in system.content
    assert "1. Read [response].\n2. Rate how the sentences follow." in system.content
    assert "So the game was off." in user.content


@pytest.mark.anyio
async def test_an_empty_answer_costs_no_call() -> None:
    metric, model = await score([], fields={"output": " "})

    assert (metric.outcome, model.calls) == (Outcome.INCONCLUSIVE, [])


@pytest.mark.anyio
@pytest.mark.parametrize("said", ["6", "0", "3.5"])
async def test_a_rating_off_the_scale_is_asked_for_once_more_and_then_failed(said: str) -> None:
    metric, model = await score(f'{{"reason": "r", "rating": {said}}}')

    assert (metric.outcome, metric.score) == (Outcome.FAILED, None)
    assert f'"rating": {said}' in (metric.error or "")
    assert len(model.calls) == 2


@pytest.mark.anyio
async def test_a_rating_of_null_is_inconclusive() -> None:
    metric, _ = await score(rating(None, "no sentences"))

    assert (metric.outcome, metric.rationale) == (Outcome.INCONCLUSIVE, "no sentences")


@pytest.mark.anyio
async def test_a_rating_is_weighted_by_the_probabilities_of_its_tokens() -> None:
    metric, model = await score(weighed(4, {"4": 0.6, "5": 0.2, " 3": 0.1, "x": 0.1}))

    # (0.6 x 4 + 0.2 x 5 + 0.1 x 3) / 0.9
    raw = 3.7 / 0.9
    assert metric.score == pytest.approx((raw - 1) / 4)
    assert metric.details is not None
    assert metric.details["raw_score"] == pytest.approx(raw)
    assert metric.details["form"] == "weighted by token probabilities"
    assert metric.details["probabilities"] == pytest.approx({"3": 1 / 9, "4": 6 / 9, "5": 2 / 9})
    assert metric.details["rating"] == 4
    assert model.calls[0].config == {"logprobs": True, "top_logprobs": 5}


@pytest.mark.anyio
async def test_a_rating_that_a_reason_quotes_is_not_weighed() -> None:
    metric, _ = await score(weighed(5, {"5": 1.0}, before=r" it says \"rating\": 1"))

    assert metric.score == 1.0


@pytest.mark.anyio
async def test_the_rating_may_stand_before_a_reason_that_speaks_of_another() -> None:
    four = TokenLogprob(token=" 4", logprob=math.log(0.5), alternatives={" 4": math.log(0.5), " 2": math.log(0.5)})
    texts = ('{"rating":', four, ', "reason": "the rating: ', "1", ' it asks for is no rating"}')
    tokens = [text if isinstance(text, TokenLogprob) else TokenLogprob(token=text, logprob=0.0) for text in texts]
    said = Reply(text="".join(token.token for token in tokens), finish_reason="stop", logprobs=tokens)

    metric, _ = await score(said)

    # (0.5 x 4 + 0.5 x 2 - 1) / 4
    assert metric.score == pytest.approx(0.5)


@pytest.mark.anyio
async def test_weighting_may_be_switched_off() -> None:
    metric, model = await score(weighed(4, {"4": 0.5, "5": 0.5}), weighting="off")

    assert metric.score == 0.75
    assert model.calls[0].config is None


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("parameters", "asked"),
    [
        ({"seed": 7}, {"seed": 7, "logprobs": True, "top_logprobs": 5}),
        ({"top_logprobs": 20}, {"logprobs": True, "top_logprobs": 20}),
        ({"logprobs": False}, {"logprobs": False}),
    ],
)
async def test_what_is_said_about_probabilities_holds(parameters: dict[str, Any], asked: dict[str, Any]) -> None:
    _, model = await score(rating(4), parameters=parameters)

    assert model.calls[0].config == asked


@pytest.mark.anyio
async def test_forms_are_never_mixed() -> None:
    """The first reply decides: where it has probabilities, one without is a failure, and not another measure."""
    ge, _ = app([weighed(4, {"4": 1.0}), rating(4)], steps=STEPS)

    (first,) = await ge.score(data_point(**GIVEN), "geval/coherence")
    (second,) = await ge.score(data_point(**GIVEN), "geval/coherence")

    assert first.score == 0.75
    assert second.outcome is Outcome.FAILED
    assert "weighting" in (second.error or "")


@pytest.mark.anyio
@pytest.mark.parametrize("weights_first", [True, False])
async def test_a_run_that_goes_on_elsewhere_keeps_to_the_form_that_it_began_with(
    tmp_path: Path, weights_first: bool
) -> None:
    """The server has changed between two sessions: it gives probabilities now, or no longer."""
    plain, weighted = rating(4), weighed(4, {"4": 0.5, "5": 0.5})
    samples = [{**GIVEN, "testCaseId": name} for name in "abc"]

    def session(reply: Any) -> GenkitEval:
        own = GEval(name="coherence", criterion=CRITERION, steps=STEPS)
        return GenkitEval(plugins=[judges(judge=ScriptedModel(reply), own=[own])], root=tmp_path)

    run = await session(weighted if weights_first else plain).evaluate(
        samples, target=None, evaluators=["geval/coherence"], budget=Budget(calls=1), limits=Limits(max_concurrency=1)
    )
    later = session(plain if weights_first else weighted)
    resumed = await later.evaluate(samples, resume=run.key.eval_run_id)
    anew = await later.evaluate(samples, target=None, evaluators=["geval/coherence"])

    scores = [result.metrics[0].score for result in resumed.results]
    errors = ["weighting" in (result.metrics[0].error or "") for result in resumed.results]
    assert scores == ([0.875, None, None] if weights_first else [0.75, 0.75, 0.75])
    assert errors == [False, weights_first, weights_first]
    form = "weighted by token probabilities" if weights_first else "as rated"
    assert run.key.choices == resumed.key.choices == {"geval/coherence by scripted": form}
    # another run has a form of its own
    assert {result.metrics[0].score for result in anew.results} == {0.75 if weights_first else 0.875}


@pytest.mark.anyio
async def test_each_judge_of_a_panel_keeps_to_its_own_form() -> None:
    own = GEval(name="coherence", criterion=CRITERION, steps=STEPS)
    panel = [ScriptedModel(weighed(4, {"4": 0.5, "5": 0.5}), name="a"), ScriptedModel(rating(4), name="b")]
    ge = GenkitEval(plugins=[judges(judge=panel, own=[own])])

    metrics = [(await ge.score(data_point(**GIVEN), "geval/coherence"))[0] for _ in range(2)]

    # the median of 0.875 and 0.75
    assert [metric.score for metric in metrics] == pytest.approx([0.8125, 0.8125])


@pytest.mark.anyio
async def test_without_probabilities_at_first_ratings_stay_as_they_are() -> None:
    ge, _ = app([rating(4), weighed(4, {"4": 0.5, "5": 0.5})], steps=STEPS)

    metrics = [(await ge.score(data_point(**GIVEN), "geval/coherence"))[0] for _ in range(2)]

    assert [metric.score for metric in metrics] == [0.75, 0.75]


@pytest.mark.anyio
async def test_weighting_that_is_asked_for_fails_where_the_server_does_not_give_it() -> None:
    metric, _ = await score(rating(4), weighting="on")

    assert metric.outcome is Outcome.FAILED


@pytest.mark.anyio
async def test_weighting_that_the_judge_s_parameters_rule_out_is_refused_before_anything_is_paid_for() -> None:
    ge, model = app(rating(4), steps=STEPS, weighting="on", parameters={"logprobs": False})

    with pytest.raises(ConfigError, match="switch logprobs off"):
        await ge.score(data_point(**GIVEN), "geval/coherence")

    assert model.calls == []


def version(**said: Any) -> str:
    ge, _ = app("{}", **{"steps": STEPS, **said})
    return ge.registry.evaluator("geval/coherence").version


def test_the_version_holds_criterion_steps_and_form() -> None:
    differing = [{}, {"criterion": "Another."}, {"steps": STEPS[:1]}, {"weighting": "off"}, {"threshold": 0.7}]

    versions = [version(**said) for said in differing]

    assert len(set(versions)) == len(differing)
    assert versions[0] == version()


@pytest.mark.parametrize("name", ["coherence", "geval/coherence", "geval_coherence"])
def test_it_goes_by_both_names(name: str) -> None:
    ge, _ = app("{}", name=name, steps=STEPS)

    assert ge.registry.evaluator("geval/coherence").name == "geval/coherence"
    assert ge.registry.evaluator("geval_coherence").alias_of == "geval/coherence"


@pytest.mark.anyio
async def test_probabilities_come_over_the_wire_and_are_kept(tmp_path: Path) -> None:
    """Through the client of a real server, and again from the cache, in which replies keep them."""
    said = weighed(4, {"4": 0.5, "5": 0.5})
    tokens = [
        {
            "token": token.token,
            "logprob": token.logprob,
            "top_logprobs": [{"token": other, "logprob": value} for other, value in token.alternatives.items()],
        }
        for token in said.logprobs or ()
    ]
    with OpenAIServer(chat_answer(said.text, logprobs={"content": tokens})) as server:
        runs = []
        for _ in range(2):
            own = GEval(name="coherence", criterion=CRITERION, steps=STEPS)
            plugins = [openai_models(base_url=server.url), judges(judge="openai/any", own=[own])]
            ge = GenkitEval(plugins=plugins, root=tmp_path)
            runs.append(await ge.evaluate([GIVEN], target=None, evaluators=["geval/coherence"]))

    # (0.5 x 4 + 0.5 x 5 - 1) / 4
    assert [run.results[0].metrics[0].score for run in runs] == pytest.approx([0.875, 0.875])
    assert len(server.calls) == 1


@pytest.mark.anyio
async def test_a_server_that_refuses_probabilities_is_asked_without(tmp_path: Path) -> None:
    def answer(call: Call) -> Answer:
        if "logprobs" in call.body:
            return error_answer(400, "Unsupported parameter: 'logprobs' is not supported with this model.")
        return chat_answer(rating(4))

    with OpenAIServer(answer) as server:
        own = GEval(name="coherence", criterion=CRITERION, steps=STEPS)
        ge = GenkitEval(
            plugins=[openai_models(base_url=server.url), judges(judge="openai/any", own=[own])], root=tmp_path
        )
        run = await ge.evaluate([GIVEN], target=None, evaluators=["geval/coherence"])

    (metric,) = run.results[0].metrics
    assert (metric.score, (metric.details or {})["form"]) == (0.75, "as rated")
