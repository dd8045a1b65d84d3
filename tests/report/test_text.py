"""Text on a terminal: harmless, and as wide as it says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genkit_eval.report.text import clip, one_line, shown_width, wrap

HOSTILE = "\x1b[2J\x1b]0;owned\x07 ok \x1b]52;c;YQ==\x07"


@pytest.mark.case("security/terminal-escapes")
def test_control_characters_are_written_out() -> None:
    text = one_line(HOSTILE)

    assert text == r"\x1b[2J\x1b]0;owned\x07 ok \x1b]52;c;YQ==\x07"


@pytest.mark.case("security/log-forging")
def test_line_ends_of_every_kind_are_written_out() -> None:
    text = one_line("t1\nINFO run finished: 100% passed\r\x85\u2028\u2029\x0b\x0c")

    assert text == r"t1\nINFO run finished: 100% passed\r\x85\u2028\u2029\x0b\x0c"
    assert len(text.splitlines()) == 1


@pytest.mark.parametrize("mark", ["\u202e", "\u2066", "\u200b", "\ufeff", "\U000e0041", "\x9b", "\ud800"])
def test_marks_that_turn_hide_or_act_are_written_out(mark: str) -> None:
    assert one_line(f"a{mark}b").isascii()


def test_letters_of_the_world_stay() -> None:
    assert one_line("Tōkyō 東京 مرحبا 👩‍🚀 e\u0301") == "Tōkyō 東京 مرحبا 👩‍🚀 e\u0301"


@given(st.text())
def test_writing_out_again_changes_nothing(text: str) -> None:
    once = one_line(text)

    assert one_line(once) == once
    assert len(once.splitlines()) <= 1


@pytest.mark.parametrize(("text", "width"), [("abc", 3), ("東京", 4), ("e\u0301", 1), ("", 0)])
def test_width_counts_columns_not_characters(text: str, width: int) -> None:
    assert shown_width(text) == width


@given(st.text(), st.integers(min_value=1, max_value=30))
def test_a_clipped_text_fits(text: str, width: int) -> None:
    assert shown_width(clip(text, width)) <= width


def test_what_is_cut_says_so() -> None:
    assert clip("a long text", 6) == "a lon…"


def test_a_text_that_fits_is_not_cut() -> None:
    assert clip("abcdef", 6) == "abcdef"


@given(st.text(), st.integers(min_value=1, max_value=30), st.integers(min_value=1, max_value=4))
def test_wrapped_lines_fit(text: str, width: int, lines: int) -> None:
    parts = wrap(text, width, lines=lines)

    assert 1 <= len(parts) <= lines
    assert all(shown_width(part) <= max(width, 2) for part in parts)


def test_lines_break_between_words() -> None:
    assert wrap("the quick brown fox jumps", 12, lines=3) == ["the quick", "brown fox", "jumps"]


def test_the_last_line_says_that_more_follows() -> None:
    assert wrap("word " * 1000, 10, lines=2)[-1].endswith("…")


def test_the_end_is_kept_where_it_is_wanted() -> None:
    text = "ValueError: " + "very " * 20 + "bad (app.py:12)"

    assert wrap(text, 20, lines=2, tail=16) == ["ValueError: very", "ver… bad (app.py:12)"]
    assert wrap("short (app.py:12)", 20, lines=2, tail=16) == ["short (app.py:12)"]


@given(st.text(), st.integers(min_value=1, max_value=30), st.integers(min_value=1, max_value=40))
def test_with_its_end_kept_a_text_fits_as_well(text: str, width: int, tail: int) -> None:
    parts = wrap(text, width, lines=2, tail=tail)

    assert 1 <= len(parts) <= 2
    assert all(shown_width(part) <= max(width, 2) for part in parts)
