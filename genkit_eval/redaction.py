"""Keys are cut out of whatever a server says, also where it says them in base64."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from urllib.parse import quote

__all__ = ["Redactor"]

HIDDEN = "[hidden]"
CERTAIN = 16
"""So many characters in a row are no word of an answer."""

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{8,}={0,2}")
_LONG_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{20,}={0,2}")
_BEARER = re.compile(r"(?i)\b(bearer)\s+[^\s\"',;]{8,}")
_OPENAI_KEY = re.compile(r"\bsk-[A-Za-z0-9_*-]{6,}")


class Redactor:
    """Cuts secrets out of texts: as they are, percent-encoded, or within base64; and whatever looks like a key."""

    def __init__(self, secrets: Iterable[str]) -> None:
        # a shorter one would cut holes into words
        self._secrets = sorted({secret for secret in secrets if len(secret) >= 6}, key=len, reverse=True)

    def __repr__(self) -> str:
        return "Redactor()"

    def __call__(self, text: str) -> str:
        """The text without them."""
        text = self._without(self._secrets, _BASE64, text)
        return _OPENAI_KEY.sub(HIDDEN, _BEARER.sub(rf"\1 {HIDDEN}", text))

    def in_reply(self, text: str) -> str:
        """What a model said, without them; what may be a word ("ollama"), or only looks like a key, is left alone."""
        certain = [secret for secret in self._secrets if len(secret) >= CERTAIN]
        return self._without(certain, _LONG_BASE64, text) if certain else text

    def _without(self, secrets: Iterable[str], encoded: re.Pattern[str], text: str) -> str:
        for secret in secrets:
            for form in (secret, quote(secret, safe=""), repr(secret)[1:-1]):
                text = text.replace(form, HIDDEN)
        return encoded.sub(lambda found: HIDDEN if self._encoded_in(found[0]) else found[0], text)

    def _encoded_in(self, piece: str) -> bool:
        symbols = piece.rstrip("=").replace("-", "+").replace("_", "/")
        # cut from the middle of a longer encoding, it may begin at any of four places
        decoded = [_decoded(symbols[start:]) for start in range(4)]
        return any(secret.encode() in text for secret in self._secrets for text in decoded)


def _decoded(symbols: str) -> bytes:
    # one symbol alone over the end holds no whole byte
    whole = symbols[:-1] if len(symbols) % 4 == 1 else symbols
    try:
        return base64.b64decode(whole + "=" * (-len(whole) % 4))
    except binascii.Error:
        return b""
