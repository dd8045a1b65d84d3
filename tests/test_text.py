"""Text as words."""

from __future__ import annotations

import unicodedata
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from genkit_eval.text import _word, ngrams, references, shown, text_of, tokens

TEXT = st.text(max_size=40) | st.text(alphabet="aB9.,-' \u00e9\u00df\u6771\u0301\ufb01\u00ad", max_size=40)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The quick, brown fox!", ["the", "quick", "brown", "fox"]),
        ("well-known", ["well", "known"]),
        ("don't", ["don", "t"]),
        ("Straße STRASSE", ["strasse", "strasse"]),
        ("İzmir ISPARTA ısparta", ["izmir", "isparta", "isparta"]),
        ("ﬁne Ⅳ x²", ["fine", "iv", "x2"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("كتاب جديد", ["كتاب", "جديد"]),
        ("co\u00adoperate", ["cooperate"]),
        ("snake_case", ["snake", "case"]),
        ("❤️ 👍🏽 — …", []),
        ("", []),
    ],
)
def test_words_are_folded_and_have_no_punctuation(text: str, words: list[str]) -> None:
    assert tokens(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("3.14", ["3.14"]),
        ("1,000 and 3.11.7.", ["1,000", "and", "3.11.7"]),
        ("-5", ["5"]),
        ("in 1998, 1999.", ["in", "1998", "1999"]),
        ("€3.50é", ["3.50é"]),
    ],
)
@pytest.mark.case("heuristic-text/decimals-and-symbols")
def test_a_number_is_one_word(text: str, words: list[str]) -> None:
    assert tokens(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("東京都 Tower", ["東", "京", "都", "tower"]),
        ("ラーメン", ["ラ", "ー", "メ", "ン"]),
        ("ｶﾞ", ["ガ"]),
        ("한국어", ["한", "국", "어"]),
        ("ที่นี่", ["ที่", "นี่"]),
    ],
)
@pytest.mark.case("heuristic-text/cjk-characters")
def test_scripts_without_spaces_are_read_by_character(text: str, words: list[str]) -> None:
    assert tokens(text) == words


@given(TEXT)
def test_composed_and_decomposed_text_has_the_same_words(text: str) -> None:
    assert tokens(unicodedata.normalize("NFC", text)) == tokens(unicodedata.normalize("NFD", text))


@given(TEXT)
def test_words_joined_by_spaces_are_the_same_words(text: str) -> None:
    words = tokens(text)

    assert tokens(" ".join(words)) == words


@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=60))
def test_the_quick_way_for_ascii_gives_what_the_other_gives(text: str) -> None:
    assert tokens(text) == _word().findall(text.casefold())


def test_ngrams_are_counted() -> None:
    assert ngrams(["a", "b", "a", "b"], 2) == Counter({("a", "b"): 2, ("b", "a"): 1})


@given(st.lists(st.sampled_from("abc"), max_size=8), st.integers(1, 4))
def test_a_text_of_n_words_has_n_minus_size_plus_1_ngrams(words: list[str], size: int) -> None:
    assert ngrams(words, size).total() == max(0, len(words) - size + 1)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is", "as it is"),
        ({"answer": "Nine.", "context": ["The kiosk opens at nine."]}, "Nine."),
        ({"content": [{"text": "one"}, {"text": "two"}], "metadata": {"id": "x"}}, "one\ntwo"),
        ({"id": "a", "text": "what it says"}, "what it says"),
        ({"city": "Rome", "year": 1960, "open": True, "note": None}, "Rome\n1960\ntrue"),
        (["a", ["b", 0]], "a\nb\n0"),
        (None, ""),
        ({"answer": None}, ""),
    ],
)
def test_the_text_in_a_value(value: object, text: str) -> None:
    assert text_of(value) == text


def test_a_list_of_scalars_holds_several_references() -> None:
    assert references(["a", 1, True, None]) == ["a", "1", "true"]
    assert references({"answer": "a"}) == ["a"]
    assert references([{"answer": "a"}, "b"]) == ["a\nb"]
    assert references([]) == references(None) == []


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        ("", '""'),
        ({"a": "ä", "b": [1, True]}, '{"a":"ä","b":[1,true]}'),
        ("x" * 78, '"' + "x" * 78 + '"'),
        ("x" * 79, '"' + "x" * 79 + "…"),
        ("x" * 10_000_000, '"' + "x" * 79 + "…"),
        ([1] * 100, "[" + "1," * 39 + "1…"),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_of_a_value_the_beginning_is_shown(value: JsonValue, text: str) -> None:
    assert shown(value) == text
