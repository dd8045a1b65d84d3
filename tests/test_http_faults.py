"""What an HTTP answer says when it is no good one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from genkit_eval.http_faults import kind_of_status, retry_after, start_of


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "bad_request"),
        (401, "auth"),
        (402, "quota"),
        (403, "auth"),
        (404, "bad_request"),
        (408, "timeout"),
        (409, "server"),
        (418, "bad_request"),
        (425, "server"),
        (429, "rate_limit"),
        (500, "server"),
        (501, "bad_request"),
        (503, "server"),
        (504, "timeout"),
        (529, "server"),
    ],
)
def test_a_status_says_which_way_a_call_failed(status: int, kind: str) -> None:
    assert kind_of_status(status) == kind


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Sun, 06 Nov 1994 08:49:37 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
    ],
)
def test_a_server_asks_to_wait_in_several_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_a_date_to_come_is_so_many_seconds_away() -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)

    seconds = retry_after({"retry-after": date})

    assert seconds is not None
    assert 3000 < seconds <= 3600


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("slow  down\n", "slow down"),
        ("<html><head><title>x</title></head><h1>502</h1> Bad <b>Gateway</b></html>", "502 Bad Gateway"),
        ("x" * 301, "x" * 300 + " …"),
        ("", ""),
    ],
)
def test_the_start_of_a_servers_words_is_one_line_without_marks(text: str, start: str) -> None:
    assert start_of(text) == start
