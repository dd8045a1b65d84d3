"""`genkitEval/answer_relevancy`: the question, and those that the answer would fit."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genkit_eval import ConfigError, EvalMetric, Message, Outcome, Registry, Status
from genkit_eval.testing import HashEmbedder, ScriptedModel
from genkit_eval_metrics import genkit_metrics
from genkit_eval_metrics.formulas import js_relevancy, mean_similarity

Judged = Callable[..., EvalMetric]

POINT = {"input": "asked", "output": "At nine."}


class Angles:
    """An embedder of texts whose cosine with "asked" is known."""

    name = "angles"

    def __init__(self, cosines: Mapping[str, float]) -> None:
        self.vectors = {"asked": (1.0, 0.0)} | {text: (c, math.sqrt(1 - c * c)) for text, c in cosines.items()}
        self.calls: list[Sequence[str]] = []

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        self.calls.append(texts)
        return [self.vectors[text] for text in texts]


def guess(question: str = "guessed", *, answered: object = True, noncommittal: object = False) -> str:
    return json.dumps({"reason": "so", "question": question, "answered": answered, "noncommittal": noncommittal})


def test_the_score_is_the_cosine_of_question_and_guess(judged: Judged) -> None:
    metric = judged("answer_relevancy", ScriptedModel(guess()), embedder=Angles({"guessed": 0.8}), **POINT)

    assert metric.score == pytest.approx(0.8)
    assert metric.status is Status.PASS
    assert metric.details == {
        "form": "embedded",
        "answered": [True],
        "noncommittal": [False],
        "cosines": [pytest.approx(0.8)],
    }
    assert [finding.text for finding in metric.findings] == ["guessed"]


def test_a_blank_guess_is_the_judges_fault_and_no_score_of_0(judged: Judged) -> None:
    metric = judged("answer_relevancy", ScriptedModel(guess("  ")), embedder=Angles({"  ": 0.0}), **POINT)

    assert metric.outcome is Outcome.FAILED
    assert "question: is empty" in str(metric.error)


def test_several_guesses_give_the_mean_of_the_cosines_from_0_up(judged: Judged) -> None:
    judge = ScriptedModel([guess("near"), guess("far"), guess("opposite")])
    embedder = Angles({"near": 0.9, "far": 0.6, "opposite": -0.5})

    metric = judged("answer_relevancy", judge, embedder=embedder, options={"questions": 3}, **POINT)

    # (0.9 + 0.6 + 0) / 3
    assert metric.score == pytest.approx(0.5)
    assert embedder.calls == [["asked", "near", "far", "opposite"]]


def test_exactly_half_fails(judged: Judged) -> None:
    metric = judged("answer_relevancy", ScriptedModel(guess()), embedder=Angles({"guessed": 0.5}), **POINT)

    assert metric.score == pytest.approx(0.5)
    assert metric.status is Status.FAIL


@pytest.mark.case("judge-metric/noncommittal-beats-similarity")
@pytest.mark.parametrize("variant", ["mean", "js"])
def test_a_noncommittal_answer_scores_zero_whatever_the_similarity(judged: Judged, variant: str) -> None:
    judge = ScriptedModel(guess("When does the pool open?", answered=False, noncommittal=True))
    embedder = Angles({"When does the pool open?": 0.95})

    metric = judged("answer_relevancy", judge, embedder=embedder, options={"variant": variant}, **POINT)

    assert (metric.score, metric.status, metric.ended) == (0.0, Status.FAIL, Outcome.VERDICT)
    assert embedder.calls == []


def test_one_committed_guess_of_several_is_enough(judged: Judged) -> None:
    judge = ScriptedModel([guess(noncommittal=True), guess()])

    metric = judged("answer_relevancy", judge, embedder=Angles({"guessed": 0.8}), options={"questions": 2}, **POINT)

    assert metric.score == pytest.approx(0.8)


@pytest.mark.case("judge-metric/relevancy-penalty-floor")
@pytest.mark.parametrize(
    ("variant", "cosine", "score"), [("mean", 0.3, 0), ("mean", 0.6, 0), ("js", 0.3, 0), ("js", 0.6, 0.1)]
)
def test_an_unanswered_question_never_passes_nor_falls_below_zero(
    judged: Judged, variant: str, cosine: float, score: float
) -> None:
    judge = ScriptedModel(guess(answered=False))

    metric = judged(
        "answer_relevancy", judge, embedder=Angles({"guessed": cosine}), options={"variant": variant}, **POINT
    )

    assert metric.score == pytest.approx(score, abs=1e-9)
    assert metric.status is Status.FAIL


@pytest.mark.case("judge-metric/negative-cosine")
@pytest.mark.parametrize(("variant", "score"), [("mean", 0.0), ("js", 0.9)])
def test_opposite_vectors_are_unlike_and_in_the_variant_alike(judged: Judged, variant: str, score: float) -> None:
    embedder = Angles({"guessed": -0.9})

    metric = judged(
        "answer_relevancy", ScriptedModel(guess()), embedder=embedder, options={"variant": variant}, **POINT
    )

    assert metric.score == pytest.approx(score)


@pytest.mark.parametrize(
    ("answered", "noncommittal", "score"), [(True, False, 1.0), (False, False, 0.0), (True, True, 0.0)]
)
def test_without_an_embedder_the_judge_alone_decides(
    judged: Judged, answered: bool, noncommittal: bool, score: float
) -> None:
    judge = ScriptedModel(guess(answered=answered, noncommittal=noncommittal))

    metric = judged("answer_relevancy", judge, **POINT)

    assert (metric.score, metric.status) == (score, Status.PASS if score else Status.FAIL)
    assert metric.details is not None
    assert metric.details["form"] == "judged"


def test_the_form_is_part_of_the_version() -> None:
    versions = []
    for embedder in (None, HashEmbedder()):
        registry = Registry()
        registry.install(genkit_metrics(judge=ScriptedModel(""), embedder=embedder))
        versions.append(registry.evaluator("genkitEval/answer_relevancy").version)

    assert versions[0].startswith("1-judged-")
    assert versions[1].startswith("1-embedded-")


@pytest.mark.parametrize("options", [{"variant": "js"}, {"variant": "js", "questions": 2}])
def test_the_variant_is_refused_where_it_cannot_be_computed(judged: Judged, options: dict[str, object]) -> None:
    judge = ScriptedModel(guess())
    embedder = HashEmbedder() if "questions" in options else None

    with pytest.raises(ConfigError, match="variant 'js' takes an embedder and one question, but"):
        judged("answer_relevancy", judge, embedder=embedder, options=options, **POINT)

    assert judge.calls == []


class Broken:
    """An embedder that gives the same vectors for whatever it is asked."""

    name = "broken"

    def __init__(self, *vectors: Sequence[float]) -> None:
        self.vectors = vectors

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        return self.vectors


@pytest.mark.parametrize(
    ("vectors", "problem"),
    [
        ([(1, 0), (0, 0)], "zeros"),
        ([(1, 0)], "gave 1 vectors for 2 texts"),
        ([], "gave 0 vectors for 2 texts"),
        ([(1, 0), (1, 0, 0)], "vectors of 2 and 3 numbers"),
        ([(1, 0), (math.nan, 0)], "not finite"),
    ],
)
def test_vectors_that_have_no_angle_are_a_failure(
    judged: Judged, vectors: Sequence[Sequence[float]], problem: str
) -> None:
    metric = judged("answer_relevancy", ScriptedModel(guess()), embedder=Broken(*vectors), **POINT)

    assert (metric.ended, metric.score) == (Outcome.FAILED, None)
    assert problem in str(metric.error)
    assert "broken" in str(metric.error)


@pytest.mark.case("judge-metric/empty-output-no-judge-call")
@pytest.mark.parametrize(
    ("fields", "reason"),
    [({"input": "q", "output": " "}, "output is empty"), ({"input": "", "output": "a"}, "input is empty")],
)
def test_nothing_to_read_is_not_sent(judged: Judged, fields: dict[str, str], reason: str) -> None:
    judge, embedder = ScriptedModel(guess()), HashEmbedder()

    metric = judged("answer_relevancy", judge, embedder=embedder, **fields)

    assert (metric.ended, metric.rationale) == (Outcome.INCONCLUSIVE, reason)
    assert (judge.calls, embedder.calls) == ([], [])


def test_the_context_is_shown_to_the_judge_and_may_be_absent(judged: Judged) -> None:
    def answer(messages: Sequence[Message]) -> str:
        return guess()

    with_context, without = ScriptedModel(answer), ScriptedModel(answer)

    judged("answer_relevancy", with_context, context=["The pool opens at nine."], **POINT)
    judged("answer_relevancy", without, **POINT)

    assert "The pool opens at nine." in with_context.calls[0].text
    assert "(none)" in without.calls[0].messages[-1].content


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=20))
def test_the_mean_stays_within_its_bounds(cosines: list[float]) -> None:
    assert 0 <= mean_similarity(cosines) <= 1


@given(st.floats(-1, 1), st.booleans(), st.booleans())
def test_the_variant_stays_within_its_bounds(cosine: float, answered: bool, noncommittal: bool) -> None:
    assert 0 <= js_relevancy(cosine, answered=answered, noncommittal=noncommittal) <= 1
