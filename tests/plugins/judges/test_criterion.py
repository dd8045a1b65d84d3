"""A criterion in the user's own words."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from genkit_eval import EvalMetric, GenkitEval, Outcome, Status
from genkit_eval.testing import ScriptedModel, data_point
from genkit_eval_judges import Anchors, Category, Criterion, Demonstration, Range, Variable, judges
from genkit_eval_judges.criterion_judge import worth

BASE = {
    "name": "custom/window",
    "intent": "Customers learn of the window.",
    "criterion": "The answer names the window.",
}
LABELS = (Category(label="good", score=1), Category(label="fair", score=0.5), Category(label="bad", score=0))
INCORRECT = (Category(label="correct", score=1), Category(label="incorrect", score=0))


async def score(
    replies: Any, *, options: dict[str, Any] | None = None, fields: dict[str, Any] | None = None, **said: Any
) -> tuple[EvalMetric, ScriptedModel]:
    """The metric of a criterion, and the model that was asked."""
    model = ScriptedModel(replies)
    criterion = Criterion(**{**BASE, **said})
    ge = GenkitEval(plugins=[judges(judge=model, own=[criterion])])
    point = data_point(**{"output": "Thirty days.", **(fields or {})})
    (metric,) = await ge.score(point, ge.ref(criterion.name, **(options or {})))
    return metric, model


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("scale", "reply", "expected", "details"),
    [
        ("continuous", {"score": 0.8}, 0.8, {"rating": 0.8}),
        # (4 - 1) / (10 - 1)
        (Range(low=1, high=10), {"score": 4}, 1 / 3, {"rating": 4}),
        (Range(low=-2, high=2), {"score": -2}, 0.0, {"rating": -2}),
        ("binary", {"verdict": True}, 1.0, {"verdict": True}),
        ("binary", {"verdict": False}, 0.0, {"verdict": False}),
        (LABELS, {"label": "Fair."}, 0.5, {"label": "fair"}),
    ],
)
async def test_a_judgement_on_its_scale_becomes_a_score(
    scale: Any, reply: dict[str, Any], expected: float, details: dict[str, Any]
) -> None:
    metric, model = await score(json.dumps({"reason": "so it is", **reply}), scale=scale)

    assert metric.score == pytest.approx(expected)
    assert metric.status is (Status.PASS if expected >= 0.5 else Status.FAIL)
    assert (metric.rationale, metric.details) == ("so it is", details)
    assert len(model.calls) == 1


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({"threshold": 0.9}, Status.FAIL),
        ({"threshold": None}, Status.UNKNOWN),
        ({"direction": "minimize"}, Status.FAIL),
        ({"direction": "minimize", "threshold": 0.8}, Status.PASS),
    ],
)
async def test_threshold_and_direction_say_what_passes(given: dict[str, Any], status: Status) -> None:
    metric, _ = await score('{"reason": "r", "score": 0.8}', **given)

    assert (metric.score, metric.status, metric.outcome) == (0.8, status, Outcome.VERDICT)


@pytest.mark.anyio
async def test_a_run_may_set_another_threshold() -> None:
    metric, _ = await score('{"reason": "r", "score": 0.8}', options={"threshold": 0.85})

    assert metric.status is Status.FAIL


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("scale", "reply"),
    [
        pytest.param(
            "continuous", '{"score": null, "reason": "no text"}', marks=pytest.mark.case("judge-reply/score-null")
        ),
        ("binary", '{"verdict": null, "reason": "no text"}'),
        (LABELS, '{"label": null, "reason": "no text"}'),
    ],
)
async def test_a_judgement_of_null_is_inconclusive(scale: Any, reply: str) -> None:
    metric, _ = await score(reply, scale=scale)

    assert (metric.outcome, metric.score, metric.rationale) == (Outcome.INCONCLUSIVE, None, "no text")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("scale", "reply", "expected"),
    [
        pytest.param("continuous", '{"score": " 0.8 "}', 0.8, marks=pytest.mark.case("judge-reply/number-as-string")),
        pytest.param(
            "continuous",
            '{\n "score": 0.8 // nearly complete\n}',
            0.8,
            marks=pytest.mark.case("judge-reply/line-comment-in-json"),
        ),
        pytest.param(
            Range(low=1, high=5), '{"score": "4/5"}', 0.75, marks=pytest.mark.case("judge-reply/fraction-scale")
        ),
        pytest.param(INCORRECT, '{"label": "Incorrect."}', 0.0, marks=pytest.mark.case("judge-reply/label-substring")),
        pytest.param(INCORRECT, "Label: incorrect.", 0.0, marks=pytest.mark.case("judge-reply/label-substring")),
        pytest.param(INCORRECT, "(Correct)", 1.0, marks=pytest.mark.case("judge-reply/choice-case-and-brackets")),
    ],
)
async def test_what_a_judge_clearly_says_is_understood(scale: Any, reply: str, expected: float) -> None:
    metric, _ = await score(reply, scale=scale)

    assert metric.score == pytest.approx(expected)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("scale", "reply", "said"),
    [
        pytest.param(
            Range(low=1, high=5), '{"score": 7}', "7", marks=pytest.mark.case("judge-reply/score-above-scale")
        ),
        pytest.param(
            Range(low=1, high=5), '{"score": "8/10"}', "8/10", marks=pytest.mark.case("judge-reply/fraction-scale")
        ),
        pytest.param("continuous", '{"score": NaN}', "NaN", marks=pytest.mark.case("judge-reply/score-nan")),
        pytest.param(
            LABELS,
            "Hmm, hard to tell overall.",
            "hard to tell",
            marks=pytest.mark.case("judge-reply/unparseable-is-not-worst-score"),
        ),
        (INCORRECT, "It is not correct", "not correct"),
        (INCORRECT, "correct\nincorrect", "correct"),
    ],
)
async def test_what_is_not_on_the_scale_is_asked_once_more_and_then_failed(scale: Any, reply: str, said: str) -> None:
    metric, model = await score(reply, scale=scale)

    assert (metric.outcome, metric.score) == (Outcome.FAILED, None)
    assert said in (metric.error or "")
    assert len(model.calls) == 2


@pytest.mark.anyio
async def test_the_judge_reads_what_the_author_says_and_each_variable_under_its_name() -> None:
    said = {
        "criterion": "{{response}} keeps to {{policy}}, {{ context }} or not. Literally: {{ }}.",
        "variables": ("response", "context", Variable(name="policy", meaning="the shop's rules")),
        "anchors": Anchors(low="No window.", middle="A vague one.", high="The window, in days."),
        "demonstrations": (Demonstration(request="How long?", response="A while.", score=0.25, justification="vague"),),
    }
    fields = {"context": ["Page 3"], "custom": {"policy": "Thirty days."}}

    _, model = await score('{"reason": "r", "score": 1}', fields=fields, **said)

    (call,) = model.calls
    system, user = call.messages
    for text in (
        "Customers learn of the window.",
        "[response] keeps to [policy], [context] or not. Literally: {{ }}.",
        "0: No window.\n0.5: A vague one.\n1: The window, in days.",
        '{"reason": "vague", "score": 0.25}',
        "A while.",
    ):
        assert text in system.content
    names = [line for line in user.content.splitlines() if line.startswith("[")]
    assert names == ["[response]:", "[context]:", "[policy] (the shop's rules):"]
    assert "Page 3" in user.content


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("said", "fields"),
    [
        ({}, {"output": " "}),
        ({"criterion": "{{response}} and {{reference}}"}, {}),
        ({"variables": ("response", "policy")}, {}),
        ({"variables": ("response", "policy")}, {"custom": {"policy": ""}}),
    ],
)
async def test_a_case_without_a_variable_is_inconclusive_and_costs_no_call(
    said: dict[str, Any], fields: dict[str, Any]
) -> None:
    metric, model = await score([], fields=fields, **said)

    assert metric.outcome is Outcome.INCONCLUSIVE
    assert model.calls == []


@pytest.mark.anyio
async def test_a_custom_value_that_is_named_nearly_like_a_part_is_told_so() -> None:
    metric, _ = await score([], variables=("response", "refrence"), fields={"reference": "x"})

    assert "write 'reference'" in metric.rationale


@pytest.mark.anyio
async def test_a_variable_may_be_missing_where_it_is_not_required() -> None:
    variables = ("response", Variable(name="policy", required=False))

    metric, model = await score('{"reason": "r", "score": 1}', variables=variables)

    assert metric.score == 1
    assert "(none)" in model.calls[0].text


@pytest.mark.anyio
async def test_the_system_prompt_is_shown_where_no_variables_are_named() -> None:
    _, model = await score('{"reason": "r", "score": 1}', fields={"system_prompt": "You sell shoes."})

    assert "[system_prompt]:" in model.calls[0].text
    assert "You sell shoes." in model.calls[0].text


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"variables": ("request",)}, "lack 'response'"),
        ({"variables": ("response",), "criterion": "{{response}} and {{policy}}"}, "{{policy}}"),
        ({"variables": ("response", "response")}, "twice"),
        ({"scale": Range(low=0, high=1), "demonstrations": (Demonstration(response="r", score=2),)}, "on the scale"),
        ({"scale": "binary", "demonstrations": (Demonstration(response="r", score=1.0),)}, "on the scale"),
        ({"scale": LABELS, "demonstrations": (Demonstration(response="r", score="so-so"),)}, "on the scale"),
        ({"scale": (*LABELS, Category(label="Good.", score=0))}, "labels"),
        ({"scale": LABELS[:1]}, "two or more"),
        ({"scale": LABELS, "anchors": Anchors(low="x")}, "no anchors"),
        ({"scale": "binary", "anchors": Anchors(middle="x")}, "no middle"),
        ({"criterion": "  "}, "criterion"),
        ({"treshold": 0.4}, "treshold"),
    ],
)
def test_what_does_not_fit_together_is_refused(said: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Criterion(**{**BASE, **said})

    assert problem in str(refused.value)


def test_an_empty_range_is_refused() -> None:
    with pytest.raises(ValidationError, match="is empty"):
        Range(low=1, high=1)


def version(**said: Any) -> str:
    ge = GenkitEval(plugins=[judges(judge=ScriptedModel("{}"), own=[Criterion(**{**BASE, **said})])])
    return ge.registry.evaluator("custom/window").version


def test_the_version_is_that_of_all_that_a_score_depends_on() -> None:
    differing = [
        {},
        {"intent": "Another."},
        {"criterion": "Another."},
        {"variables": ("response",)},
        {"scale": LABELS},
        {"scale": (*LABELS[:2], Category(label="bad", score=0.1))},
        {"anchors": Anchors(low="x")},
        {"demonstrations": (Demonstration(response="r", score=1.0),)},
        {"model": "openai/other"},
        {"parameters": {"temperature": 0}},
        {"threshold": 0.6},
        {"direction": "minimize"},
    ]

    versions = [version(**said) for said in differing]

    assert len(set(versions)) == len(differing)
    assert versions[0] == version() == version(title="Window")


def test_a_criterion_is_listed_with_what_it_is_for() -> None:
    ge = GenkitEval(plugins=[judges(judge="openai/one", own=[Criterion(**BASE, model="openai/two", title="Window")])])

    evaluator = ge.registry.evaluator("custom/window")

    assert (evaluator.display_name, evaluator.definition) == ("Window", BASE["intent"])
    assert evaluator.models == {"judge": "openai/two"}
    assert "The answer names the window." in evaluator.prompts["judgement"]
    assert evaluator.is_billed


def test_without_a_judge_a_criterion_is_not_ready() -> None:
    ge = GenkitEval(plugins=[judges(own=[Criterion(**BASE)])])

    assert "needs a judge" in (ge.registry.evaluator("custom/window").needs or "")


FINITE = st.floats(-1e6, 1e6)


@given(FINITE, FINITE, st.lists(st.floats(0, 1), min_size=2, max_size=2).map(sorted))
def test_a_number_of_any_range_is_worth_0_to_1_and_more_is_never_worth_less(
    a: float, b: float, places: list[float]
) -> None:
    low, high = min(a, b), max(a, b) + 1
    criterion = Criterion(**BASE, scale=Range(low=low, high=high))

    numbers = [min(max(low + place * (high - low), low), high) for place in places]
    less, more = (worth(criterion, number) for number in numbers)

    assert 0 <= less <= more <= 1
    assert (worth(criterion, low), worth(criterion, high)) == (0, 1)


@pytest.mark.parametrize(("direction", "word"), [("maximize", "From"), ("minimize", "Up to")])
def test_the_option_says_which_side_of_the_threshold_passes(direction: Any, word: str) -> None:
    own = Criterion(**{**BASE, "direction": direction})
    options = GenkitEval(plugins=[judges(judge="openai/x", own=[own])]).registry.evaluator(own.name).options

    assert options is not None
    assert (options.model_fields["threshold"].description or "").startswith(f"{word} which score")


def test_a_definition_is_one_line_and_a_demonstration_teaches_no_empty_reason() -> None:
    own = Criterion(
        **{**BASE, "intent": "Customers learn\nof it.\n", "demonstrations": (Demonstration(response="r", score=1),)}
    )
    ge = GenkitEval(plugins=[judges(judge="openai/x", own=[own])])

    evaluator = ge.registry.evaluator(own.name)

    assert evaluator.definition == "Customers learn of it."
    assert '{"reason": "\u2026", "score": 1}' in next(iter(evaluator.prompts.values()))


@pytest.mark.anyio
@pytest.mark.parametrize(("name", "meant"), [("output", "response"), ("input", "request"), ("contxt", "context")])
async def test_who_calls_a_part_by_another_name_is_told_its_own(name: str, meant: str) -> None:
    metric, model = await score([], criterion=f"{{{{response}}}} fits {{{{{name}}}}}.")

    assert (metric.outcome, model.calls) == (Outcome.INCONCLUSIVE, [])
    assert f"(for the part of the case write '{meant}')" in (metric.rationale or "")
