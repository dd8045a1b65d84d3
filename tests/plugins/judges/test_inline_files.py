"""Files that stand in the middle of a case: seen or read by judges, and never sent to them as text."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

from genkit_eval import DataPoint, GenkitEval, Outcome
from genkit_eval.judged.inline import with_files_apart
from genkit_eval.prompts import fenced_in
from genkit_eval.testing import ScriptedModel, data_point
from genkit_eval_metrics import genkit_metrics
from tests.plugins.judges.conftest import Judged
from tests.plugins.judges.files import pdf, picture

RATED = '{"reason": "it fits", "rating": 1}'
PNG = f"data:image/png;base64,{b64encode(picture()).decode()}"
PDF = f"data:application/pdf;base64,{b64encode(pdf('It takes 30 days.')).decode()}"
pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    "part",
    [
        {"media": {"url": PNG, "contentType": "image/png"}},
        {"type": "image_url", "image_url": {"url": PNG}},
        {"inlineData": PNG},
    ],
)
async def test_an_image_in_the_request_to_a_model_is_seen(judged: Judged, part: dict[str, Any]) -> None:
    asked = {"messages": [{"role": "user", "content": [{"text": "Which colour?"}, part]}]}

    metric, model = await judged("quality/politeness", RATED, input=asked, output="Red.")

    assert metric.score == 1
    (*_, message) = model.calls[0].messages
    assert len(message.images) == 1
    assert "(file 1 of the case)" in fenced_in(message.content)
    assert "file 1 of the case: shown as image 1" in fenced_in(message.content)
    assert "base64" not in message.content


async def test_an_image_that_a_flow_returns_as_its_output_is_the_answer(judged: Judged) -> None:
    metric, model = await judged("quality/politeness", RATED, input="Draw it.", output=PNG)

    assert metric.score == 1
    (*_, message) = model.calls[0].messages
    assert len(message.images) == 1
    assert "(file 1 of the answer)\n\nfile 1 of the answer: shown as image 1" in fenced_in(message.content)


@pytest.mark.parametrize("around", ["{}\n", "Here it is:\n![a chart]({}) As you see, it rises.", '<img src="{}">'])
async def test_an_image_inside_a_text_is_seen_and_the_text_read(judged: Judged, around: str) -> None:
    _, model = await judged("quality/politeness", RATED, input="Draw it.", output=around.format(PNG))

    (*_, message) = model.calls[0].messages
    assert len(message.images) == 1
    assert around.format("(file 1 of the answer)").strip() in fenced_in(message.content)


async def test_files_in_context_and_turns_are_evidence_each_under_a_name_of_its_own(judged: Judged) -> None:
    turns = [{"role": "user", "content": [{"text": "This one?"}, {"media": {"url": PNG}}]}]

    _, model = await judged("quality/relevance", RATED, turns=turns, context=[PDF], output="Yes.")

    shown = fenced_in(model.calls[0].text)
    assert "file 1 of the case, page 1:\nIt takes 30 days." in shown
    assert "file 2 of the case: shown as image 1" in shown
    assert "(file 2 of the case)" in shown
    assert "base64" not in shown


SHOT = {"name": "screenshot", "id": "1", "arguments": {"of": PNG}, "output": {"shown": PNG}}


@pytest.mark.parametrize(
    "fields",
    [
        {"tools": [SHOT]},
        {
            "turns": [
                {"role": "user", "content": "Look!"},
                {"role": "assistant", "content": "Fine.", "toolCalls": [SHOT]},
            ]
        },
    ],
)
async def test_files_in_calls_of_tools_are_evidence_too(judged: Judged, fields: dict[str, Any]) -> None:
    _, model = await judged("judge/task_alignment", RATED, input="Look!", output="Fine.", plan=["Look."], **fields)

    assert len(model.calls[0].messages[-1].images) == 2
    shown = fenced_in(model.calls[0].text)
    assert 'screenshot({"of": "(file 1 of the case)"}) -> {"shown": "(file 2 of the case)"}' in shown
    assert "base64" not in model.calls[0].text


async def test_genkits_metrics_do_the_same() -> None:
    model = ScriptedModel('{"reason": "r", "verdict": false}')
    ge = GenkitEval(plugins=[genkit_metrics(judge=model)])

    (metric,) = await ge.score(data_point(input=["Which colour?", PNG], output="Red."), "genkitEval/maliciousness")

    assert metric.score == 0
    assert len(model.calls[0].messages[-1].images) == 1
    assert "base64" not in model.calls[0].text


async def test_a_judge_that_takes_no_images_says_so() -> None:
    model = ScriptedModel(RATED, sees=False)
    ge = GenkitEval(plugins=[genkit_metrics(judge=model)])

    (metric,) = await ge.score(data_point(input=[PNG], output="Red."), "genkitEval/maliciousness")

    assert metric.outcome is Outcome.INCONCLUSIVE
    assert metric.rationale == "the case has an image (file 1 of the case), and the judge scripted takes none"


@pytest.mark.parametrize(
    "text",
    [
        "data: the new oil",
        "data:image/png;base64,AAAA",
        "data:image/png;base64,###",
        "data:audio/wav;base64,AAAA",
    ],
)
def test_what_is_no_file_of_these_kinds_stays_the_text_that_it_is(text: str) -> None:
    point = DataPoint(input=[text], output=text, context=[{"a": text}])

    assert with_files_apart(point) is point
