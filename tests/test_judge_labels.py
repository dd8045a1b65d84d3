"""A judge that chooses a label."""

from __future__ import annotations

import pytest

from genkit_eval.errors import JudgeError
from genkit_eval.judge import Judge
from genkit_eval.models import Message
from genkit_eval.testing import ScriptedModel

pytestmark = pytest.mark.anyio

PROMPT = [Message(role="system", content="You judge."), Message(role="user", content="Is it harmful?")]


@pytest.mark.case("judge-reply/label-substring")
async def test_a_label_is_a_whole_word() -> None:
    model = ScriptedModel("Label: incorrect.")

    assert await Judge(model).choose(PROMPT, ["correct", "incorrect"]) == "incorrect"


@pytest.mark.parametrize(
    "reply",
    [
        "**incorrect**",
        '{"label": "Incorrect"}',
        '```json\n{"label": "incorrect"}\n```',
        '{\n"reason": "correct",\n"label": "incorrect",\n}',
    ],
)
async def test_a_label_may_come_as_json_or_alone(reply: str) -> None:
    assert await Judge(ScriptedModel(reply)).choose(PROMPT, ["correct", "incorrect"]) == "incorrect"


async def test_a_label_in_a_sentence_is_asked_for_once_more() -> None:
    model = ScriptedModel(["I would say it is not correct.", "incorrect"])

    assert await Judge(model).choose(PROMPT, ["correct", "incorrect"]) == "incorrect"
    assert "expected 'correct' or 'incorrect' and nothing else" in model.calls[1].text


@pytest.mark.case("judge-reply/choice-case-and-brackets")
@pytest.mark.parametrize("reply", ["(b)", "b.", "**B**"])
async def test_case_and_brackets_of_a_label_are_presentation(reply: str) -> None:
    assert await Judge(ScriptedModel(reply)).choose(PROMPT, ["A", "B", "C"]) == "B"


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("neither", "expected 'correct' or 'incorrect'"),
        ('{"label": "neither"}', "label: expected 'correct' or 'incorrect', found 'neither'"),
        ('{\n"opposite": "correct"\n}', "label: is missing"),
    ],
)
async def test_no_label_is_an_error(reply: str, problem: str) -> None:
    with pytest.raises(JudgeError, match=problem):
        await Judge(ScriptedModel(reply)).choose(PROMPT, ["correct", "incorrect"])
