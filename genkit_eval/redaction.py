"""Keys are cut out of whatever a server says, also where it says them in base64, or escaped."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from html import escape

__all__ = ["Redactor", "looks_like_key", "may_be_secret"]

HIDDEN = "[hidden]"
CERTAIN = 16
"""So many characters in a row are no word of an answer."""

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{8,}={0,2}")
_LONG_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{20,}={0,2}")
_BEARER = re.compile(r"(?i)\b(bearer)\s+[^\s\"',;]{8,}")
# OpenAI's and Anthropic's; GitHub's, Groq's, Hugging Face's, Slack's; Google's; Amazon's
_KEY = re.compile(
    r"\b(?:sk-[A-Za-z0-9_*-]{6,}|(?:gh[opsur]|github_pat|gsk|hf|xox[abp])[_-][A-Za-z0-9_-]{20,}"
    r"|AIza[A-Za-z0-9_-]{30,}|AKIA[A-Z0-9]{16})"
)
_SECRET_NAME = re.compile(r"auth(?!or\b)|key|token|secret|cookie|password|credential", re.IGNORECASE)


def may_be_secret(name: str) -> bool:
    """Whether what goes by this name (a header, a variable, a parameter) is better not shown."""
    return _SECRET_NAME.search(name) is not None


def looks_like_key(text: str) -> bool:
    """Whether something in a text looks like a key."""
    return bool(_KEY.search(text) or _BEARER.search(text))


class Redactor:
    """Cuts secrets out of texts: as they are, escaped, or within base64; and whatever looks like a key."""

    def __init__(self, secrets: Iterable[str]) -> None:
        # a shorter one would cut holes into words
        distinct = sorted({secret for secret in secrets if len(secret) >= 6}, key=len, reverse=True)
        self._secrets = {secret: _however_escaped(secret) for secret in distinct}

    def __repr__(self) -> str:
        return "Redactor()"

    def __call__(self, text: str) -> str:
        """The text without them."""
        text = self._without(self._secrets, _BASE64, text)
        return _KEY.sub(HIDDEN, _BEARER.sub(rf"\1 {HIDDEN}", text))

    def in_reply(self, text: str) -> str:
        """What a model said, without them; what may be a word ("ollama"), or only looks like a key, is left alone."""
        certain = [secret for secret in self._secrets if len(secret) >= CERTAIN]
        return self._without(certain, _LONG_BASE64, text) if certain else text

    def _without(self, secrets: Iterable[str], encoded: re.Pattern[str], text: str) -> str:
        for secret in secrets:
            text = self._secrets[secret].sub(HIDDEN, text)
        return encoded.sub(lambda found: HIDDEN if self._encoded_in(found[0]) else found[0], text)

    def _encoded_in(self, piece: str) -> bool:
        symbols = piece.rstrip("=").replace("-", "+").replace("_", "/")
        # cut from the middle of a longer encoding, it may begin at any of four places
        decoded = [_decoded(symbols[start:]) for start in range(4)]
        return any(secret.encode() in text for secret in self._secrets for text in decoded)


def _however_escaped(secret: str) -> re.Pattern[str]:
    """Finds it as it is, or with any of its characters escaped: as in an address, in JSON (in JSON), in a page."""
    # what nobody escapes stays as it is: a pattern that begins with it is quick
    return re.compile("".join(char if char.isascii() and char.isalnum() else _escaped(char) for char in secret))


def _escaped(char: str) -> str:
    code = ord(char)
    percent = "".join(f"%{byte:02x}" for byte in char.encode(errors="surrogateescape"))
    # with as many backslashes as JSON within JSON within JSON has: without a bound, a text of them alone takes for ever
    forms = [rf"\\{{0,7}}(?:{re.escape(char)}|(?i:u{code:04x}))", f"(?i:{percent}|&#(?:{code}|x0*{code:x});)"]
    forms += [escape(char)] * (escape(char) != char) + [r"\+"] * (char == " ")
    return f"(?:{'|'.join(forms)})"


def _decoded(symbols: str) -> bytes:
    # one symbol alone over the end holds no whole byte
    whole = symbols[:-1] if len(symbols) % 4 == 1 else symbols
    try:
        return base64.b64decode(whole + "=" * (-len(whole) % 4))
    except binascii.Error:
        return b""
