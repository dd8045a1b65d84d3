"""Secrets are cut out of texts, and nothing else is."""

from __future__ import annotations

import base64
from collections.abc import Callable

import pytest

from genkit_eval.redaction import Redactor

KEY = "sk-test-NOTREAL-0123456789"


@pytest.mark.parametrize("before", ["", "x", "xy", "Bearer ", "Authorization: Bearer "])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_base64_of_a_secret_is_cut_out_wherever_it_begins(before: str, encode: Callable[[bytes], bytes]) -> None:
    secret = "pässword-with-ümlauts??>>"
    encoded = encode(f"{before}{secret}{before}".encode()).decode()

    assert Redactor([secret])(f"you sent {encoded}, sorry") in ("you sent [hidden], sorry", "you sent [hidden]=, sorry")
    assert Redactor([secret])(f"you sent {encoded.rstrip('=')}") == "you sent [hidden]"


def test_words_that_are_no_secret_stay() -> None:
    text = "model gpt-4o-mini-2024-07-18 does not exist in organization org-abcdefghijkl"

    assert Redactor(["key", KEY, ""])(text) == text
