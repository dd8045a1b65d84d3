"""JSON Lines, from files and streams."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from genkit_eval.datasets import check_file, read_samples
from genkit_eval.errors import ConfigError, DataFileError


def inputs(data: bytes) -> list[object]:
    return [sample.input for sample in read_samples(io.BytesIO(data), format="jsonl")]


def refused(data: bytes) -> str:
    with pytest.raises(DataFileError) as caught:
        inputs(data)
    return str(caught.value)


@pytest.mark.case("data-file/crlf-and-blank-lines")
def test_blank_lines_and_crlf_carry_no_sample() -> None:
    assert inputs(b'{"input":"a"}\r\n\r\n{"input":"b"}\r\n   \r\n') == ["a", "b"]


@pytest.mark.case("data-file/bom-json-and-jsonl")
def test_a_byte_order_mark_before_the_first_line_is_skipped() -> None:
    assert inputs(b'\xef\xbb\xbf{"input": "hi"}\n{"input": "ho"}\n') == ["hi", "ho"]


def test_other_line_separators_stay_inside_their_text() -> None:
    text = "a\u2028b\u2029c\u0085d\x0be"

    assert inputs(json.dumps({"input": text}, ensure_ascii=False).encode() + b"\n") == [text]


def test_a_last_line_without_its_end_is_read() -> None:
    assert inputs(b'{"input":1}\n{"input":2}') == [1, 2]


def test_a_line_longer_than_a_piece_is_read() -> None:
    long = "x" * 2_500_000

    assert inputs(b'{"input":1}\n' + json.dumps({"input": long}).encode() + b'\n{"input":2}\n') == [1, long, 2]


@pytest.mark.case("data-file/jsonl-bad-line")
def test_a_broken_line_is_named_and_the_others_are_looked_at_too(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text('{"input":"a"}\n{"input":"b"\n{"input":"c"}\n\n{"input":"d"}x\n{"input":"e","tags":1}\n')

    with pytest.raises(DataFileError) as caught:
        check_file(path)

    assert [problem.line for problem in caught.value.problems] == [2, 5, 6]
    assert "d.jsonl: 3 problems" in str(caught.value)
    assert "line 2, sample 2: not valid JSON" in str(caught.value)
    assert "line 6, sample 5, tags" in str(caught.value)


def test_two_broken_lines_never_make_one_good_sample() -> None:
    message = refused(b'{"input":"a"\n"reference":"b"}\n{"input":1},{"input":2}\n')

    assert "3 problems" in message


def test_nothing_is_given_after_a_problem() -> None:
    big = b'{"input":"' + b"x" * 1_200_000 + b'"}\n'
    stream = read_samples(io.BytesIO(big + big + b"oops\n" + big), format="jsonl")

    given = [next(stream)]
    with pytest.raises(DataFileError, match="line 3, sample 3"):
        given.extend(stream)

    assert len(given) == 1


@pytest.mark.case("data-file/wrong-encoding")
def test_a_line_that_is_no_utf8_is_named_by_its_offset_in_the_file() -> None:
    first = b'{"input":"' + b"x" * 1_200_000 + b'"}\n'

    message = refused(b"\xef\xbb\xbf" + first + b'{"input":"caf\xe9"}\n')

    assert f"line 2: byte {3 + len(first) + 13} (0xe9) is not UTF-8" in message


@pytest.mark.case("data-file/nan-infinity-in-file")
def test_numbers_that_are_not_finite_are_refused_by_line() -> None:
    message = refused(b'{"input":1}\n{"testCaseId":"b","input":NaN}\n')

    assert "line 2, sample 2 ('b'), input: NaN" in message


@pytest.mark.case("data-file/duplicate-json-keys")
def test_a_repeated_key_is_refused_by_line() -> None:
    message = refused(b'{"input":1}\n{"input": 1, "input": 1}\n')

    assert "line 2, sample 2: key 'input' is given twice" in message


@pytest.mark.case("data-file/big-integers")
def test_long_integers_keep_every_digit() -> None:
    assert inputs(b'{"input":1}\n{"input":123456789012345678901234567890}\n') == [1, 123456789012345678901234567890]


def test_an_array_in_a_jsonl_file_is_refused() -> None:
    assert "line 1, sample 1: expected an object, found a list" in refused(b'[{"input":1}]\n')


def test_text_streams_are_read() -> None:
    samples = list(read_samples(io.StringIO('{"input":"ü"}\n'), format="jsonl"))

    assert [sample.input for sample in samples] == ["ü"]


def test_standard_input_is_read_whatever_the_terminal_speaks() -> None:
    code = (
        "import sys; from genkit_eval.datasets import read_samples; "
        "print([ascii(s.input) for s in read_samples(sys.stdin, format='jsonl')])"
    )

    done = subprocess.run(
        [sys.executable, "-c", code],
        input='{"input":"東"}\n'.encode(),
        capture_output=True,
        env={"PYTHONIOENCODING": "ascii", "PYTHONPATH": str(Path(__file__).parents[2])},
        check=True,
    )

    assert b"\\u6771" in done.stdout


def test_a_stream_without_a_name_needs_a_format() -> None:
    with pytest.raises(ConfigError, match="give one of json, jsonl, csv, tsv, yaml"):
        list(read_samples(io.BytesIO(b"")))


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(ConfigError, match="format 'xml' is not known"):
        list(read_samples(io.BytesIO(b""), format="xml"))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match=r"nope\.jsonl: cannot be read: No such file"):
        list(read_samples(tmp_path / "nope.jsonl"))


def test_a_missing_file_is_named_with_those_that_are_called_nearly_so(tmp_path: Path) -> None:
    for name in ("questions.jsonl", "question.csv", "answers.jsonl", "questions.txt"):
        (tmp_path / name).touch()

    with pytest.raises(DataFileError, match=r"did you mean '\S+questions\.jsonl' or '\S+question\.csv'\?$"):
        list(read_samples(tmp_path / "questions.json"))


def test_expected_tools_are_read_by_their_names_alone() -> None:
    [sample] = read_samples(io.BytesIO(b'{"input": 1, "expectedTools": ["search", "reply"]}'), format="jsonl")

    assert sample.to_json()["expectedTools"] == [{"name": "search"}, {"name": "reply"}]
