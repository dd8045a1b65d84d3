"""Files that belong to a case: what is taken in, and what is refused before anything is paid for."""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from pathlib import Path

import pytest

from genkit_eval import Attachment, DataError, DataFileError, GenkitEval, Limits, Sample, run_sync
from genkit_eval.attachments import MOST_BYTES, content_of, is_elsewhere, taken_in
from genkit_eval.datasets import as_samples, check_file, read_samples

PDF = b"%PDF-1.7\nrest"
PNG = b"\x89PNG\r\n\x1a\nrest"
KINDS = {
    "application/pdf": PDF,
    "image/png": PNG,
    "image/jpeg": b"\xff\xd8\xff\xe0rest",
    "image/webp": b"RIFF\x04\0\0\0WEBPVP8 ",
    "image/svg+xml": b"\xef\xbb\xbf<?xml version='1.0'?>\n<svg xmlns='http://www.w3.org/2000/svg'/>",
}


def digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def refused(given: Attachment, folder: Path) -> str:
    with pytest.raises(DataError) as caught:
        taken_in(given, folder)
    return str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_file_is_is_told_by_its_content(tmp_path: Path, kind: str) -> None:
    (tmp_path / "file.bin").write_bytes(KINDS[kind])

    found = taken_in(Attachment(path="file.bin", media_type="text/plain"), tmp_path)

    assert found.to_json() == {
        "path": str(tmp_path / "file.bin"),
        "name": "file.bin",
        "mediaType": kind,
        "digest": digest(KINDS[kind]),
    }
    assert content_of(found) == KINDS[kind]


def test_a_file_may_stand_in_its_address(tmp_path: Path) -> None:
    found = taken_in(Attachment(url=f"data:;base64,{b64encode(PNG).decode()}"), tmp_path)

    assert (found.media_type, found.digest, content_of(found)) == ("image/png", digest(PNG), PNG)


def test_what_is_no_such_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"PK\x03\x04 in truth an archive")
    (tmp_path / "folder").mkdir()

    assert "a.pdf is none of PDF, PNG" in refused(Attachment(path="a.pdf"), tmp_path)
    assert "b.pdf cannot be read: No such file" in refused(Attachment(path="b.pdf"), tmp_path)
    assert "folder is no file" in refused(Attachment(path="folder"), tmp_path)
    assert "expected the 'path'" in refused(Attachment(), tmp_path)
    assert "expected the 'path'" in refused(Attachment(path="a.pdf", url="data:,x"), tmp_path)
    assert "not in base64" in refused(Attachment(url="data:image/png;base64,???"), tmp_path)
    assert "no address that can be read" in refused(Attachment(url="file:///etc/passwd"), tmp_path)


def test_twenty_megabytes_are_the_most(tmp_path: Path) -> None:
    for name, size in (("most.pdf", MOST_BYTES), ("more.pdf", MOST_BYTES + 1)):
        with (tmp_path / name).open("wb") as file:
            file.write(PDF)
            file.truncate(size)

    assert taken_in(Attachment(path="most.pdf"), tmp_path).media_type == "application/pdf"
    assert "more.pdf has 20.0 MB: an attachment has 20 MB at most" in refused(Attachment(path="more.pdf"), tmp_path)


def test_a_file_that_changes_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(PDF)
    before = taken_in(Attachment(path=str(path)), tmp_path)
    path.write_bytes(PDF + b" of today")

    assert "has changed: its digest is" in refused(before, tmp_path)
    with pytest.raises(DataError, match="no longer what it was"):
        content_of(before)


def test_what_lies_elsewhere_is_kept_and_not_fetched(tmp_path: Path) -> None:
    found = taken_in(Attachment(url="https://files.example/a.png"), tmp_path)

    assert is_elsewhere(found)
    assert found.to_json() == {"url": "https://files.example/a.png"}


def test_paths_in_a_data_file_are_beside_it_and_get_their_digests(tmp_path: Path) -> None:
    (tmp_path / "scans").mkdir()
    (tmp_path / "scans" / "a.png").write_bytes(PNG)
    (tmp_path / "b.pdf").write_bytes(PDF)
    row = {"input": "x", "attachments": ["scans/a.png", {"path": "b.pdf", "name": "The terms"}]}
    (tmp_path / "data.jsonl").write_text(json.dumps(row), encoding="utf-8")

    (sample,) = read_samples(tmp_path / "data.jsonl")

    assert [(item.name, item.digest) for item in sample.attachments] == [
        ("a.png", digest(PNG)),
        ("The terms", digest(PDF)),
    ]
    assert sample.attachments[0].path == str(tmp_path / "scans" / "a.png")


def test_all_that_is_wrong_with_a_data_file_is_said_at_once(tmp_path: Path) -> None:
    rows = [{"input": "x", "attachments": ["gone.pdf"]}, {"input": "y", "attachments": [{"path": 3}]}]
    (tmp_path / "data.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")

    with pytest.raises(DataFileError) as caught:
        check_file(tmp_path / "data.jsonl")

    assert "line 1, sample 1, attachments[0]: gone.pdf cannot be read" in str(caught.value)
    assert "attachments[0].path: expected text" in str(caught.value)


def test_samples_in_code_get_their_digests_too(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(PNG)

    (sample,) = as_samples([Sample(input="x", attachments=[Attachment(path=str(tmp_path / "a.png"))])])

    assert sample.attachments[0].digest == digest(PNG)


def test_the_run_says_what_was_judged_by(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(PNG)
    ge = GenkitEval(root=tmp_path / "store")
    ge.define_evaluator("my/files", fn=lambda point: len(point.attachments))
    ge.datasets.create("scans", [{"input": "x", "output": "y", "attachments": [str(tmp_path / "a.png")] * 2}])

    run = run_sync(ge.evaluate("scans", target=None, evaluators=["my/files"]))

    (result,) = ge.runs.load(run.id).results
    assert result.metrics[0].score == 2
    assert [item.digest for item in result.attachments] == [digest(PNG)] * 2


def test_a_resumed_run_does_anew_only_the_case_whose_file_has_changed(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / f"{name}.pdf").write_bytes(PDF + name.encode())
    rows = [{"testCaseId": name, "input": name, "attachments": [str(tmp_path / f"{name}.pdf")]} for name in "abc"]
    ge = GenkitEval(root=tmp_path / "store")
    ge.define_evaluator("my/files", fn=lambda point: len(point.attachments))
    asked: list[str] = []

    @ge.flow("f")
    async def flow(value: str) -> str:
        asked.append(value)
        if value == "b":
            raise ValueError("not today")
        return value

    limits = Limits(max_concurrency=1, max_failures=1)
    begun = run_sync(ge.evaluate(rows, target="f", evaluators=["my/files"], limits=limits))
    (tmp_path / "a.pdf").write_bytes(PDF + b"other")

    run = run_sync(ge.evaluate(rows, resume=begun.id, limits=Limits()))

    assert asked == ["a", "b", "a", "c"]
    ends = [b"other", b"b", b"c"]
    assert [result.attachments[0].digest for result in run.results] == [digest(PDF + end) for end in ends]


def test_the_files_of_a_given_output_are_looked_at_too(tmp_path: Path) -> None:
    (tmp_path / "chart.png").write_bytes(PNG)
    rows = [{"input": "q", "outputAttachments": ["chart.png"]}, {"input": "q", "outputAttachments": ["gone.png"]}]
    (tmp_path / "data.json").write_text(json.dumps(rows), encoding="utf-8")

    with pytest.raises(DataFileError) as caught:
        check_file(tmp_path / "data.json")
    (tmp_path / "gone.png").write_bytes(PNG)
    found = [*read_samples(tmp_path / "data.json")]

    assert "sample 2, outputAttachments[0]: gone.png cannot be read: No such file or directory" in str(caught.value)
    assert [file.digest for sample in found for file in sample.output_attachments] == [digest(PNG)] * 2
    assert as_samples(found) == found


def test_of_an_address_of_http_there_is_a_notice_when_it_is_read(tmp_path: Path) -> None:
    rows = [{"input": "q"}, *({"input": "q", "attachments": [f"https://x.example/{n}.png"]} for n in range(3))]
    (tmp_path / "data.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")

    (notice,) = check_file(tmp_path / "data.jsonl").notices

    assert notice.startswith("a file of sample 2 is given by an address of http: nothing is fetched from there")


@pytest.mark.parametrize(
    ("item", "told"),
    [
        ("file:///etc/passwd", "'file:///etc/passwd' is an address, and no path: give the file's path"),
        ("ftp://x.example/a.png", "'ftp://x.example/a.png' is an address, and no path"),
        (
            {"path": "a.png", "url": "data:,x"},
            "expected the 'path' of a file, or a 'url' that begins with data:, and found both",
        ),
        ({"file": "a.png"}, "found neither"),
        (7, "expected a path, or an object with 'path' or 'url': found a number"),
        (None, "expected a path, or an object with 'path' or 'url': found null"),
        ("a.png; b.png", 'No such file or directory ({folder}/a.png; b.png); several are a list, ["a.pdf", "b.png"]'),
    ],
)
def test_what_is_no_file_is_told_with_what_to_write(tmp_path: Path, item: object, told: str) -> None:
    for name in ("a.png", "b.png"):
        (tmp_path / name).write_bytes(PNG)
    path = tmp_path / "data.json"
    path.write_text(json.dumps([{"input": "q", "attachments": [item]}]), encoding="utf-8")

    with pytest.raises(DataFileError) as caught:
        check_file(path)

    assert told.format(folder=tmp_path) in str(caught.value)


@pytest.mark.parametrize("address", ["HTTPS://x.example/a.png", "Http://x.example/a.png"])
def test_the_scheme_of_an_address_has_no_case(address: str) -> None:
    (sample,) = as_samples(
        [{"input": "q", "attachments": [address, f"DATA:image/png;base64,{b64encode(PNG).decode()}"]}]
    )

    assert [is_elsewhere(file) for file in sample.attachments] == [True, False]
    assert sample.attachments[1].digest == digest(PNG)
