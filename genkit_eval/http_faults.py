"""What any server's HTTP answer says when it is no good one: which way it failed, when to come back, in what words."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from genkit_eval.errors import ModelErrorKind

__all__ = ["kind_of_status", "retry_after", "start_of"]

SHOWN = 300
"""Characters of a server's own words that go into a message."""

_TAG = re.compile(r"<(head|style|script)\b.*?</\1>|<[^>]*>", re.DOTALL | re.IGNORECASE)

_KINDS: Mapping[int, ModelErrorKind] = {
    401: "auth",
    402: "quota",
    403: "auth",
    408: "timeout",
    429: "rate_limit",
    504: "timeout",
}


def kind_of_status(status: int) -> ModelErrorKind:
    """Which way a call failed that was answered with this status."""
    if status in _KINDS:
        return _KINDS[status]
    # what is not implemented will not be at the second time either
    passing = status in (409, 425) or (status >= 500 and status != 501)
    return "server" if passing else "bad_request"


def start_of(text: str) -> str:
    """The start of a server's words, on one line, without the marks of a page."""
    words = " ".join(_TAG.sub(" ", text[:4000]).split())
    return words if len(words) <= SHOWN else words[:SHOWN] + " …"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a server asks to wait: in milliseconds, in seconds or until a date; None if it is none of them."""
    try:
        if "retry-after-ms" in headers:
            seconds = float(headers["retry-after-ms"]) / 1000
        else:
            seconds = float(headers["retry-after"])
    except KeyError:
        return None
    except ValueError:
        return _until(headers.get("retry-after", ""))
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _until(date: str) -> float | None:
    try:
        moment = parsedate_to_datetime(date)
    except ValueError:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (aware - datetime.now(UTC)).total_seconds())
