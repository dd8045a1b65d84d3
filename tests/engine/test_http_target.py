"""Endpoints as targets: what is sent, what comes of the answer, and what is kept of it."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from genkit_eval import ConfigError, EvalResult, GenkitEval, HttpTarget, Limits, ToolCall, Usage, run_sync
from tests.engine.endpoints import Answer, Asked, Endpoint

pytestmark = pytest.mark.usefixtures("no_proxy")

SECRET = "sk-test-NOTREAL-0123456789"


def result_of(ge: GenkitEval, target: Any, given: Any) -> EvalResult:
    """The one result of a run over the one input."""
    limits = Limits(retry_seconds=0)
    run = run_sync(ge.evaluate([{"input": given}], target=target, evaluators=[], limits=limits))
    return run.results[0]


def echoed(asked: Asked) -> Answer:
    return Answer(json=asked.json)


def always(answer: Answer) -> Callable[[Asked], Answer]:
    return lambda asked: answer


@pytest.mark.parametrize("given", ["why?", {"q": ["why", None, 0]}, [1, 2], 0, False, None, "Größe 🎈", 2**70])
def test_the_input_is_the_body_and_the_answer_is_the_output(ge: GenkitEval, given: Any) -> None:
    with Endpoint(echoed) as endpoint:
        result = result_of(ge, endpoint.url, given)

    assert (result.output, result.error) == (given, None)
    assert endpoint.asked[0].method == "POST"
    assert endpoint.asked[0].headers["content-type"] == "application/json"


def test_every_sample_is_sent_once_and_results_keep_their_order(ge: GenkitEval) -> None:
    with Endpoint(echoed) as endpoint:
        run = run_sync(ge.evaluate([{"input": n} for n in range(100)], target=endpoint.url, evaluators=[]))

    assert [result.output for result in run.results] == list(range(100))
    assert sorted(asked.json for asked in endpoint.asked) == list(range(100))


def test_expressions_map_the_request_and_the_answer(ge: GenkitEval) -> None:
    with Endpoint(lambda asked: Answer(json={"result": {"text": asked.json["data"].upper()}})) as endpoint:
        target = HttpTarget(endpoint.url, request='{"data": question}', response="result.text")

        result = result_of(ge, target, {"question": "why?"})

    assert result.output == "WHY?"


def test_what_the_endpoint_reports_reaches_the_data_point(ge: GenkitEval) -> None:
    answer = {
        "answer": "Paris",
        "docs": ["France's capital is Paris."],
        "cost": {"in": 7, "out": 2},
        "calls": [{"name": "search", "arguments": {"q": "France"}}],
        "ms": 250,
    }
    mapping = """{"output": answer, "context": docs, "usage": {"inputTokens": cost.in, "outputTokens": cost.out},
                  "tools": calls, "latency": ms / 1000}"""

    with Endpoint(always(Answer(json=answer))) as endpoint:
        result = result_of(ge, HttpTarget(endpoint.url, response=mapping), "capital of France?")

    assert (result.output, result.context) == ("Paris", ["France's capital is Paris."])
    assert result.usage == Usage(input_tokens=7, output_tokens=2)
    assert result.tools == [ToolCall(name="search", arguments={"q": "France"})]
    assert result.latency == 0.25


def test_an_answer_may_report_by_itself(ge: GenkitEval) -> None:
    with Endpoint(always(Answer(json={"output": "Paris", "retrievedIds": ["d1"]}))) as endpoint:
        result = result_of(ge, endpoint.url, "?")

    assert (result.output, result.retrieved_ids) == ("Paris", ["d1"])


def test_latency_is_measured_where_it_is_not_reported(ge: GenkitEval) -> None:
    with Endpoint(echoed) as endpoint:
        result = result_of(ge, endpoint.url, "?")

    assert result.latency is not None
    assert 0 < result.latency < 60


@pytest.mark.parametrize(
    ("body", "content_type", "output"),
    [
        (b"Paris", "text/plain; charset=utf-8", "Paris"),
        (b"42", "text/plain", "42"),
        ("Größe".encode("latin-1"), "text/plain; charset=latin-1", "Größe"),
        (b'{"a": 1}', "text/html", {"a": 1}),
        (b"<p>Paris</p>", "text/html", "<p>Paris</p>"),
        (b"null", "", None),
        (b"", "", ""),
        (b"\xef\xbb\xbf[1]", "application/json", [1]),
        (b'{"a": 1}', "application/problem+json", {"a": 1}),
        (b"Paris", "text/plain; charset=nonsense", "Paris"),
        (b"Paris", "text/plain; charset=rot13", "Paris"),
        (b"1", "application/json; charset=hex", 1),
    ],
)
def test_what_is_no_json_is_text(ge: GenkitEval, body: bytes, content_type: str, output: Any) -> None:
    with Endpoint(always(Answer(body=body, content_type=content_type))) as endpoint:
        result = result_of(ge, endpoint.url, "?")

    assert result.has("output")
    assert result.output == output


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Answer(status=500, json={"error": "boom"}), 'answered HTTP 500: {"error": "boom"}'),
        (Answer(status=404, body=b"<html><h1>Not here</h1></html>", content_type="text/html"), "HTTP 404: Not here"),
        (Answer(status=302, headers={"Location": "http://elsewhere.test/x"}), "to go to http://elsewhere.test/x"),
        (Answer(body=b'{"a": NaN}'), "char 6)): '{\"a\": NaN}'"),
        (Answer(body=b'{"a": 1e999}'), "answered what is no JSON, as it says it is (number is infinity"),
        (Answer(body=b" "), "answered nothing, and says that it is JSON"),
        (Answer(status=204), "answered nothing, and says that it is JSON"),
        (Answer(body=b"caf\xe9", content_type="text/plain"), "answered what is no text ('utf-8' codec can't decode"),
        (Answer(body=b'"caf\xe9"'), "answered what is no text"),
        (Answer(body=b"xyz", content_type="text/plain; charset=utf-16"), "answered what is no text"),
        (Answer(status=400, body=b"no caf\xe9", content_type="text/plain"), "HTTP 400: no caf\ufffd"),
        (Answer(status=400, body=b"no", content_type="text/plain; charset=idna"), "HTTP 400: no"),
        (Answer(body=b"[" * 100_000), "answered what is no JSON"),
        (Answer(reset=True), "hung up before the answer was whole"),
        (Answer(json="whole", cut=True), "hung up before the answer was whole"),
        (Answer(json={"output": "x", "usage": {"inputTokens": "many"}}), "beside it the target reported"),
        (Answer(body=b"nonsense", headers={"Content-Encoding": "gzip"}), "answered what cannot be decoded"),
    ],
)
def test_no_good_answer_is_the_targets_error(ge: GenkitEval, answer: Answer, said: str) -> None:
    with Endpoint(always(answer)) as endpoint:
        result = result_of(ge, endpoint.url, "?")

    assert not result.has("output")
    assert said in str(result.error)


def test_an_endpoint_that_is_not_there_is_the_targets_error(ge: GenkitEval) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/answer"

        result = result_of(ge, url, "?")

    assert f"POST {url} could not be reached" in str(result.error)


def test_an_endpoint_without_the_s_of_its_scheme_is_the_targets_error(ge: GenkitEval) -> None:
    with Endpoint(echoed) as endpoint:
        result = result_of(ge, endpoint.url.replace("http:", "https:"), "?")

    assert "could not be reached ([SSL" in str(result.error)


def test_a_query_that_no_address_can_hold_is_the_targets_error(ge: GenkitEval) -> None:
    with Endpoint(echoed) as endpoint:
        result = result_of(ge, HttpTarget(endpoint.url, method="GET"), {"q": "x" * 100_000})

    assert f"GET {endpoint.url} cannot be asked for this: " in str(result.error)
    assert endpoint.asked == []


def test_an_endpoint_that_never_answers_ends_at_the_targets_deadline(ge: GenkitEval) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        limits = Limits(target_seconds=0.3)

        run = run_sync(ge.evaluate([{"input": n} for n in range(3)], target=url, evaluators=[], limits=limits))

    assert [result.error for result in run.results] == ["timeout: the target took longer than 0.3 s"] * 3


def test_cookies_of_one_case_are_not_sent_with_the_next(ge: GenkitEval) -> None:
    with Endpoint(always(Answer(json=1, headers={"Set-Cookie": "session=first"}))) as endpoint:
        limits = Limits(max_concurrency=1)
        run_sync(ge.evaluate([{"input": 1}, {"input": 2}], target=endpoint.url, evaluators=[], limits=limits))

    assert ["cookie" in asked.headers for asked in endpoint.asked] == [False, False]


@pytest.mark.parametrize(
    ("given", "query"),
    [
        ({"q": "a b&c"}, "q=a+b%26c"),
        ({"q": ["x", 2, None], "none": None, "yes": True}, "q=x&q=2&yes=true"),
        ({"deep": {"a": 1}}, "deep=%7B%22a%22%3A1%7D"),
        ({}, ""),
    ],
)
def test_a_get_has_its_input_in_the_query(ge: GenkitEval, given: Any, query: str) -> None:
    with Endpoint(lambda asked: Answer(json=asked.path)) as endpoint:
        result = result_of(ge, HttpTarget(f"{endpoint.url}?lang=en", method="GET"), given)

    _, _, found = str(result.output).partition("?")
    assert found.replace("%20", "+") == "&".join(part for part in ("lang=en", query) if part)


def test_a_query_of_no_object_is_the_targets_error(ge: GenkitEval) -> None:
    with Endpoint(echoed) as endpoint:
        result = result_of(ge, HttpTarget(endpoint.url, method="GET"), "why?")

    assert 'give a request expression, like {"question": $}' in str(result.error)
    assert endpoint.asked == []


@pytest.mark.parametrize(
    ("expressions", "said"),
    [
        ({"response": "nothing.here"}, "the response expression 'nothing.here' finds nothing in the answer of POST"),
        ({"request": "$ + 1"}, "the request expression '$ + 1': "),
        ({"response": "$sum"}, "the result is a function"),
        ({"request": "[1..9999999]"}, "has more than 1000000 numbers"),
    ],
)
def test_an_expression_that_gives_nothing_is_the_targets_error(
    ge: GenkitEval, expressions: dict[str, str], said: str
) -> None:
    with Endpoint(echoed) as endpoint:
        result = result_of(ge, HttpTarget(endpoint.url, **expressions), "why?")

    assert said in str(result.error)


def test_an_endless_expression_costs_its_case_and_the_run_goes_on(
    ge: GenkitEval, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("genkit_eval.engine.targets.expression.SECONDS", 0.3)
    endless = "$ = 1 ? ($loop := function($n){ $loop($n + 2) }; $loop(0)) : $"

    with Endpoint(echoed) as endpoint:
        target = HttpTarget(endpoint.url, request=endless)
        run = run_sync(ge.evaluate([{"input": 1}, {"input": 2}], target=target, evaluators=[]))

    assert "took more than 0.3 s" in str(run.results[0].error)
    assert run.results[1].output == 2


def test_the_scheme_of_an_address_may_be_in_capitals(ge: GenkitEval) -> None:
    with Endpoint(echoed) as endpoint:
        result = result_of(ge, endpoint.url.replace("http", "HTTP"), 1)

    assert result.output == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"request": "foo("}, "the request expression 'foo('"),
        ({"response": " "}, "give a JSONata expression"),
        ({"headers": {"X": "${NOBODY_SETS_THIS}"}}, "header 'X' needs the variable NOBODY_SETS_THIS"),
    ],
)
def test_what_cannot_work_is_refused_before_anything_runs(ge: GenkitEval, options: Any, said: str) -> None:
    with Endpoint(echoed) as endpoint, pytest.raises(ConfigError) as caught:
        result_of(ge, HttpTarget(endpoint.url, **options), "?")

    assert said in str(caught.value)
    assert endpoint.asked == []
    assert ge.runs.list() == []


def test_an_interrupted_run_goes_on_with_the_same_endpoint(ge: GenkitEval, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANSWER_TOKEN", SECRET)
    samples = [{"testCaseId": f"case-{n}", "input": n} for n in range(8)]

    with Endpoint(lambda asked: Answer(json={"n": asked.json["n"]})) as endpoint:
        target = HttpTarget(
            endpoint.url,
            request='{"n": $}',
            response="n",
            headers={"Authorization": "Bearer ${ANSWER_TOKEN}"},
            method="PUT",
        )

        async def interrupted() -> str:
            ids: list[str] = []
            with anyio.CancelScope() as scope:

                def seen(progress: Any) -> None:
                    ids.append(progress.run_id)
                    if len(endpoint.asked) >= 2:
                        scope.cancel()

                limits = Limits(max_concurrency=1)
                await ge.evaluate(samples, target=target, evaluators=[], limits=limits, progress=seen)
            return ids[0]

        endpoint.hold_after(2)
        run_id = run_sync(interrupted())
        endpoint.release()
        run = run_sync(ge.evaluate(samples, resume=run_id))

    assert [result.output for result in run.results] == list(range(8))
    assert {asked.method for asked in endpoint.asked} == {"PUT"}
    assert {asked.headers["authorization"] for asked in endpoint.asked} == {f"Bearer {SECRET}"}
    # the one that was under way when the run was stopped
    assert len(endpoint.asked) <= 9


def test_endpoints_are_called_on_any_loop(ge: GenkitEval, anyio_backend: str) -> None:
    with Endpoint(echoed) as endpoint:
        target = HttpTarget(endpoint.url, request="$")

        async def main() -> Any:
            return await ge.evaluate([{"input": n} for n in range(5)], target=target, evaluators=[])

        run = anyio.run(main, backend=anyio_backend)

    assert [result.output for result in run.results] == list(range(5))


@pytest.mark.case("api-fault/second-run-same-client")
def test_one_target_serves_two_runs(ge: GenkitEval) -> None:
    with Endpoint(echoed) as endpoint:
        target = HttpTarget(endpoint.url)

        outputs = [result_of(ge, target, n).output for n in (1, 2)]

    assert outputs == [1, 2]


def test_what_is_kept_of_a_target_is_json(ge: GenkitEval) -> None:
    with Endpoint(echoed) as endpoint:
        run = run_sync(
            ge.evaluate([{"input": 1}], target=HttpTarget(endpoint.url, request="$", response="$"), evaluators=[])
        )

    kept = json.loads(run.path.read_text("utf-8"))["key"]
    assert kept["actionRef"] == endpoint.url
    assert kept["actionConfig"] == {"method": "POST", "request": "$", "response": "$"}
