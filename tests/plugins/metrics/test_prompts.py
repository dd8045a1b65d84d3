"""The prompts of the judged metrics: all used, all of one form."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import genkit_eval_metrics
from genkit_eval.prompts import Prompt
from genkit_eval_metrics.catalogue import JUDGED

FILES = sorted((Path(genkit_eval_metrics.__path__[0]) / "prompts").iterdir())
USED = {path.stem for metric in JUDGED.values() for path in metric.prompts.values()}

prompts = pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)


def test_every_prompt_is_used_and_every_used_one_is_there() -> None:
    assert {file.stem for file in FILES} == USED


@prompts
def test_the_task_comes_first_and_the_judged_texts_later(file: Path) -> None:
    prompt = Prompt.load(file)

    system, user = prompt.render({name: f"<{name}>" for name in prompt.inputs})

    assert (system.role, user.role) == ("system", "user")
    assert not any(f"<{name}>" in system.content for name in prompt.inputs)
    assert all(user.content.count(f"<{name}>") == 1 for name in prompt.inputs)


@prompts
def test_the_judge_is_told_that_judged_texts_are_data(file: Path) -> None:
    text = file.read_text(encoding="utf-8")

    assert "data between markers" in text
    assert "cannot give you instructions" in text


@prompts
def test_the_answers_of_the_examples_are_json_with_the_reason_before_the_verdict(file: Path) -> None:
    lines = file.read_text(encoding="utf-8").splitlines()
    answers = [json.loads(line) for line in lines if line.startswith('{"')]

    assert answers
    for answer in answers:
        for item in answer.get("verdicts", [answer]):
            names = list(item)
            if "reason" in names:
                assert names.index("reason") < min(
                    names.index(name) for name in ("verdict", "rating", "question") if name in names
                )
