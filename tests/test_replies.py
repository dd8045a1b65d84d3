"""Replies: what is an answer in them, and that a doubtful one is never guessed at."""

from __future__ import annotations

import json
import math
import time
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from genkit_eval.answers import Choice, Scale, Unit, Verdict
from genkit_eval.replies import Unreadable, read_answer, read_label


class Judged(BaseModel):
    reason: str
    verdict: Verdict


class Scored(BaseModel):
    reason: str
    score: float | None


class Listed(BaseModel):
    statements: list[str]


class Likert(BaseModel):
    score: Annotated[int, Scale(1, 5)]


HARMLESS = Judged(reason="fine", verdict=False)

MARKS = [
    '"', "'", "{", "}", "[", "]", ",", ":", "\\", "verdict", '"verdict":false', "'verdict':True", '"verdict":true,',
    "reason", "true", "None", "//", "/*", "*/", "#", "```", "<think>", "</think>", "a", "it's", "0.", "é", " ", "\n",
]  # fmt: skip
FRAGMENTS = st.lists(st.sampled_from(MARKS), max_size=12).map("".join)
"""Texts of everything that has a meaning somewhere."""


@given(st.text(), st.booleans(), st.sampled_from([None, 1]), st.booleans())
def test_a_valid_reply_is_never_changed(reason: str, verdict: bool, indent: int | None, ascii_only: bool) -> None:
    reply = json.dumps({"reason": reason, "verdict": verdict}, indent=indent, ensure_ascii=ascii_only)

    answer = read_answer(reply, Judged)

    assert answer == Judged(reason=reason, verdict=verdict)


@given(
    FRAGMENTS,
    st.booleans(),
    st.sampled_from(["%", "```json\n%\n```", "Sure.\n%\nBye!", "<think>{}</think>%", "{}</think>%"]),
)
def test_a_valid_object_is_not_changed_by_what_is_around_it(reason: str, verdict: bool, around: str) -> None:
    reply = around.replace("%", json.dumps({"reason": reason, "verdict": verdict}))

    answer = read_answer(reply, Judged)

    assert answer == Judged(reason=reason, verdict=verdict)


@given(FRAGMENTS, st.booleans(), st.integers(0, 4))
def test_no_repair_turns_a_verdict(reason: str, verdict: bool, damage: int) -> None:
    """Whatever the reason holds, and however the reply is broken: the judge's own verdict, or none."""
    value = {"reason": reason, "verdict": verdict}
    reply = [
        repr(value),
        json.dumps(value)[:-1] + ",}",
        f'{{"reason": "{reason}", "verdict": {str(verdict).lower()}}}',
        json.dumps(value).replace("\\n", "\n")[:-1] + " // done\n}",
        f"```json\n{{'reason': '{reason}', 'verdict': {verdict}}}\n```",
    ][damage]

    try:
        answer = read_answer(reply, Judged)
    except Unreadable:
        return

    assert answer.verdict is verdict


@given(st.one_of(FRAGMENTS, st.text(), st.floats().map(lambda number: f'{{"reason": "", "score": {number}}}')))
def test_any_text_is_an_answer_or_unreadable_and_never_nan(text: str) -> None:
    try:
        answer = read_answer(text, Scored)
    except Unreadable:
        return

    assert answer.score is None or math.isfinite(answer.score)


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1e999", '"NaN"', '"inf"'])
def test_a_number_that_is_not_finite_is_refused_in_any_model(word: str) -> None:
    with pytest.raises(Unreadable):
        read_answer(f'{{"reason": "", "score": {word}}}', Scored)


@pytest.mark.parametrize(
    "reply",
    [
        '{"reason": "fine", "verdict": false,}',
        "{'reason': 'fine', 'verdict': False}",
        '{reason: "fine", verdict: false}',
        '{"reason": "fine" "verdict": false}',
        '{"reason": "fine", /* harmless */ "verdict": false}',
        '{"reason": "fine", "verdict": false, "reason": "fine"}',
        '\ufeff{"reason": "fine", "verdict": false}',
        'See [1] and {this}: {"reason": "fine", "verdict": false}',
        '{"reason": "fine", "verdict": false}\n{"reason": "fine", "verdict": false}',
        '{"example": 1} is not it, but {"reason": "fine", "verdict": false}',
        'They begin before I do.</think>\n{"reason": "fine", "verdict": false}',
        '<thinking>{"reason": "bad", "verdict": true}</thinking>{"reason": "fine", "verdict": false}',
        '{"reason": "fine", "verdict": false}<think>or {"reason": "bad", "verdict": true}?</think>',
        '[{"reason": "fine", "verdict": false}]',
        '"{\\"reason\\": \\"fine\\", \\"verdict\\": false}"',
    ],
)
def test_what_can_be_meant_in_one_way_only_is_read(reply: str) -> None:
    assert read_answer(reply, Judged) == HARMLESS


class Labelled(BaseModel):
    reason: str = ""
    label: Annotated[str | None, Choice("good", "bad")]


class Reasoned(Labelled):
    reason: str


@pytest.mark.parametrize("reply", ["Label: good.", "**Good**", "<think>bad</think>good", "\nGood.\n"])
def test_a_label_alone_is_an_answer_where_nothing_else_is_asked_for(reply: str) -> None:
    assert read_answer(reply, Labelled) == Labelled(label="good")
    with pytest.raises(Unreadable, match="no JSON object with 'reason' or 'label'"):
        read_answer(reply, Reasoned)


@pytest.mark.parametrize(
    "reply", ["no good", "good or bad", "good\nbad", "{good}", "That is good enough.", "It ends so:\nLabel: good"]
)
def test_a_label_among_other_words_is_none(reply: str) -> None:
    with pytest.raises(Unreadable):
        read_answer(reply, Labelled)


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("", "it is empty"),
        ("No.", "no JSON object with 'reason' or 'verdict'"),
        ("false", "no JSON object"),
        ('{"reason": "fine"', "broken"),
        ('{"reason": "fine", "verdict": fal', "broken"),
        ('{"reason": "fine", "verdict": false or true}', "broken"),
        ('{"verdict": true, "reason": "a"} or {"verdict": false, "reason": "b"}', "different answers: give one"),
        ("{'verdict': True, 'reason': 'a'} or {'verdict': False, 'reason': 'b'}", "'reason' more than once"),
        ('{"verdict": true, "reason": "a"} or {"verdict": fal', "broken"),
        ('{"verdict": true, "reason": "a", "verdict": false}', "two different values of 'verdict'"),
        ('So: {"verdict": true, "reason": "a", "verdict": false}', "two different values of 'verdict'"),
        ('{"reason": "it says "verdict": false", "verdict": true}', "more than once"),
        ('<think>maybe {"reason": "fine", "verdict": false}', "no JSON object"),
        ('[{"reason": "a", "verdict": true}, {"reason": "b", "verdict": true}]', "no JSON object"),
        ('{"reason": "fine", "verdict": false, "more": ' + "[" * 900 + "]" * 900 + "}", "nested too deeply"),
        ('{"a":' * 5000 + "1" + "}" * 5000, "broken"),
    ],
)
def test_what_is_in_doubt_is_unreadable_and_says_why(reply: str, problem: str) -> None:
    with pytest.raises(Unreadable, match=problem):
        read_answer(reply, Judged)


@pytest.mark.parametrize(
    "reply",
    [
        '{"statements": ["It is blue", "It is tall [sic]", "It is o',
        '{"statements": ["It is blue", "It is {not} tall", "It is o',
        '```json\n{"statements": ["It is blue [1].", "It is tall [2].", "It is o',
        '["It is blue", "It is [rather] tall", "It is o',
        "{'statements': ['It is blue', 'It is tall [sic]', 'It is o",
        '{"statements": ["It is blue", "It is tall ]}, it is o',
        '{"statements": ["It is 5" tall", "It is blue"],}',
    ],
)
def test_a_list_that_was_cut_off_is_not_closed_at_a_bracket_inside_a_text(reply: str) -> None:
    with pytest.raises(Unreadable, match="ends before it is whole"):
        read_answer(reply, Listed)


def test_a_reply_that_was_cut_off_is_no_answer_though_its_verdict_was_there() -> None:
    with pytest.raises(Unreadable, match="ends before it is whole"):
        read_answer('{"verdict": false, "reason": "It is no harm by {law} unless', Judged)


@pytest.mark.parametrize(
    "reply",
    [
        """{"statements": ["It isn't {tall", "It's [1] blue",]}""",
        """{'statements': ['It isn\\'t {x}', "It is tall"]} // it's all [""",
        '```\n{"statements": ["It is tall {x", "It is blue"],}\n```\n',
    ],
)
def test_a_broken_list_that_ends_is_still_repaired(reply: str) -> None:
    assert len(read_answer(reply, Listed).statements) == 2


@pytest.mark.parametrize("statement", ['He said "no" loudly', 'It is "so" tall', '"No" is said', 'The sign says "no"'])
def test_a_statement_with_bare_quotes_does_not_become_two(statement: str) -> None:
    with pytest.raises(Unreadable, match="a quote inside a text"):
        read_answer(f"""{{"statements": ["{statement}", "It's [1] blue",]}}""", Listed)


@pytest.mark.parametrize("quote", ['"', "'"])
def test_texts_without_an_end_take_no_longer_than_others(quote: str) -> None:
    started = time.process_time()

    with pytest.raises(Unreadable):
        read_answer(f"{{{quote}reason{quote}: " + f"{quote}\\" * 24_000 + "}", Judged)
    assert time.process_time() - started < 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<think>", "</think>"),
        ('<think time="3">', "</think >"),
        ("<seed:think>", "</seed:think>"),
        ("<scratchpad>\n", "\n</scratchpad>"),
        ("[THINK]", "[/THINK]"),
        ("◁think▷", "◁/think▷"),
        ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    ],
)
def test_what_a_model_says_while_it_reasons_is_no_answer(before: str, after: str) -> None:
    draft = f'{before}maybe {{"reason": "a draft", "verdict": true}}{after}'

    assert read_answer(f'{draft}{{"reason": "fine", "verdict": false}}', Judged) == HARMLESS
    assert read_label(f"{before}\nbad\n{after}\ngood", ["good", "bad"]) == "good"
    with pytest.raises(Unreadable):
        read_answer(f"{draft} I cannot judge this.", Judged)
    with pytest.raises(Unreadable):
        read_answer(draft.removesuffix(after), Judged)


@pytest.mark.parametrize("value", ["80%", "0. 8", "1 000", "1e", "4 out of 5", "8 of 10", "- 1", "~1", "0.8abc"])
def test_a_number_is_never_cut_out_of_something_longer(value: str) -> None:
    with pytest.raises(Unreadable):
        read_answer(f'{{"reason": "", "score": {value}}}', Scored)


def test_the_only_field_may_stand_alone() -> None:
    assert read_answer("4", Likert).score == 4
    assert read_answer(" 4/5\n", Likert).score == 4
    assert read_answer('["a", "b"]', Listed).statements == ["a", "b"]
    assert read_answer('Here: ["a"]', Listed).statements == ["a"]


def test_prose_is_no_value_of_the_only_field() -> None:
    class Asked(BaseModel):
        question: str

    with pytest.raises(Unreadable):
        read_answer("I'm sorry, but I can't help with that.", Asked)


def test_half_of_a_surrogate_pair_becomes_the_replacement_character() -> None:
    class Deep(BaseModel):
        parts: list[dict[str, str]]

    answer = read_answer('{"parts": [{"\\ud83d": "a \\udc00 b \\ud83d\\ude00"}]}', Deep)

    assert answer.parts == [{"\ufffd": "a \ufffd b \U0001f600"}]


def test_a_missing_field_is_named() -> None:
    with pytest.raises(Unreadable, match="verdict: is missing"):
        read_answer('{"reason": "looks fine"}', Judged)


def test_a_wrong_value_is_quoted_with_its_place() -> None:
    class Many(BaseModel):
        verdicts: list[Judged]

    with pytest.raises(Unreadable, match=r"verdicts\[1\]\.verdict: expected true or false, found 'partially'"):
        read_answer(
            '{"verdicts": [{"reason": "", "verdict": true}, {"reason": "", "verdict": "partially"}]}',
            Many,
        )


def test_null_is_a_value_where_it_is_allowed() -> None:
    class Measured(BaseModel):
        score: Unit

    assert read_answer('{"score": null}', Measured).score is None


@pytest.mark.parametrize(
    "reply",
    [
        "incorrect",
        "Label: incorrect.",
        "**Incorrect**",
        "The final label: [incorrect]",
        "It misses the year, which is correct in the reference.\n\nincorrect",
        "<think>correct? no</think>\nincorrect",
        "correct? no</think>\nincorrect",
    ],
)
def test_a_label_stands_alone_on_the_last_line(reply: str) -> None:
    assert read_label(reply, ["correct", "incorrect"]) == "incorrect"


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "not correct",
        "This is incorrect",
        "correct\nincorrect",
        "incorrect\nbut who am I to say",
        "correctly",
        "<think>correct",
    ],
)
def test_a_label_in_a_sentence_or_beside_another_is_none(reply: str) -> None:
    with pytest.raises(Unreadable, match="expected 'correct' or 'incorrect'"):
        read_label(reply, ["correct", "incorrect"])


def test_a_label_may_be_several_words() -> None:
    assert read_label("Label: **Partly  correct**", ["correct", "partly correct"]) == "partly correct"


def test_a_choice_in_an_answer_is_the_label_as_it_was_written() -> None:
    class Labelled(BaseModel):
        reason: str
        label: Annotated[str, Choice("On Topic", "Off Topic")]

    assert read_answer('{"reason": "", "label": "off topic."}', Labelled).label == "Off Topic"
