"""A judge's answer has the type that was asked for. The type checker reads this file, pytest runs it."""

from __future__ import annotations

from typing import Annotated, assert_type

import pytest
from pydantic import BaseModel

from genkit_eval import Judge, Message, Model, Prompt
from genkit_eval.claims import ClaimVerdict, statements, verdicts
from genkit_eval.judge import Choice, Rating, Scale, Unit, Verdict, as_model
from genkit_eval.testing import ScriptedModel

pytestmark = pytest.mark.anyio


class Rated(BaseModel):
    reason: str
    verdict: Verdict
    rating: Annotated[int, Rating(0, 2, 4)]
    likert: Annotated[int, Scale(1, 5)]
    score: Unit
    label: Annotated[str, Choice("good", "bad")]


async def test_an_answer_has_the_type_that_was_asked_for() -> None:
    reply = '{"reason": "", "verdict": true, "rating": 4, "likert": 5, "score": null, "label": "good"}'
    model: Model = ScriptedModel(reply)

    answer = await Judge(model).ask([Message(role="user", content="?")], Rated)

    assert_type(answer, Rated)
    assert_type(answer.verdict, bool)
    assert_type(answer.rating, int)
    assert_type(answer.likert, int)
    assert_type(answer.score, float | None)
    assert_type(answer.label, str)


def test_functions_and_models_are_judges() -> None:
    async def later(prompt: str) -> str:
        return prompt

    assert_type(as_model(later), Model)
    assert_type(as_model(str.upper), Model)
    assert_type(as_model(ScriptedModel("")), Model)
    with pytest.raises(Exception, match="cannot be a judge"):
        as_model(3)  # type: ignore[arg-type]


async def test_statements_and_verdicts_are_typed() -> None:
    prompt = Prompt.parse("{{statements}} {{evidence}}", "p")
    split = Prompt.parse("{{text}}", "p")
    judge = Judge(
        ScriptedModel(['{"statements": ["a"]}', '{"verdicts": [{"number": 1, "reason": "", "verdict": true}]}'])
    )

    texts = await statements(judge, split, {"text": "a"})
    found = await verdicts(judge, prompt, texts, "a")

    assert_type(texts, list[str])
    assert_type(found, list[ClaimVerdict])
