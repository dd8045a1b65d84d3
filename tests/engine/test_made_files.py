"""Files that a target makes: reported like its context, whole in the run, and never read from a path that it names."""

from __future__ import annotations

import hashlib
import sys
from base64 import b64encode
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from genkit_eval import (
    CommandTarget,
    DataPoint,
    EvalResult,
    GenkitEval,
    HttpTarget,
    Image,
    Reply,
    Status,
    TargetResult,
    record_attachment,
    record_context,
    run_sync,
)
from genkit_eval.attachments import MOST_BYTES
from genkit_eval.engine.targets.recording import recorder
from genkit_eval.testing import Answer as ServerAnswer
from genkit_eval.testing import OpenAIServer, ScriptedModel
from genkit_eval_openai import openai_models
from tests.engine.endpoints import Answer, Endpoint

PNG = b"\x89PNG\r\n\x1a\nrest"
PDF = b"%PDF-1.7\nrest"
URL = f"data:image/png;base64,{b64encode(PNG).decode()}"


def digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def result_of(ge: GenkitEval, target: Any, **sample: Any) -> EvalResult:
    """The one result of a run, as its file has it."""
    if callable(target):
        ge.define_flow("f", target)
        target = "f"
    run = run_sync(ge.evaluate([{"input": "x", **sample}], target=target, evaluators=[]))
    return ge.runs.load(run.id).results[0]


def kept(result: EvalResult) -> list[dict[str, Any]]:
    return [file.to_json() for file in result.output_attachments]


def test_what_a_flow_records_is_kept_whole_with_its_digest(ge: GenkitEval, tmp_path: Path) -> None:
    def flow(_: str) -> str:
        (tmp_path / "chart.png").write_bytes(PNG)
        record_attachment(tmp_path / "chart.png")
        record_attachment(PDF, name="report.pdf")
        record_attachment(URL)
        (tmp_path / "chart.png").write_bytes(b"of the next case")
        return "see the chart"

    result = result_of(ge, flow)

    image = {"url": URL, "mediaType": "image/png", "digest": digest(PNG)}
    report = f"data:application/pdf;base64,{b64encode(PDF).decode()}"
    assert kept(result) == [
        {**image, "name": "chart.png"},
        {"url": report, "mediaType": "application/pdf", "digest": digest(PDF), "name": "report.pdf"},
        image,
    ]
    assert result.output == "see the chart"


@pytest.mark.parametrize(
    "returned",
    [
        {"output": "o", "attachments": [URL]},
        {"output": "o", "outputAttachments": [{"url": URL}]},
        {"output": "o", "attachments": [PNG]},
        TargetResult("o", {"attachments": [URL]}),
    ],
)
def test_what_a_flow_returns_beside_its_output_is_kept_too(ge: GenkitEval, returned: Any) -> None:
    result = result_of(ge, lambda _: returned)

    assert result.output == "o"
    assert kept(result) == [{"url": URL, "mediaType": "image/png", "digest": digest(PNG)}]


def test_what_is_returned_stands_behind_what_was_recorded(ge: GenkitEval) -> None:
    def flow(_: str) -> Any:
        record_attachment(PDF, name="first")
        return {"output": None, "attachments": [{"url": URL, "name": "second"}]}

    assert [file.name for file in result_of(ge, flow).output_attachments] == ["first", "second"]


def test_what_was_recorded_before_a_flow_broke_is_kept(ge: GenkitEval) -> None:
    def flow(_: str) -> str:
        record_attachment(PNG)
        raise ValueError("no")

    result = result_of(ge, flow, output="earlier", outputAttachments=[{"url": URL, "name": "earlier"}])

    assert [file.digest for file in result.output_attachments] == [digest(PNG)]
    assert result.output_attachments[0].name is None


def test_the_files_of_an_earlier_output_go_with_it_and_attached_ones_stay(ge: GenkitEval) -> None:
    sample = {"output": "earlier", "outputAttachments": [URL], "attachments": [{"url": URL, "name": "given"}]}

    result = result_of(ge, lambda _: "new", **sample)

    assert not result.output_attachments
    assert [file.name for file in result.attachments] == ["given"]


@pytest.mark.parametrize(
    ("item", "told"),
    [
        ("chart.png", "'chart.png' is no address that begins with data:"),
        ("file:///etc/passwd", "'file:///etc/passwd' is no address that begins with data:"),
        ({"path": "chart.png"}, "expected an address that begins with data:"),
        ({"path": "chart.png", "url": URL}, "expected an address that begins with data:"),
        ({"url": "chart.png"}, "is no address that begins with data:"),
        (7, "expected an address that begins with data:"),
        ("data:text/plain,hello", "is none of PDF, PNG, JPEG, WEBP and SVG"),
        ("data:image/png;base64,###", "is not in base64, as it says"),
        (f"data:image/png,{'x' * (MOST_BYTES + 1)}", "an attachment has 20 MB at most"),
    ],
)
@pytest.mark.parametrize("by", ["flow", "endpoint"])
def test_no_target_makes_us_read_a_file_of_this_machine(
    ge: GenkitEval, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str, item: Any, told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "chart.png").write_bytes(PNG)
    answer = {"output": "o", "attachments": [item]}

    if by == "flow":
        result = result_of(ge, lambda _: answer)
    else:
        with Endpoint(lambda asked: Answer(json=answer)) as endpoint:
            result = result_of(ge, endpoint.url)

    assert "attachments[0]: " in str(result.error)
    assert told in str(result.error)
    assert not result.output_attachments


def test_a_text_that_a_flow_records_is_never_taken_for_a_path(ge: GenkitEval, tmp_path: Path) -> None:
    path = tmp_path / "chart.png"
    path.write_bytes(PNG)

    result = result_of(ge, lambda _: record_attachment(str(path)))

    assert "a text is not taken for the path of a file: give bytes or a Path" in str(result.error)


@pytest.mark.parametrize("content", [b"hello", b"", b"\x89PNG" * (MOST_BYTES // 4 + 1), Path("gone.png")])
def test_what_is_no_file_to_be_judged_by_is_the_flows_error(ge: GenkitEval, content: bytes | Path) -> None:
    result = result_of(ge, lambda _: record_attachment(content))

    told = ["is none of PDF", "20 MB at most", "gone.png cannot be read: No such file"]
    assert any(text in str(result.error) for text in told)


@pytest.mark.parametrize("folder", [None, "/nowhere"])
def test_the_path_of_a_file_that_cannot_be_read_is_said_once(ge: GenkitEval, folder: str | None) -> None:
    path = Path(folder or "") / "gone.png"

    result = result_of(ge, lambda _: record_attachment(path))

    where = f" ({path})" if folder else ""
    assert str(result.error) == f"gone.png cannot be read: No such file or directory{where}"


def test_outside_an_evaluation_nothing_is_recorded_nor_read() -> None:
    assert recorder.get() is None
    record_attachment(Path("gone.png"))


def test_an_address_of_another_machine_is_kept_and_not_fetched(ge: GenkitEval) -> None:
    address = "https://files.example/a.png"

    result = result_of(ge, lambda _: {"output": "o", "attachments": [address]})

    assert kept(result) == [{"url": address}]


def test_an_expression_finds_the_files_in_an_endpoints_answer(ge: GenkitEval) -> None:
    answer = {"text": "o", "image": {"b64": b64encode(PNG).decode()}}
    mapping = '{"output": text, "attachments": ["data:image/png;base64," & image.b64]}'

    with Endpoint(lambda asked: Answer(json=answer)) as endpoint:
        result = result_of(ge, HttpTarget(endpoint.url, response=mapping))

    assert (result.output, result.error) == ("o", None)
    assert [file.digest for file in result.output_attachments] == [digest(PNG)]


def test_an_endpoint_may_answer_with_the_file_itself(ge: GenkitEval) -> None:
    with Endpoint(lambda asked: Answer(body=PNG, content_type="image/png")) as endpoint:
        result = result_of(ge, endpoint.url)

    assert (result.error, result.output, result.has("output")) == (None, None, True)
    assert kept(result) == [{"url": URL, "mediaType": "image/png", "digest": digest(PNG)}]


def test_an_answer_that_is_no_image_though_it_says_so_is_the_targets_error(ge: GenkitEval) -> None:
    with Endpoint(lambda asked: Answer(body=b"oh", content_type="image/png")) as endpoint:
        result = result_of(ge, endpoint.url)

    assert "what the target made is none of PDF, PNG, JPEG, WEBP and SVG" in str(result.error)


def test_a_command_reports_files_by_their_content(ge: GenkitEval) -> None:
    code = f"import json; print(json.dumps({{'output': 'o', 'attachments': [{URL!r}]}}))"

    result = result_of(ge, CommandTarget([sys.executable, "-c", code]))

    assert kept(result) == [{"url": URL, "mediaType": "image/png", "digest": digest(PNG)}]


def test_the_images_that_a_model_makes_are_files_of_its_output(ge: GenkitEval) -> None:
    made = Image(media_type="image/png", data=b64encode(PNG).decode())
    ge.registry.define_models("my", {"painter": ScriptedModel(Reply(text="there", images=[made]))})

    result = result_of(ge, "/model/my/painter")

    assert result.output == "there"
    assert [file.url for file in result.output_attachments] == [URL]


@pytest.mark.parametrize("content", ["there", None])
def test_images_in_a_completion_are_those_of_the_reply(tmp_path: Path, content: str | None) -> None:
    message = {"role": "assistant", "content": content}
    message |= {"images": [{"type": "image_url", "image_url": {"url": URL}}]}

    answer = ServerAnswer(body={"choices": [{"message": message, "finish_reason": "stop"}]})

    with OpenAIServer(lambda call: answer) as server:
        ge = GenkitEval(plugins=[openai_models(base_url=server.url)], root=tmp_path)
        result = result_of(ge, "/model/openai/painter")

    assert (result.error, result.output) == (None, content or "")
    assert [file.url for file in result.output_attachments] == [URL]


def test_a_sample_may_hold_nothing_but_the_file_that_was_made(ge: GenkitEval) -> None:
    ge.define_evaluator("t/looks", lambda point: bool(point.output_attachments))
    ge.datasets.create("drawings", [{"outputAttachments": [URL]}], metric_refs=["t/looks"])

    run = run_sync(ge.evaluate("drawings"))

    assert run.results[0].metrics[0].status is Status.PASS


@pytest.mark.anyio
async def test_evaluators_see_them_and_a_rescore_and_a_resume_keep_them(ge: GenkitEval) -> None:
    seen: list[tuple[int, str]] = []
    called: list[str] = []
    stuck = anyio.Event()

    def flow(text: str) -> str:
        called.append(text)
        record_context("c")
        record_attachment(PNG, name="chart.png")
        return "o"

    async def looks(point: DataPoint) -> bool:
        seen.append((len(point.attachments), str(point.output_attachments[0].digest)))
        if len(seen) == 1:
            stuck.set()
            await anyio.sleep_forever()
        return True

    ge.define_flow("f", flow)
    ge.define_evaluator("t/looks", looks, version="1")
    samples = [{"input": "x", "attachments": [URL]}]

    async with anyio.create_task_group() as group:
        group.start_soon(partial(ge.evaluate, samples, target="f", evaluators=["t/looks"]))
        await stuck.wait()
        group.cancel_scope.cancel()
    run = await ge.evaluate(samples, resume=ge.runs.list()[0].eval_run_id)
    again = await ge.rescore(run.id)

    assert (called, seen) == (["x"], [(1, digest(PNG))] * 3)
    assert [file.name for file in again.results[0].output_attachments] == ["chart.png"]
    assert kept(ge.runs.load(run.id).results[0]) == kept(ge.runs.load(again.id).results[0])
