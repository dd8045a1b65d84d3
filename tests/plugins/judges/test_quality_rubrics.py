"""Rubrics: one rating of one quality, by a criterion with anchors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from genkit_eval import EvalMetric, GenkitEval, Outcome, Status
from genkit_eval.prompts import fence_marks
from genkit_eval.testing import ScriptedModel, data_point
from genkit_eval_judges import judges
from genkit_eval_judges.quality import RUBRICS
from genkit_eval_judges.quality.rubric import Rubric, scorable
from tests.plugins.judges.replies import rating

EACH = pytest.mark.parametrize("rubric", [pytest.param(rubric, id=rubric.name) for rubric in RUBRICS])
VALUES: dict[str, Any] = {
    "request": ("input", "When does the pool open?"),
    "response": ("output", "At seven, on Sundays at nine."),
    "context": ("context", ["Pool: 7 to 20, Sundays 9 to 18."]),
    "system_prompt": ("system_prompt", "You work at the desk of the pool."),
}


@pytest.fixture
def anyio_backend() -> str:
    """What a single reply is worth does not depend on the event loop."""
    return "asyncio"


def given(*parts: str) -> dict[str, Any]:
    """A data point's fields for these parts; the others that we know are empty."""
    return {field: value if part in parts else type(value)() for part, (field, value) in VALUES.items()}


async def ask(rubric: Rubric, replies: Any, *parts: str, name: str = "") -> tuple[EvalMetric, ScriptedModel]:
    """What one rubric comes to for a case with these parts, and the model that was asked."""
    model = ScriptedModel(replies)
    ge = GenkitEval(plugins=[judges(judge=model, evaluators=[f"quality/{rubric.name}"])])
    (metric,) = await ge.score(data_point(**given(*(parts or rubric.needs))), name or f"quality/{rubric.name}")
    return metric, model


@pytest.mark.anyio
@EACH
@pytest.mark.parametrize(("rated", "status"), [(0.4, Status.FAIL), (0.5, Status.PASS)])
async def test_the_rating_is_the_score(rubric: Rubric, rated: float, status: Status) -> None:
    metric, model = await ask(rubric, rating(rated, "by this"))

    assert (metric.score, metric.status) == (rated, status)
    assert metric.rationale == "by this"
    assert len(model.calls) == 1


@pytest.mark.anyio
@EACH
async def test_the_judge_is_told_intent_criterion_and_anchors_and_shown_the_parts(rubric: Rubric) -> None:
    parts = [part for part in (*rubric.needs, *rubric.shows) if part in VALUES]

    _, model = await ask(rubric, rating(1), *parts)

    system, user = (message.content for message in model.calls[0].messages)
    for said in (rubric.intent, rubric.criterion, rubric.low, rubric.middle, rubric.high):
        assert said in system
    assert all(example.given in system for example in rubric.examples)
    assert "{{" not in system + user
    assert len(fence_marks(user)) == len({*rubric.needs, *rubric.shows})
    for part in parts:
        value = VALUES[part][1]
        assert (value if isinstance(value, str) else value[0]) in user


@pytest.mark.anyio
@EACH
@pytest.mark.case("judge-metric/empty-output-no-judge-call")
async def test_whatever_is_missing_is_inconclusive_and_costs_no_call(rubric: Rubric) -> None:
    for missing in rubric.needs:
        metric, model = await ask(rubric, [], *(part for part in VALUES if part != missing))

        assert metric.outcome is Outcome.INCONCLUSIVE
        assert model.calls == []


@pytest.mark.anyio
@EACH
@pytest.mark.case("judge-reply/score-null")
async def test_a_rating_of_null_is_inconclusive(rubric: Rubric) -> None:
    metric, _ = await ask(rubric, rating(None, "nothing to rate"))

    assert metric.outcome is Outcome.INCONCLUSIVE
    assert metric.rationale == "nothing to rate"


@pytest.mark.anyio
@EACH
@pytest.mark.case("judge-reply/score-above-scale")
async def test_a_rating_off_the_scale_is_asked_for_again_and_then_failed(rubric: Rubric) -> None:
    again, _ = await ask(rubric, [rating(7), rating(0.7)])
    twice, model = await ask(rubric, rating(7))

    assert again.score == 0.7
    assert twice.outcome is Outcome.FAILED
    assert '"rating": 7' in str(twice.error)
    assert len(model.calls) == 2


@pytest.mark.anyio
@EACH
async def test_the_names_of_scorable_stand_for_it(rubric: Rubric) -> None:
    for alias in scorable(*rubric.known_as):
        metric, _ = await ask(rubric, rating(0.3), name=alias)

        assert (metric.score, metric.status) == (0.3, Status.FAIL)


@EACH
def test_examples_teach_both_sides_and_lie_on_the_scale(rubric: Rubric) -> None:
    ratings = [example.rating for example in rubric.examples]

    assert len(ratings) >= 2
    assert max(ratings) - min(ratings) >= 0.4
    assert all(0 <= value <= 1 for value in ratings)


@pytest.mark.parametrize(
    "what", [lambda rubric: rubric.intent, lambda rubric: rubric.criterion], ids=["intent", "criterion"]
)
def test_no_two_say_the_same(what: Callable[[Rubric], str]) -> None:
    texts = [what(rubric) for rubric in RUBRICS]
    anchors = [text for rubric in RUBRICS for text in (rubric.low, rubric.middle, rubric.high)]

    assert len({*texts}) == len(texts)
    assert len({*anchors}) == len(anchors)


def test_what_a_rubric_says_is_shown_and_part_of_its_version() -> None:
    ge = GenkitEval(plugins=[judges(judge=ScriptedModel([]))])

    evaluators = [ge.registry.evaluator(f"quality/{rubric.name}") for rubric in RUBRICS]
    for rubric, evaluator in zip(RUBRICS, evaluators, strict=True):
        assert rubric.criterion in evaluator.prompts["rating"]
    assert len({evaluator.version.rpartition("-")[2] for evaluator in evaluators}) == len(RUBRICS)


@pytest.mark.parametrize(
    ("name", "aliases"),
    [
        ("Clarity", {"scorable/Clarity"}),
        ("Non-toxicity", {"scorable/Non_toxicity", "scorable/NonToxicity"}),
        ("Safety for Children", {"scorable/Safety_for_Children", "scorable/SafetyForChildren"}),
    ],
)
def test_names_are_those_of_the_sdk_and_the_same_run_together(name: str, aliases: set[str]) -> None:
    assert scorable(name).keys() == aliases
