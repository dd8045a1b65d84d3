"""What an endpoint is sent from the environment: it arrives, and is kept nowhere."""

from __future__ import annotations

import base64
import logging
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from genkit_eval import ConfigError, GenkitEval, HttpTarget, Limits, run_sync
from tests.engine.endpoints import Answer, Asked, Endpoint

pytestmark = pytest.mark.usefixtures("no_proxy")

SECRET = "sk-test-NOTREAL-0123456789"


def echoed(asked: Asked) -> Answer:
    return Answer(json=asked.json)


def everything_kept(ge: GenkitEval) -> str:
    """All that lies on disk, as one text."""
    return "\n".join(path.read_text("utf-8") for path in sorted(ge.root.rglob("*")) if path.is_file())


def test_variables_are_sent_and_only_their_names_are_kept(ge: GenkitEval, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANSWER_TOKEN", SECRET)
    headers = {"Authorization": "Bearer ${ANSWER_TOKEN}", "X-Team": "evaluation", "X-Author": "me"}

    with Endpoint(echoed) as endpoint:
        target = HttpTarget(f"{endpoint.url}?key=${{ANSWER_TOKEN}}", headers=headers)
        run = run_sync(ge.evaluate([{"input": "?"}], target=target, evaluators=[]))

    assert endpoint.asked[0].headers["authorization"] == f"Bearer {SECRET}"
    assert endpoint.asked[0].headers["x-team"] == "evaluation"
    assert endpoint.asked[0].path == f"/answer?key={SECRET}"
    assert run.key.action_ref == f"{endpoint.url}?key=${{ANSWER_TOKEN}}"
    assert run.key.action_config == {"method": "POST", "headers": headers}
    assert SECRET not in everything_kept(ge)


@pytest.mark.case("security/key-in-files-and-logs")
@pytest.mark.parametrize("status", [200, 401, 500])
def test_a_secret_that_the_endpoint_echoes_is_kept_nowhere(
    ge: GenkitEval, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setenv("ANSWER_TOKEN", SECRET)
    encoded = base64.b64encode(f"Bearer {SECRET}".encode()).decode()

    with Endpoint(
        lambda asked: Answer(status=status, json={"you sent": asked.headers["authorization"], "or": encoded})
    ) as endpoint:
        target = HttpTarget(endpoint.url, headers={"Authorization": "Bearer ${ANSWER_TOKEN}"})
        run_sync(ge.evaluate([{"input": "?"}], target=target, evaluators=[], limits=Limits(retry_seconds=0)))

    kept = everything_kept(ge)
    assert SECRET not in kept
    assert encoded not in kept


@pytest.mark.case("security/key-in-files-and-logs")
def test_a_secret_is_in_no_log_of_those_who_log_everything(
    ge: GenkitEval, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("ANSWER_TOKEN", SECRET)
    caplog.set_level(logging.DEBUG)

    with Endpoint(lambda asked: Answer(json=1, headers={"X-You-Sent": asked.headers["authorization"]})) as endpoint:
        target = HttpTarget(f"{endpoint.url}?q=${{ANSWER_TOKEN}}", headers={"Authorization": "Bearer ${ANSWER_TOKEN}"})
        run_sync(ge.evaluate([{"input": "?"}], target=target, evaluators=[]))

    assert f"{endpoint.url}?q=[hidden]" in caplog.text
    assert "X-You-Sent" in caplog.text
    assert SECRET not in caplog.text


@pytest.mark.parametrize("method", ["POST", "GET"])
def test_a_variable_in_a_query_arrives_whatever_it_holds_and_is_kept_nowhere(
    ge: GenkitEval, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    secret = "s3cr3t/tok+en=value& more-1234567890"
    monkeypatch.setenv("ANSWER_TOKEN", secret)

    with Endpoint(lambda asked: Answer(json={"you asked for": asked.path})) as endpoint:
        target = HttpTarget(f"{endpoint.url}?key=${{ANSWER_TOKEN}}", method=method)
        run_sync(ge.evaluate([{"input": {"q": "a b"}}], target=target, evaluators=[]))

    assert parse_qs(urlsplit(endpoint.asked[0].path).query)["key"] == [secret]
    assert "s3cr3t" not in everything_kept(ge)


@pytest.mark.parametrize(
    ("url", "options", "said"),
    [
        ("http://h/", {"headers": {"Authorization": f"Bearer {SECRET}"}}, "header 'Authorization' may be secret"),
        ("http://h/", {"headers": {"X-API-Key": "abc"}}, "like ${NAME} (in a shell within single quotes)"),
        (f"http://h/?api_key={SECRET}", {}, "'api_key' in the address http://h/ may be secret"),
        (f"http://me:{SECRET}@h/", {}, "holds a user or password"),
        ("http://h/", {"headers": {"X-Team": SECRET}}, "header 'X-Team' may be secret"),
        ("http://h/", {"headers": {"X-Team": f"Bearer {SECRET}${{T}}"}}, "header 'X-Team' may be secret"),
        (f"http://h/{SECRET}/x", {}, "the target's address holds what looks like a key"),
        (f"http://h/{SECRET}?api_key=x", {}, "the target's address holds what looks like a key"),
        (f"http://h/?q={SECRET}", {}, "'q' in the address http://h/ may be secret"),
        ("http://h/", {"request": f"{{'key': '{SECRET}'}}"}, "the target's request expression holds what looks like"),
        ("http:///x", {}, "is no http:// or https:// address"),
        ("http://h:port/", {}, "is no address"),
        ("http://h/", {"method": "LOOK"}, "expected one of POST, PUT"),
        ("http://h/", {"headers": {"X-Team": "Größe"}}, "holds characters that no HTTP header can hold"),
        ("http://h/", {"headers": {"X Team:": "a"}}, "is no name of a header"),
        ("http://h/", {"headers": {"X-Team": None}}, "header 'X-Team' is of type NoneType: give a text"),
        ("http://h/", {"headers": {"content-length": "3"}}, "says how long a request is"),
    ],
)
def test_what_cannot_be_sent_or_must_not_be_kept_is_refused(url: str, options: Any, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        HttpTarget(url, **options)

    assert said in str(caught.value)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Authorization", "Bearer ${T}"),
        ("Authorization", "Token ${T}"),
        ("Cookie", "session=${T}; lang=en"),
        ("X-Api-Key", ""),
        ("X-Author", "me"),
    ],
)
def test_a_variable_makes_any_header_one_to_keep(name: str, value: str) -> None:
    assert HttpTarget("HTTP://h/", headers={name: value}).config["headers"] == {name: value}


def test_a_dataset_may_name_an_endpoint_but_no_variables(ge: GenkitEval, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANSWER_TOKEN", SECRET)
    with Endpoint(echoed) as endpoint:
        ge.datasets.create("plain", [{"input": 1}], target=endpoint.url)
        ge.datasets.create("greedy", [{"input": 1}], target=f"{endpoint.url}?x=${{ANSWER_TOKEN}}")

        run = run_sync(ge.evaluate("plain", evaluators=[]))
        with pytest.raises(ConfigError, match="with variables of yours in it: give it yourself"):
            run_sync(ge.evaluate("greedy", evaluators=[]))

    assert run.results[0].output == 1
    assert len(endpoint.asked) == 1
