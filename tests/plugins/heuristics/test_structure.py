"""How a text is built, and whether it does what an instruction asks of its form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genkit_eval_heuristics import structure
from genkit_eval_heuristics.checks import Check, met

LONG = 200_000


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("It's a well-known fact — 3.14 %!", 5),
        ("東京は大きい。", 6),
        ("Tokyo は東京", 4),
        ("서울은 크다", 2),
        ("مرحبا بالعالم", 2),
        ("nai\u0308ve cafe\u0301", 2),
        ("🙂 yes 🙂", 1),
        ("ISPARTA'da ılık bir gün", 4),
    ],
)
def test_words(text: str, count: int) -> None:
    assert structure.words(text) == count


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("One. Two! Three? Four", 4),
        ("It costs 3.50 euros. Fine.", 2),
        ("Dr. Smith lives in the U.S. since 1990, e.g. in No. 5.", 1),
        ("Wait... what?!", 2),
        ('He said "no." Then he left.', 2),
        ("# Title\n- one\n- two. And more.", 4),
        ("東京です。大きい！", 2),
        ("هل أنت هنا؟ نعم.", 2),
        ("Really?)\nYes.", 2),
    ],
)
def test_sentences(text: str, count: int) -> None:
    assert structure.sentences(text) == count


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 0), ("a\nb", 1), ("a\n\nb\n \n\nc", 3), ("# Title\n\na\n\n---\n\nb", 2), ("a\r\n\r\nb", 2)],
)
def test_paragraphs(text: str, count: int) -> None:
    assert structure.paragraphs(text) == count


def test_lines_and_characters() -> None:
    assert structure.lines("a\n\n b \n") == 2
    assert structure.characters(" cafe\u0301 🙂\n") == 6


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("- a\n- b\n  - inner\n* c", 3),
        ("• 東京\n• 京都", 2),
        (" - a\n- b", 2),
        ("**bold** text\n*italic*", 0),
        ("- - -\n* * *\n---", 0),
        ("```\n- no\n```\n- yes", 1),
        ("-5 degrees", 0),
    ],
)
def test_bullets(text: str, count: int) -> None:
    assert structure.bullets(text) == count


def test_numbered_items() -> None:
    assert structure.numbered("1. a\n2) b\n   1. inner\n(3) c\n1990 was good\n3.14 is pi") == 3


def test_headings() -> None:
    assert structure.headings("# A\n## B\n#tag\nC\n===\n- item\n---\n```\n# no\n```") == 3


@pytest.mark.parametrize(
    ("text", "there"),
    [
        ("| a | b |\n|---|:-:|\n| 1 | 2 |", True),
        ("a | b\n--|--\n1 | 2", True),
        ("| a |\n|---|\n| 1 |", True),
        ("<TABLE><tr>", True),
        ("a | b", False),
        ("| a | b |\n| c | d |", False),
        ("a\n---\nb", False),
    ],
)
def test_tables(text: str, there: bool) -> None:
    assert structure.has_table(text) is there


def test_emojis() -> None:
    assert structure.emojis("a 🙂 b 👩‍🚀 ❤️ © 3 ™") >= 3
    assert structure.emojis("© 3 ™ → 東京") == 0


@pytest.mark.parametrize(
    "part", [".", "|", "-", " ", "\n", "`", "```\n", "| ", "- ", "A.", "1. ", "# ", "|-", '"', "。"]
)
def test_a_text_that_repeats_itself_is_read_in_no_time(part: str) -> None:
    """It would take hours if time grew with the square of the length."""
    text = part * (LONG // len(part)) + "x"

    for count in (structure.words, structure.sentences, structure.paragraphs, structure.bullets, structure.headings):
        count(text)
    structure.numbered(text)
    structure.has_table(text)


@given(st.text(max_size=50), st.text(max_size=50))
def test_counts_add_up_over_blank_lines(one: str, other: str) -> None:
    both = f"{one}\n\n{other}"

    assert structure.words(both) == structure.words(one) + structure.words(other)
    assert structure.characters(one) <= len(one)
    assert 0 <= structure.paragraphs(one) <= structure.lines(one) or not one.strip()


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (Check("words", most=3), "one two three", "one two three four"),
        (Check("words", least=2, most=3), "one two", "one"),
        (Check("bullets", negated=True), "a", "- a"),
        (Check("bullets", least=1), "- a", "a"),
        (Check("json"), '{"a": 1}', "{a: 1}"),
        (Check("json"), '```json\n{"a": 1}\n```', "Sure: {}"),
        (Check("json", negated=True), "plain", "[]"),
        (Check("keys", ("a", "b")), '{"a": 1, "b": 2}', '{"a": 1}'),
        (Check("keys", ("a",)), '[{"a": 1}, {"a": 2}]', '[{"a": 1}, {}]'),
        (Check("table"), "a|b\n-|-\n1|2", "no"),
        (Check("include", ("refund",)), "A Refund.", "refundable"),
        (Check("include", ("東京",)), "私は東京都に", "京都"),
        (Check("exclude", ("sorry",)), "sorrow", "SORRY!"),
        (Check("count", ("sea",), least=2), "sea, Sea, seas", "sea seas"),
        (Check("repeat", ("Safety first",)), "(Safety first)", "safety first"),
        (Check("starts", ("Yes",)), "**Yes**, it is", "Oh yes"),
        (Check("starts", ("Merhaba",)), "merhaba!", "Selam, merhaba"),
        (Check("starts", ("Sure",), negated=True), "Fine", "Sure!"),
        (Check("ends", ("over",)), "Roger, over.", "over and out"),
        (Check("ends", ("Done.",)), "All. Done.", "All done"),
        (Check("uppercase"), "ÇOK İYİ 東京 1!", "ÇOK iYİ"),
        (Check("lowercase"), "ılık straße", "Ilık"),
        (Check("no", ("commas",)), "a; b", "a، b"),
        (Check("no", ("emojis",)), "fine :)", "fine 🙂"),
        (Check("no", ("question marks",)), "why!", "为什么？"),
        (Check("one of", ("yes", "no")), ' "Yes". ', "yes, of course"),
    ],
)
def test_each_check_by_hand(check: Check, good: str, bad: str) -> None:
    assert met(check, good)[0]
    assert not met(check, bad)[0]


@pytest.mark.parametrize(
    ("check", "text"),
    [
        (Check("words", least=2, most=2), "words = 2"),
        (Check("words", least=2, most=3), "words 2..3"),
        (Check("count", ("a",), most=3), 'count "a" <= 3'),
        (Check("starts", ("Sure",), negated=True), 'not starts "Sure"'),
        (Check("keys", ("a", "b")), "keys a, b"),
        (Check("no", ("commas",)), "no commas"),
    ],
)
def test_a_check_says_what_it_asks_for(check: Check, text: str) -> None:
    assert str(check) == text
