"""What tone an answer has: a label and a number."""

from __future__ import annotations

import json
from typing import Any

import pytest

from genkit_eval import Outcome, Status
from genkit_eval_judges.quality.tone import FORMALITY, SENTIMENT

LABELS = [
    *(("quality/sentiment", label, ends) for label, ends in SENTIMENT.items()),
    *(("quality/formality", label, ends) for label, ends in FORMALITY.items()),
]
BOTH = pytest.mark.parametrize("name", ["quality/sentiment", "quality/formality"])


@pytest.fixture
def anyio_backend() -> str:
    """What a single reply is worth does not depend on the event loop."""
    return "asyncio"


def tone(label: str | None, score: float | None, reason: str = "these words") -> str:
    """A reply with a label and a score."""
    return json.dumps({"reason": reason, "label": label, "score": score})


@pytest.mark.anyio
@pytest.mark.parametrize(("name", "label", "ends"), LABELS)
async def test_label_and_score_are_given_and_nothing_passes_or_fails(
    judged: Any, name: str, label: str, ends: tuple[float, float]
) -> None:
    for score in ends:
        metric, model = await judged(name, tone(label, score), output="At seven.")

        assert (metric.score, metric.status, metric.outcome) == (score, Status.UNKNOWN, Outcome.VERDICT)
        assert metric.details == {"label": label, "rating": score}
        assert metric.rationale == f"{label}: these words"
        assert len(model.calls) == 1
        assert f"- {label} ({ends[0]:g} to {ends[1]:g}):" in model.calls[0].messages[0].content


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("name", "label", "score", "status"),
    [
        ("quality/sentiment", "positive", 0.7, Status.PASS),
        ("quality/sentiment", "negative", 0.3, Status.FAIL),
        ("quality/formality", "formal", 0.6, Status.PASS),
        ("quality/formality", "informal", 0.25, Status.FAIL),
    ],
)
async def test_with_a_threshold_it_passes_or_fails(
    judged: Any, name: str, label: str, score: float, status: Status
) -> None:
    metric, _ = await judged(name, tone(label, score), options={"threshold": 0.6}, output="Good morning.")

    assert metric.status is status


@pytest.mark.anyio
@pytest.mark.parametrize("options", [{}, {"threshold": 0.5}])
async def test_a_label_and_a_score_that_contradict_each_other_decide_nothing(
    judged: Any, options: dict[str, float]
) -> None:
    metric, model = await judged("quality/sentiment", tone("negative", 0.9), options=options, output="At seven.")

    assert (metric.outcome, metric.score, metric.status) == (Outcome.UNDECIDED, 0.9, Status.UNKNOWN)
    assert "the score 0.9 is not in the range of the label, 0.2 to 0.4" in metric.rationale
    assert metric.details == {"label": "negative", "rating": 0.9}
    assert len(model.calls) == 1


@pytest.mark.anyio
@BOTH
@pytest.mark.case("judge-reply/score-above-scale")
@pytest.mark.parametrize("broken", [tone("so so", 0.5), tone("neutral", 7), tone("middle", -1)])
async def test_a_word_that_is_no_label_and_a_score_off_the_scale_are_asked_for_again(
    judged: Any, name: str, broken: str
) -> None:
    right = tone("positive", 0.7) if name == "quality/sentiment" else tone("middle", 0.5)

    again, _ = await judged(name, [broken, right], output="At seven.")
    never, model = await judged(name, broken, output="At seven.")

    assert again.outcome is Outcome.VERDICT
    assert never.outcome is Outcome.FAILED
    assert len(model.calls) == 2


@pytest.mark.anyio
@BOTH
@pytest.mark.case("judge-reply/choice-case-and-brackets")
async def test_case_and_markup_of_a_label_do_not_matter(judged: Any, name: str) -> None:
    label = "**Very Positive**" if name == "quality/sentiment" else "Very formal."

    metric, _ = await judged(name, tone(label, 0.9), output="At seven.")

    assert metric.details["label"] in {"very positive", "very formal"}


@pytest.mark.anyio
@BOTH
@pytest.mark.case("judge-reply/score-null")
async def test_null_is_inconclusive(judged: Any, name: str) -> None:
    for reply in (tone(None, None, "no words"), tone(None, 0.5, "no words")):
        metric, _ = await judged(name, reply, output="…")

        assert metric.outcome is Outcome.INCONCLUSIVE
        assert metric.rationale == "no words"


@pytest.mark.anyio
@BOTH
async def test_an_empty_answer_costs_no_call(judged: Any, name: str) -> None:
    metric, model = await judged(name, [], output=" ")

    assert metric.outcome is Outcome.INCONCLUSIVE
    assert model.calls == []


@pytest.mark.anyio
@pytest.mark.parametrize(
    "alias", ["scorable/Sentiment_recognition", "scorable/SentimentRecognition", "scorable/SentimentAnalysis"]
)
async def test_the_names_of_scorable_stand_for_sentiment(judged: Any, alias: str) -> None:
    metric, _ = await judged(alias, tone("positive", 0.75), output="Lovely.")

    assert (metric.score, metric.status) == (0.75, Status.UNKNOWN)
