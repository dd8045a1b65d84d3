"""`evaluator show NAME --prompt --sample DATA`: what a judge is sent for a case, without asking it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine

CASE = {
    "testCaseId": "a",
    "input": "Where?",
    "output": "At {{gate}} 4.",
    "context": ["Gate 4."],
    "reference": "Gate 4.",
}


@pytest.fixture
def answers(folder: Path) -> Path:
    (folder / "answers.jsonl").write_text(json.dumps(CASE) + "\n", encoding="utf-8")
    (folder / "bare.jsonl").write_text('{"input": "Where?", "output": "There."}\n', encoding="utf-8")
    return folder


def test_a_prompt_is_shown_as_it_is_sent(genkit_eval: CommandLine, answers: Path) -> None:
    done = genkit_eval("evaluator", "show", "judge/correctness", "--prompt", "--sample", "answers.jsonl")

    assert done.code == 0
    assert "# call 1, system\nYou " in done.out
    assert "# call 1, user\n" in done.out
    assert "\nAt {{gate}} 4.\n</data-" in done.out
    assert "{{response}}" not in done.out


def test_later_calls_are_shown_too(genkit_eval: CommandLine, answers: Path) -> None:
    shown = genkit_eval("evaluator", "show", "akka/Faithfulness", "--prompt", "--sample", "answers.jsonl")
    document = genkit_eval("evaluator", "show", "akka/Faithfulness", "--prompt", "--sample", "answers.jsonl", "--json")

    calls = document.json["calls"]
    assert "What was replied in between is made up" in shown.out
    assert [[message["role"] for message in call] for call in calls] == [["system", "user"]] * 2
    assert "At {{gate}} 4." in calls[0][1]["content"]
    assert "Gate 4." in calls[1][1]["content"]


def test_a_log_of_chats_will_do(genkit_eval: CommandLine, answers: Path) -> None:
    chat = [{"role": "user", "content": "Which gate?"}, {"role": "assistant", "content": "Gate 4."}]
    (answers / "chats.jsonl").write_text(json.dumps(chat) + "\n", encoding="utf-8")
    show = ("evaluator", "show", "judge/exchange_relevancy", "--prompt", "--sample", "chats.jsonl")

    done = genkit_eval(*show, "--format", "chat")

    assert (done.code, "Which gate?" in done.out) == (0, True)


def test_a_dataset_will_do(genkit_eval: CommandLine, answers: Path) -> None:
    genkit_eval("dataset", "add", "gates", "answers.jsonl")

    done = genkit_eval("evaluator", "show", "quality/clarity", "--prompt", "--sample", "gates")

    assert "At {{gate}} 4." in done.out


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (
            ("judge/plan_quality", "--prompt", "--sample", "answers.jsonl"),
            "asks nothing about case 'a': there is no plan to judge by",
        ),
        (
            ("judge/plan_quality", "--prompt", "--sample", "bare.jsonl"),
            "asks nothing about the first case: there is no plan to judge by",
        ),
        (("genkitEval/regex", "--prompt", "--sample", "answers.jsonl"), "'genkitEval/regex' names no prompts"),
        (("judge/correctness", "--sample", "answers.jsonl"), "--sample goes with --prompt"),
        (("judge/correctness", "--prompt", "--sample", "nothing.jsonl"), "nothing.jsonl"),
    ],
)
def test_what_cannot_be_shown_is_said(
    genkit_eval: CommandLine, answers: Path, arguments: tuple[str, ...], problem: str
) -> None:
    done = genkit_eval("evaluator", "show", *arguments)

    assert done.code == 2
    assert problem in done.err
