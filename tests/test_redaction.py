"""Secrets are cut out of texts, and nothing else is."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Callable
from urllib.parse import quote, quote_plus

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


@pytest.mark.parametrize(
    "escape",
    [
        lambda secret: secret,
        quote,
        quote_plus,
        lambda secret: quote(secret, safe=""),
        lambda secret: quote(secret, safe="").lower(),
        # a client's own mixture: some are escaped, some are not
        lambda secret: quote(secret, safe="+ ="),
        json.dumps,
        lambda secret: json.dumps({"said": json.dumps(secret)}),
        lambda secret: json.dumps(secret).replace("/", "\\/"),
        lambda secret: json.dumps(secret).replace("+", "\\u002B"),
        repr,
        html.escape,
        lambda secret: secret.replace("/", "&#x2F;").replace("+", "&#43;"),
    ],
)
def test_a_secret_is_cut_out_however_it_is_escaped(escape: Callable[[str], str]) -> None:
    secret = "s3cr3t/tok+en= 'va\\lue\"<ü>&12345"

    for cut in (Redactor([secret]), Redactor([secret]).in_reply):
        text = cut(f"you sent <{escape(secret)}>, sorry")

        assert "[hidden]" in text
        assert "s3cr3t" not in text
        assert "12345" not in text


def test_words_that_are_no_secret_stay() -> None:
    text = "model gpt-4o-mini-2024-07-18 does not exist in organization org-abcdefghijkl"

    assert Redactor(["key", KEY, ""])(text) == text
