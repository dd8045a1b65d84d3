"""From a score to PASS, FAIL or neither: the threshold, and the bands on 1 to 10."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genkit_eval import GenkitEval, InvalidOptions, Outcome, Score, Status
from genkit_eval.testing import ScriptedModel, data_point
from genkit_eval_judges import Criterion, GEval, JudgeOptions, decided, judges
from genkit_eval_judges.catalogue import JUDGES

BANDS = JudgeOptions(bands=True)


def said(score: float, options: JudgeOptions, *, minimize: bool = False) -> tuple[Outcome, Status]:
    found = decided(score, options, reason="why", minimize=minimize)
    assert found.score == score
    return found.outcome, found.status


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        (10, (Outcome.VERDICT, Status.PASS)),
        (8, (Outcome.VERDICT, Status.PASS)),
        (7.99, (Outcome.UNDECIDED, Status.UNKNOWN)),
        (7, (Outcome.UNDECIDED, Status.UNKNOWN)),
        (4, (Outcome.UNDECIDED, Status.UNKNOWN)),
        (3.01, (Outcome.UNDECIDED, Status.UNKNOWN)),
        (3, (Outcome.VERDICT, Status.FAIL)),
        (1, (Outcome.VERDICT, Status.FAIL)),
    ],
)
def test_eight_and_more_pass_three_and_less_fail_and_between_them_nothing_is_decided(
    level: float, expected: tuple[Outcome, Status]
) -> None:
    assert said((level - 1) / 9, BANDS) == expected


def test_where_less_is_better_the_bands_are_turned_round() -> None:
    assert said(0.0, BANDS, minimize=True) == (Outcome.VERDICT, Status.PASS)
    assert said(0.5, BANDS, minimize=True) == (Outcome.UNDECIDED, Status.UNKNOWN)
    assert said(1.0, BANDS, minimize=True) == (Outcome.VERDICT, Status.FAIL)


@pytest.mark.parametrize(("score", "status"), [(0.7, Status.PASS), (0.699, Status.FAIL), (1.0, Status.PASS)])
def test_a_score_at_the_threshold_passes(score: float, status: Status) -> None:
    assert said(score, JudgeOptions(threshold=0.7)) == (Outcome.VERDICT, status)


@pytest.mark.parametrize(("score", "status"), [(0.3, Status.PASS), (0.31, Status.FAIL), (0.0, Status.PASS)])
def test_where_less_is_better_a_score_at_the_threshold_passes_too(score: float, status: Status) -> None:
    assert said(score, JudgeOptions(threshold=0.3), minimize=True) == (Outcome.VERDICT, status)


def test_thirds_and_tenths_meet_the_threshold_that_they_are() -> None:
    assert said(1 - 0.9, JudgeOptions(threshold=0.1))[1] is Status.PASS
    assert said(2 / 3, JudgeOptions(threshold=1 - 1 / 3))[1] is Status.PASS


def test_without_a_threshold_nothing_passes_or_fails() -> None:
    assert said(1.0, JudgeOptions(threshold=None)) == (Outcome.VERDICT, Status.UNKNOWN)


@given(st.floats(0, 1), st.floats(0, 1), st.booleans(), st.booleans())
def test_a_better_score_is_never_decided_worse(one: float, other: float, bands: bool, minimize: bool) -> None:
    order = {Status.FAIL: 0, Status.UNKNOWN: 1, Status.PASS: 2}
    options = JudgeOptions(bands=bands)
    worse, better = sorted((one, other), reverse=minimize)

    levels = [order[said(score, options, minimize=minimize)[1]] for score in (worse, better)]

    assert levels == sorted(levels)


@pytest.mark.parametrize("name", [recipe.name for recipe in JUDGES])
def test_every_judge_takes_bands(name: str) -> None:
    ge = GenkitEval(plugins=[judges(judge=lambda prompt: "")])

    assert ge.registry.evaluator(name).parse_options({"bands": True}) is not None
    with pytest.raises(InvalidOptions):
        ge.registry.evaluator(name).parse_options({"bans": True})


def test_a_reason_says_why_nothing_is_decided() -> None:
    found: Score = decided(0.5, BANDS, reason="half of it")

    assert found.reason == "half of it (between the bands)"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("name", "rated", "nothing"),
    [
        ("judge/correctness", '"rating": 1', '"rating": null'),
        ("judge/bias", '"rating": 0', '"rating": null'),
        ("custom/own", '"score": 1', '"score": null'),
        ("geval/own", '"rating": 5', '"rating": null'),
    ],
)
@pytest.mark.parametrize("reason", ["", " \n"])
async def test_where_a_judge_gives_no_reason_that_is_said(name: str, rated: str, nothing: str, reason: str) -> None:
    replies = [f'{{"reason": {json.dumps(reason)}, {judgement}}}' for judgement in (rated, nothing)]
    own = [Criterion(name="custom/own", intent="i", criterion="c"), GEval(name="own", criterion="c", steps=("a", "b"))]
    ge = GenkitEval(plugins=[judges(judge=ScriptedModel(replies), own=own)])

    found = [(await ge.score(data_point(input="q", output="a", reference="r"), name))[0] for _ in replies]

    assert [metric.outcome for metric in found] == [Outcome.VERDICT, Outcome.INCONCLUSIVE]
    assert {metric.rationale for metric in found} == {"the judge gave no reason"}
