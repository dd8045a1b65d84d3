"""Which instructions are found, and whether an answer follows them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genkit_eval import DataPoint, EvalMetric, Finding, Outcome, Status
from genkit_eval_heuristics.detection import detected
from genkit_eval_heuristics.instruction_following import InstructionOptions, aggregate, instruction_following

Measure = Callable[..., EvalMetric]

LABELLED = Path(__file__).parents[2] / "data" / "instructions.jsonl"


def _labelled(part: str) -> Iterator[tuple[set[str], set[str]]]:
    """What was found in each instruction of a part, and what a person says is in it."""
    for line in LABELLED.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["part"] == part:
            yield {str(check) for check in detected(row["instruction"])}, set(row["checks"])


@pytest.mark.parametrize("part", ["tuned", "held_out"])
def test_what_is_found_is_what_a_person_finds(part: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The third that is held out was looked at only after the last change."""
    rows = list(_labelled(part))
    right = sum(len(found & labels) for found, labels in rows)
    precision = right / sum(len(found) for found, _ in rows)
    recall = right / sum(len(labels) for _, labels in rows)

    with capsys.disabled():
        print(f"\ninstructions, {part}: precision {precision:.3f}, recall {recall:.3f} of {len(rows)}")
    assert precision >= 0.95
    assert recall >= 0.9


def test_the_labelled_instructions_are_as_many_and_as_mixed_as_they_should_be() -> None:
    rows = [json.loads(line) for line in LABELLED.read_text(encoding="utf-8").splitlines()]
    groups = [row["group"] for row in rows]

    assert len(rows) == len({row["instruction"] for row in rows}) == 200
    assert groups.count("negated") + groups.count("uncheckable") == 60
    assert sum(row["part"] == "held_out" for row in rows) == 66


@pytest.mark.parametrize(
    ("instruction", "checks"),
    [
        ("Write at least 2 and at most 5 bullet points.", ["bullets 2..5"]),
        ("Never say 'no problem'.", ['exclude "no problem"']),
        ("Include keywords ['sea', 'sun'] in the reply.", ['include "sea"', 'include "sun"']),
        ("Mention “Grüße”, but not the word «Tschüss».", ['include "Grüße"', 'exclude "Tschüss"']),
        ("Write a poem with these keywords: 'sea', 'sun'.", ['include "sea"', 'include "sun"']),
        ("The word größe should appear less than 3 times.", ['count "größe" <= 2']),
        ("The word count should be at least 50 words.", ["words >= 50"]),
        ("Your answer cannot be longer than 2 sentences.", ["sentences <= 2"]),
        ("Avoid tables and headings.", ["not headings", "not table"]),
        ("- Max. 50 words\n- Use bullet points", ["words <= 50", "bullets >= 1"]),
        ("Answer yes or no.", ['one of "yes", "no"']),
        ("Use JSON, not XML.", ["json"]),
        ("Use XML, not JSON.", ["not json"]),
        ("Use tables or bullet points.", []),
        ("Paragraph 2 must start with 'hello'.", []),
        ("Write two sentences per topic.", []),
        ("Use at least two words in capital letters.", []),
        ("Use at least two sentences that start with 'So'.", []),
        ("Write fewer than a total of 10 sentences.", ["sentences <= 9"]),
        ("Include the word fiesta at least twice.", ['count "fiesta" >= 2']),
        ("End with a summary of at most 20 words.", []),
        ("Write a function that returns JSON.", []),
        ("Use no more than 1 exclamation mark.", []),
        ("Use capital letters for headings.", []),
        ("Find sentences that end with 'ing'.", []),
        ("Don't be afraid to use more than 100 words.", []),
        ("Give me a numbered list of 4 items.", ["numbered = 4"]),
        ("Show us a table.", ["table"]),
        ("Explain JSON to a child.", []),
        ("Describe JSON Schema and list JSON parsers.", []),
        ("List the planets as a JSON array.", ["json"]),
        ("Explain the result in valid JSON.", ["json"]),
        ("Begin with the word Hello.", ['starts "Hello"']),
        ("Do not end with the word over.", ['not ends "over"']),
        ("End with the word count.", []),
        ("Begin with the word that fits best.", []),
        ("東京について50語以内で書いてください。", []),
        ("", []),
    ],
)
def test_what_an_instruction_asks_for(instruction: str, checks: list[str]) -> None:
    assert [str(check) for check in detected(instruction)] == checks


def test_an_instruction_that_goes_on_for_ever_is_read_in_no_time() -> None:
    """It would take hours if time grew with the square of the length."""
    for part in ('"', "“", "no ", "a, ", "and commas, ", "1 or ", "not a word ", "[", "⟦", "in "):
        detected(part * (200_000 // len(part)))


def test_the_score_is_the_share_of_checks_that_are_met(measure: Measure) -> None:
    metric = measure(
        "heuristic/instruction_following",
        output="- red\n- green, blue",
        instructions=["Answer with exactly two bullet points.", "Do not use commas. Be polite."],
    )

    assert (metric.score, metric.status) == (0.5, Status.PASS)
    assert metric.rationale == "1 of 2 instructions followed; not: no commas"
    assert [(finding.category, finding.text, finding.passed, finding.reason) for finding in metric.findings] == [
        ("bullets = 2", "Answer with exactly two bullet points.", True, "found 2"),
        ("no commas", "Do not use commas.", False, "found 1"),
    ]


def test_an_output_that_is_not_text_is_json_and_has_text_in_it(measure: Measure) -> None:
    asked = 'Answer as JSON with the keys "answer" and "größe". Use two bullet points and no commas.'
    metric = measure("heuristic/instruction_following", output={"answer": "- x\n- y", "größe": 1}, instructions=asked)

    assert metric.score == 1
    assert len(metric.findings) == 4


@pytest.mark.parametrize("point", [{}, {"instructions": ""}, {"instructions": []}, {"instructions": "Be polite."}])
def test_without_a_checkable_instruction_there_is_nothing_to_score(point: dict[str, object], measure: Measure) -> None:
    assert measure("heuristic/instruction_following", output="x", **point).outcome is Outcome.INCONCLUSIVE
    assert measure("tnsai/instruction_following", output="x", **point).score == 1


def test_an_empty_answer_follows_nothing(measure: Measure) -> None:
    metric = measure("heuristic/instruction_following", output="", instructions="No commas.")

    assert metric.outcome is Outcome.INCONCLUSIVE


def test_the_same_instruction_twice_counts_once(measure: Measure) -> None:
    twice = ["No commas. Use at most 5 words.", "Don't use commas."]
    metric = measure("heuristic/instruction_following", output="a, b", instructions=twice)

    assert metric.score == 0.5


def test_findings_come_to_a_score_by_themselves() -> None:
    assert aggregate([Finding(text="a", passed=True), Finding(text="b", passed=False)]) == 0.5


ASKED = st.lists(
    st.sampled_from(["No commas.", "At most 3 words.", "Use bullet points.", "Answer in JSON.", "Include 'é'.", "Hm?"]),
    min_size=1,
)


@given(st.text(max_size=40), ASKED)
def test_scores_stay_in_range_and_the_order_of_instructions_does_not_count(output: str, asked: list[str]) -> None:
    options = InstructionOptions()
    score = instruction_following(DataPoint(output=output, instructions=asked), options).score
    turned = instruction_following(DataPoint(output=output, instructions=asked[::-1]), options).score

    assert score is None or 0 <= float(score) <= 1
    assert score == turned


@given(st.text(max_size=80))
def test_any_text_can_be_an_instruction(text: str) -> None:
    assert len(detected(text)) == len(set(detected(text)))
