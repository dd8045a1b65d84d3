"""Qualities of several parts with weights."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genkit_eval import GenkitEval, Outcome, Status
from genkit_eval.errors import GenkitEvalError
from genkit_eval.testing import ScriptedModel, data_point
from genkit_eval_judges import judges
from genkit_eval_judges.quality.parts import Composite, weighted_mean
from genkit_eval_judges.quality.tasks import COMPOSITES
from tests.plugins.judges.replies import aspects

EACH = pytest.mark.parametrize("composite", [pytest.param(item, id=item.name) for item in COMPOSITES])
GIVEN = {"input": "Sum it up: the bridge closes on 3 May.", "output": "From 3 May no bridge."}


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("name", "ratings", "score"),
    [
        # 0.3 x 1 + 0.3 x 0.5 + 0.2 x 0 + 0.2 x 1
        ("quality/relevance", {"accuracy": 1, "completeness": 0.5, "adherence": 0, "consistency": 1}, 0.65),
        # 0.35 x 1 + 0.35 x 0.2 + 0.15 x 0.6 + 0.15 x 1
        ("quality/summarization", {"precision": 1, "completeness": 0.2, "conciseness": 0.6, "clarity": 1}, 0.66),
        # 0.4 x 0.5 + 0.2 x 1 + 0.25 x 0 + 0.15 x 0
        ("quality/translation", {"accuracy": 0.5, "completeness": 1, "fluency": 0, "culture": 0}, 0.4),
        ("scorable/Relevance", {"accuracy": 0, "completeness": 0, "adherence": 0, "consistency": 0}, 0.0),
        ("akka/SummarizationQuality", {"precision": 1, "completeness": 1, "conciseness": 1, "clarity": 1}, 1.0),
        ("scorable/TranslationQuality", {"accuracy": 1, "completeness": 1, "fluency": 1, "culture": 1}, 1.0),
    ],
)
async def test_the_score_is_the_weighted_mean(judged: Any, name: str, ratings: dict[str, float], score: float) -> None:
    metric, model = await judged(name, aspects(**ratings), **GIVEN)

    assert metric.score == pytest.approx(score)
    assert metric.status is (Status.PASS if score >= 0.5 else Status.FAIL)
    assert [(finding.text, finding.details["rating"]) for finding in metric.findings] == [*ratings.items()]
    assert len(model.calls) == 1


@EACH
def test_weights_add_up_to_one_and_stand_in_the_formula(composite: Composite) -> None:
    assert sum(part.weight for part in composite.parts) == pytest.approx(1)
    for part in composite.parts:
        assert f"{part.weight:g} {part.name}" in composite.recipe().formula


@pytest.mark.anyio
@EACH
async def test_the_judge_is_told_of_each_part_with_its_anchors(judged: Any, composite: Composite) -> None:
    said = aspects(**{part.name: 1 for part in composite.parts})

    metric, model = await judged(f"quality/{composite.name}", said, **GIVEN)

    system, user = (message.content for message in model.calls[0].messages)
    assert composite.intent in system
    assert composite.criterion in system
    for part in composite.parts:
        assert all(text in system for text in (part.asks, part.low, part.middle, part.high))
        assert f"{part.name} 1: why {part.name}" in metric.rationale
    assert GIVEN["output"] in user
    assert "{{" not in system + user


@EACH
def test_examples_rate_every_part_on_its_scale(composite: Composite) -> None:
    for example in composite.examples:
        assert [*example.said] == [part.name for part in composite.parts]
        assert all(rating is None or 0 <= rating <= 1 for _, rating in example.said.values())


@pytest.mark.anyio
async def test_a_part_that_does_not_apply_is_left_out_of_the_mean(judged: Any) -> None:
    said = aspects(accuracy=1, completeness=1, fluency=0.5, culture=None)

    metric, _ = await judged("quality/translation", said, **GIVEN)

    # (0.4 + 0.2 + 0.25 x 0.5) / 0.85
    assert metric.score == pytest.approx(0.725 / 0.85)
    assert "culture not rated: why culture" in metric.rationale


@pytest.mark.anyio
async def test_a_case_to_which_no_part_applies_is_inconclusive(judged: Any) -> None:
    said = aspects(accuracy=None, completeness=None, fluency=None, culture=None)

    metric, _ = await judged("quality/translation", said, **GIVEN)

    assert metric.outcome is Outcome.INCONCLUSIVE
    assert "accuracy: why accuracy" in metric.rationale


@pytest.mark.anyio
@pytest.mark.case("judge-reply/score-above-scale")
async def test_a_part_off_the_scale_or_missing_is_asked_for_again_and_then_failed(judged: Any) -> None:
    above = aspects(accuracy=5, completeness=1, fluency=1, culture=1)
    missing = aspects(accuracy=1, completeness=1, fluency=1)
    right = aspects(accuracy=0.5, completeness=0.5, fluency=0.5, culture=0.5)

    again, _ = await judged("quality/translation", [above, right], **GIVEN)
    failed, model = await judged("quality/translation", [above, missing], **GIVEN)

    assert again.score == pytest.approx(0.5)
    assert failed.outcome is Outcome.FAILED
    assert "culture" in failed.error
    assert len(model.calls) == 2


@pytest.mark.anyio
async def test_weights_are_an_option(judged: Any) -> None:
    said = aspects(accuracy=1, completeness=0, adherence=1, consistency=0)

    metric, _ = await judged("quality/relevance", said, options={"weights": {"accuracy": 1, "consistency": 0}}, **GIVEN)

    # (1 x 1 + 0.3 x 0 + 0.2 x 1) / 1.5
    assert metric.score == pytest.approx(1.2 / 1.5)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"acuracy": 1}, "accuracy"),
        ({"accuracy": -1}, "greater than or equal to 0"),
        ({"accuracy": 0, "completeness": 0, "adherence": 0, "consistency": 0}, "all parts weigh 0"),
    ],
)
async def test_weights_that_cannot_be_are_refused_before_anything_is_asked(weights: Any, message: str) -> None:
    model = ScriptedModel([])
    ge = GenkitEval(plugins=[judges(judge=model)])

    with pytest.raises(GenkitEvalError, match=message):
        await ge.score(data_point(**GIVEN), ge.ref("quality/relevance", weights=weights))
    assert model.calls == []


@pytest.mark.anyio
@pytest.mark.case("judge-metric/empty-output-no-judge-call")
@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("quality/relevance", {"input": "When?", "output": " "}),
        ("quality/relevance", {"input": "", "output": "At seven."}),
        ("quality/translation", {"input": "", "output": "At seven."}),
        ("quality/summarization", {"input": "Sum it up.", "output": ""}),
        ("quality/summarization", {"input": " ", "context": [""], "output": "It closes."}),
    ],
)
async def test_what_is_missing_is_inconclusive_and_costs_no_call(judged: Any, name: str, given: dict[str, Any]) -> None:
    metric, model = await judged(name, [], **given)

    assert metric.outcome is Outcome.INCONCLUSIVE
    assert model.calls == []


@pytest.mark.anyio
async def test_a_summary_is_of_the_documents_or_of_a_text_in_the_request(judged: Any) -> None:
    said = aspects(precision=1, completeness=1, conciseness=1, clarity=1)

    of_documents, model = await judged("quality/summarization", said, input="", context=["A bridge."], output="It is.")
    of_request, _ = await judged("quality/summarization", said, **GIVEN)

    assert (of_documents.score, of_request.score) == (1.0, 1.0)
    assert "A bridge." in model.calls[0].messages[-1].content


RATINGS = st.dictionaries(st.sampled_from("abcd"), st.floats(0, 1), min_size=1)


@given(RATINGS, st.fixed_dictionaries({name: st.sampled_from([0, 0.1, 0.25, 1, 7]) for name in "abcd"}))
def test_a_weighted_mean_lies_between_the_lowest_and_the_highest(
    ratings: dict[str, float], weights: dict[str, float]
) -> None:
    mean = weighted_mean(ratings, weights)

    if not any(weights[name] for name in ratings):
        assert mean is None
    else:
        assert mean is not None
        assert min(ratings.values()) - 1e-9 <= mean <= max(ratings.values()) + 1e-9
