"""Files that an answer consists of: part of what is judged, and never evidence for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from genkit_eval import EvalMetric, GenkitEval, Outcome
from genkit_eval.prompts import fenced_in
from genkit_eval.testing import ScriptedModel, data_point
from genkit_eval_judges import Criterion, judges
from genkit_eval_metrics import genkit_metrics
from tests.plugins.judges.conftest import Judged
from tests.plugins.judges.files import pdf, picture
from tests.plugins.judges.replies import aspects, rating, verdicts

RATED = '{"reason": "it fits", "rating": 1}'
VERDICT = '{"verdicts": [{"number": 1, "reason": "r", "verdict": true}]}'
CLAIM = '{"statements": ["It takes 30 days."]}'
pytestmark = pytest.mark.anyio


def made(folder: Path, name: str, data: bytes) -> str:
    (folder / name).write_bytes(data)
    return str(folder / name)


async def test_the_text_of_a_pdf_is_the_answer_where_there_is_no_output(judged: Judged, tmp_path: Path) -> None:
    report = made(tmp_path, "report.pdf", pdf("It takes 30 days."))

    metric, model = await judged("quality/politeness", RATED, output=None, output_attachments=[report])

    assert metric.score == 1
    assert "report.pdf, page 1:\nIt takes 30 days." in fenced_in(model.calls[0].text)
    assert "Attached files" not in model.calls[0].text


async def test_claims_of_a_pdf_are_held_against_the_context_and_not_against_itself(
    judged: Judged, tmp_path: Path
) -> None:
    report = made(tmp_path, "report.pdf", pdf("It takes 30 days."))

    metric, model = await judged(
        "judge/faithfulness", [CLAIM, VERDICT], output="See the report.", context=["doc"], output_attachments=[report]
    )

    assert metric.score == 1
    assert "See the report.\n\nreport.pdf, page 1:\nIt takes 30 days." in fenced_in(model.calls[0].text)
    assert "report.pdf" not in model.calls[1].text


@pytest.mark.parametrize("name", ["judge/hallucination", "judge/faithfulness", "quality/faithfulness"])
async def test_without_a_context_a_file_of_the_answer_is_none(judged: Judged, tmp_path: Path, name: str) -> None:
    report = made(tmp_path, "report.pdf", pdf("It takes 30 days."))
    options = {"alone": False} if name == "judge/hallucination" else {}

    metric, model = await judged(name, CLAIM, options=options, output="a", output_attachments=[report])

    assert metric.outcome is Outcome.INCONCLUSIVE
    assert metric.rationale == "there is no context to judge by"
    assert not model.calls


async def test_images_of_the_answer_are_numbered_before_those_attached(judged: Judged, tmp_path: Path) -> None:
    chart, photo = made(tmp_path, "chart.png", picture()), made(tmp_path, "photo.jpg", picture("JPEG"))

    _, model = await judged(
        "quality/politeness", RATED, input="Draw it.", output="", attachments=[photo], output_attachments=[chart]
    )

    (*_, message) = model.calls[0].messages
    assert [image.media_type for image in message.images] == ["image/png", "image/jpeg"]
    assert "chart.png: shown as image 1" in fenced_in(message.content)
    assert "Attached files:" in message.content
    assert "photo.jpg: shown as image 2" in fenced_in(message.content)


@pytest.mark.parametrize(
    "name",
    [
        "judge/faithfulness",
        "judge/hallucination",
        "judge/turn_faithfulness",
        "quality/truthfulness",
        "quality/faithfulness",
        "quality/information_density",
    ],
)
async def test_an_image_cannot_be_taken_apart_into_claims(judged: Judged, tmp_path: Path, name: str) -> None:
    chart = made(tmp_path, "chart.png", picture())

    metric, model = await judged(name, CLAIM, output="a", context=["doc"], output_attachments=[chart])

    assert metric.outcome is Outcome.INCONCLUSIVE
    assert str(metric.rationale).startswith("the answer has an image (chart.png), which cannot be taken apart")
    assert not model.calls


async def test_what_judges_no_answer_is_not_shown_its_files(judged: Judged, tmp_path: Path) -> None:
    chart = made(tmp_path, "chart.png", picture())

    metric, model = await judged(
        "judge/contextual_recall", [CLAIM, VERDICT], reference="r", context=["doc"], output_attachments=[chart]
    )

    assert metric.score == 1
    assert not any(call.messages[-1].images for call in model.calls)


@pytest.mark.parametrize(
    ("name", "reply"),
    [
        ("judge/conversation_completeness", rating(5)),
        ("judge/turn_relevancy", aspects(context_alignment=5, query_addressing=5, coherence=5)),
        ("judge/exchange_relevancy", verdicts(True)),
    ],
)
async def test_a_judge_of_turns_is_told_of_the_files_beside_them(
    judged: Judged, tmp_path: Path, name: str, reply: str
) -> None:
    turns = [{"role": "user", "content": "Draw it."}]
    chart = made(tmp_path, "chart.png", picture())

    metric, model = await judged(
        name, reply, turns=turns, output="Here it is.", goal="a drawing", output_attachments=[chart]
    )

    assert metric.score == 1
    assert "Answer files:" in model.calls[0].text
    assert "chart.png: shown as image 1" in fenced_in(model.calls[0].text)


async def test_a_judge_that_takes_no_images_says_so(tmp_path: Path) -> None:
    chart = made(tmp_path, "chart.png", picture())
    ge = GenkitEval(plugins=[judges(judge=ScriptedModel(RATED, sees=False))])

    (metric,) = await ge.score(data_point(output="a", output_attachments=[chart]), "quality/politeness")

    assert metric.outcome is Outcome.INCONCLUSIVE
    assert metric.rationale == "the case has an image (chart.png), and the judge scripted takes none"


async def test_a_criterion_of_ones_own_has_a_place_for_them(tmp_path: Path) -> None:
    chart = made(tmp_path, "chart.png", picture())
    model = ScriptedModel('{"reason": "r", "score": 1}')
    own = Criterion(name="custom/drawn", intent="i", criterion="What {{answer_files}} show is what was asked for.")
    ge = GenkitEval(plugins=[judges(judge=model, own=[own])])

    drawn, nothing = [
        (await ge.score(data_point(output="a", **given), "custom/drawn"))[0]
        for given in ({"output_attachments": [chart]}, {})
    ]

    assert (drawn.score, nothing.rationale) == (1, "there are no answer files to judge by")
    assert len(model.calls[0].messages[-1].images) == 1


async def scored(name: str, replies: Any, **fields: Any) -> tuple[EvalMetric, ScriptedModel]:
    model = ScriptedModel(replies)
    ge = GenkitEval(plugins=[genkit_metrics(judge=model)])
    (metric,) = await ge.score(data_point(**fields), f"genkitEval/{name}")
    return metric, model


@pytest.mark.parametrize("output", [{"output": None}, {"output": ""}, {}])
async def test_genkits_metrics_read_them_as_the_answer(tmp_path: Path, output: dict[str, Any]) -> None:
    report = made(tmp_path, "report.pdf", pdf("It takes 30 days."))

    metric, model = await scored(
        "faithfulness", [CLAIM, VERDICT], **output, context=["doc"], output_attachments=[report]
    )

    assert metric.score == 1
    assert "report.pdf, page 1:\nIt takes 30 days." in fenced_in(model.calls[0].text)
    assert "report.pdf" not in model.calls[1].text


@pytest.mark.parametrize(
    ("name", "outcome"),
    [("maliciousness", Outcome.VERDICT), ("faithfulness", Outcome.INCONCLUSIVE)],
)
async def test_genkits_metrics_see_an_image_or_say_why_not(tmp_path: Path, name: str, outcome: Outcome) -> None:
    chart = made(tmp_path, "chart.png", picture())

    metric, model = await scored(
        name,
        json.dumps({"reason": "r", "verdict": False}),
        output="a",
        context=["doc"],
        output_attachments=[chart],
    )

    assert metric.outcome is outcome
    assert [len(call.messages[-1].images) for call in model.calls] == ([1] if outcome is Outcome.VERDICT else [])


async def test_a_file_that_a_target_left_elsewhere_is_inconclusive_with_what_to_do(judged: Judged) -> None:
    metric, model = await judged(
        "quality/politeness", RATED, output="a", output_attachments=["https://x.example/a.png"]
    )

    assert metric.outcome is Outcome.INCONCLUSIVE
    assert "https://x.example/a.png lies on another machine" in str(metric.rationale)
    assert "have the flow fetch and record it" in str(metric.rationale)
    assert not model.calls
