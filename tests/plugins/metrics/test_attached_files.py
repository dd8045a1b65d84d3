"""Attached files and Genkit's metrics: read as context or beside the question, or told why not; never passed over."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from genkit_eval import EvalMetric, GenkitEval, Message, ModelError, Outcome
from genkit_eval.prompts import fenced_in
from genkit_eval.testing import HashEmbedder, ScriptedModel
from genkit_eval_metrics import genkit_metrics
from tests.plugins.judges.files import SVG, pdf, picture
from tests.plugins.metrics.conftest import ScriptedJudge

Judged = Callable[..., EvalMetric]

TERMS = "Parcels go back within 30 days"
PARTS = {"input": "q", "output": f"{TERMS}. It is free.", "reference": f"{TERMS}."}


def files(folder: Path, **contents: bytes) -> list[str]:
    """The paths of files with these contents; a name's last underscore stands for the point before its ending."""
    for name, data in contents.items():
        (folder / ".".join(name.rsplit("_", 1))).write_bytes(data)
    return [str(folder / ".".join(name.rsplit("_", 1))) for name in contents]


def answer_to(messages: Sequence[Message]) -> str:
    """A reply that fits whatever is asked."""
    kinds = {
        '{"statements"': {"statements": ["one"]},
        '{"verdicts"': {"verdicts": [{"number": 1, "reason": "r", "verdict": True}]},
        '{"entities"': {"entities": ["Norra"]},
        '"question"': {"reason": "r", "question": "q?", "answered": True, "noncommittal": False},
        '"rating"': {"reason": "r", "rating": 2},
        '{"phrases"': {"phrases": ["one"]},
        '{"questions"': {"questions": ["one?"]},
        '"verdict"': {"reason": "r", "verdict": True},
    }
    return json.dumps(next(reply for mark, reply in kinds.items() if mark in messages[0].content))


def images_of(model: ScriptedModel) -> list[int]:
    return [len(call.messages[-1].images) for call in model.calls]


def test_the_pages_of_a_pdf_are_context_that_statements_are_held_against(judged: Judged, tmp_path: Path) -> None:
    attachments = files(tmp_path, terms_pdf=pdf(f"{TERMS}."))
    judge = ScriptedJudge()

    metric = judged("faithfulness", judge, **PARTS, attachments=attachments)

    assert (metric.score, metric.findings[1].text) == (0.5, "It is free")
    evidence = fenced_in(judge.calls[1].text)
    assert f"terms.pdf, page 1:\n{TERMS}." in evidence
    assert "terms.pdf" not in judge.calls[0].text


def test_files_stand_behind_the_documents_of_the_context(judged: Judged, tmp_path: Path) -> None:
    judge = ScriptedJudge()

    judged("faithfulness", judge, **PARTS, context=["It is free."], attachments=files(tmp_path, logo_svg=SVG))

    evidence = fenced_in(judge.calls[1].text)
    assert evidence.index("It is free.") < evidence.index("logo.svg, the source of an image:\n<svg")


@pytest.mark.parametrize(
    ("metric", "seen"),
    [
        ("faithfulness", [0, 1]),
        ("context_recall", [0, 1]),
        ("response_groundedness", [1, 1]),
        ("context_relevance", [1, 1]),
        ("answer_relevancy", [1]),
        ("answer_accuracy", [1, 1]),
        ("maliciousness", [1]),
        # of the reference and of the context, side by side
        ("context_entity_recall", [0, 1]),
    ],
)
def test_an_image_is_seen_wherever_the_files_are_shown(
    judged: Judged, tmp_path: Path, metric: str, seen: list[int]
) -> None:
    model = ScriptedModel(answer_to)

    found = judged(metric, model, **PARTS, attachments=files(tmp_path, receipt_png=picture(), terms_pdf=pdf(TERMS)))

    assert found.outcome is Outcome.VERDICT
    assert images_of(model) == seen
    asked = [call.text for call in model.calls if call.messages[-1].images]
    assert all("receipt.png: shown as image 1" in fenced_in(text) and TERMS in fenced_in(text) for text in asked)


def test_a_criterion_of_ones_own_words_is_shown_the_files(judged: Judged, tmp_path: Path) -> None:
    model = ScriptedModel(answer_to)

    judged(
        "aspect_critic",
        model,
        **PARTS,
        attachments=files(tmp_path, receipt_png=picture()),
        options={"definition": "It is as the receipt says."},
    )

    assert images_of(model) == [1]
    assert "receipt.png: shown as image 1" in fenced_in(model.calls[0].text)


def test_of_retrieved_documents_the_files_are_none_but_the_question_has_them(judged: Judged, tmp_path: Path) -> None:
    model = ScriptedModel(answer_to)

    metric = judged(
        "context_precision", model, **PARTS, context=["a"], attachments=files(tmp_path, terms_pdf=pdf(TERMS))
    )

    assert [finding.text for finding in metric.findings] == ["a"]
    assert f"q\n\nAttached files:\n\nterms.pdf, page 1:\n{TERMS}" in fenced_in(model.calls[0].text)


@pytest.mark.parametrize("metric", ["context_precision", "noise_sensitivity"])
def test_files_without_retrieved_documents_are_nothing_to_judge_and_that_is_said(
    judged: Judged, tmp_path: Path, metric: str
) -> None:
    model = ScriptedModel(answer_to)

    found = judged(metric, model, **PARTS, attachments=files(tmp_path, terms_pdf=pdf(TERMS)))

    assert found.outcome is Outcome.INCONCLUSIVE
    assert found.rationale == "no context was given; the attached files are none, as no search brought them"
    assert not model.calls


@pytest.mark.parametrize("metric", ["answer_correctness", "answer_similarity"])
def test_what_compares_an_answer_with_the_reference_alone_has_no_use_for_files(
    judged: Judged, tmp_path: Path, metric: str
) -> None:
    model = ScriptedModel(answer_to, sees=False)
    judge = None if metric == "answer_similarity" else model

    found = judged(metric, judge, embedder=HashEmbedder(), **PARTS, attachments=files(tmp_path, receipt_png=picture()))

    assert found.outcome is Outcome.VERDICT
    assert images_of(model) == [0] * len(model.calls)


def test_an_image_for_a_judge_that_takes_none_is_inconclusive_and_costs_no_call(judged: Judged, tmp_path: Path) -> None:
    model = ScriptedModel(answer_to, sees=False)

    metric = judged("faithfulness", model, **PARTS, attachments=files(tmp_path, scan_png=picture()))

    assert metric.outcome is Outcome.INCONCLUSIVE
    assert metric.rationale == "the case has an image (scan.png), and the judge scripted takes none"
    assert not model.calls


def test_the_length_of_a_text_that_was_summed_up_counts_that_of_its_pages(judged: Judged, tmp_path: Path) -> None:
    given = {"input": "Sum it up.", "output": "Short.", "attachments": files(tmp_path, a_pdf=pdf("x" * 300))}

    metric = judged("summarization_score", ScriptedModel(answer_to), **given)

    length = len("a.pdf, page 1:\n") + 300
    assert metric.details is not None
    assert metric.details["textLength"] == length
    assert metric.score == pytest.approx(0.5 + 0.5 * (1 - 6 / length))


def test_an_image_that_was_summed_up_has_no_length(judged: Judged, tmp_path: Path) -> None:
    metric = judged(
        "summarization_score", ScriptedModel(answer_to), **PARTS, attachments=files(tmp_path, a_png=picture())
    )

    assert metric.outcome is Outcome.INCONCLUSIVE
    assert str(metric.rationale).startswith("what was summed up holds an image")


def test_a_file_that_cannot_be_read_is_no_verdict(judged: Judged, tmp_path: Path) -> None:
    metric = judged("faithfulness", ScriptedModel(answer_to), **PARTS, attachments=[str(tmp_path / "gone.pdf")])

    assert metric.outcome is Outcome.FAILED
    assert "gone.pdf cannot be read: No such file or directory" in str(metric.error)


def test_the_version_and_the_prompts_of_cases_without_files_are_what_they_were(judged: Judged) -> None:
    ge = GenkitEval(plugins=[genkit_metrics(judge=ScriptedModel(answer_to, name="m"))])
    model = ScriptedModel(answer_to)

    judged("answer_accuracy", model, **PARTS)

    assert ge.registry.evaluator("genkitEval/faithfulness").version == "1-c1536f6009f7"
    assert "Attached" not in model.calls[0].text


def test_a_case_that_is_too_long_with_its_files_is_refused_with_the_figure(judged: Judged, tmp_path: Path) -> None:
    too_long = ModelError("the prompt is longer than the model's context window", kind="window")
    given = {"output": "o", "attachments": files(tmp_path, terms_pdf=pdf("x" * 4_000))}

    metric = judged("response_groundedness", ScriptedModel(too_long), **given)

    assert metric.outcome is Outcome.FAILED
    assert "the case, 4,020 characters or some 1,005 tokens, is more than the judge can read at once" in str(
        metric.error
    )


def test_the_pages_of_a_long_pdf_are_read_in_parts(judged: Judged, tmp_path: Path) -> None:
    def answer(messages: Sequence[Message]) -> str | Exception:
        if messages[-1].content.count("long.pdf, page") > 2:
            return ModelError("the prompt is longer than the model's context window", kind="window")
        return answer_to(messages).replace("true", "true" if "page 5" in messages[-1].content else "false")

    attachments = files(tmp_path, long_pdf=pdf(*(f"page text {number}" for number in range(1, 7))))

    metric = judged("faithfulness", ScriptedModel(answer), output="o", attachments=attachments)

    assert metric.score == 1
    assert metric.details is not None
    assert metric.details["contextParts"] == 4
