"""Genkit's dataset JSON and raw evaluation files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from genkit_eval.datasets import as_samples, check_file, read_samples
from genkit_eval.errors import DataFileError
from genkit_eval.types import Sample

GENKIT = Path(__file__).parent.parent / "data" / "genkit" / "raw"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "d.json"


def read(file: Path, data: str | bytes) -> list[Sample]:
    file.write_bytes(data.encode() if isinstance(data, str) else data)
    return list(read_samples(file))


def refused(file: Path, data: str | bytes) -> str:
    with pytest.raises(DataFileError) as caught:
        read(file, data)
    return str(caught.value)


def test_raw_evaluation_files_of_genkit_are_read_with_outputs_errors_and_contexts() -> None:
    samples = list(read_samples(GENKIT / "raw.json"))

    assert [sample.test_case_id for sample in samples] == ["a", None, "err"]
    assert samples[0].context == ["ctx one", "ctx, two"]
    assert samples[1].output == {"n": 1}
    assert samples[2].error == "timed out"


def test_extracted_and_exported_files_of_genkit_are_read_without_a_notice() -> None:
    extracted, exported = check_file(GENKIT / "extracted.json"), check_file(GENKIT / "exported.json")

    assert (extracted.count, extracted.notices) == (2, ())
    assert (exported.count, exported.notices) == (3, ())


@pytest.mark.case("data-file/samples-wrapper-object")
def test_the_older_object_with_samples_is_read(file: Path) -> None:
    samples = read(file, '{"samples": [{"input": "a"}]}')

    assert [sample.input for sample in samples] == ["a"]


def test_another_object_is_refused_naming_its_keys(file: Path) -> None:
    message = refused(file, '{"key": {}, "results": [{"input": 1}]}')

    assert "d.json" in message
    assert "array of samples" in message
    assert "'results'" in message


@pytest.mark.case("data-file/bom-json-and-jsonl")
def test_a_byte_order_mark_before_an_array_is_skipped(file: Path) -> None:
    samples = read(file, b'\xef\xbb\xbf[{"input": "hi"}]')

    assert [sample.input for sample in samples] == ["hi"]


@pytest.mark.case("data-file/nan-infinity-in-file")
def test_every_number_that_is_not_finite_is_refused_with_its_sample(file: Path) -> None:
    message = refused(
        file, '[{"input":"a","reference":NaN},\n{"testCaseId":"q","input":[1,{"x":1e999}]},{"input":-Infinity}]'
    )

    assert "3 problems" in message
    assert "line 1, sample 1, reference: NaN" in message
    assert "line 2, sample 2 ('q'), input[1].x: NaN" in message
    assert "line 2, sample 3, input: NaN" in message


@pytest.mark.case("data-file/big-integers")
@pytest.mark.parametrize(
    "text",
    [
        "9007199254740993",
        "18446744073709551616",
        "-9223372036854775809",
        "123456789012345678901234567890",
        "-1" + "0" * 40,
    ],
)
def test_integers_of_any_size_keep_every_digit(file: Path, text: str) -> None:
    padding = "x" * 65_530

    sample = read(file, f'[{{"input": "{padding}", "reference": {{"order": {text}}}, "context": [{text}]}}]')[0]

    assert sample.reference == {"order": int(text)}
    assert sample.context == [int(text)]


@pytest.mark.parametrize("before", range(25))
def test_a_long_integer_is_seen_wherever_it_stands(file: Path, before: int) -> None:
    number = 10**19 * 3

    sample = read(file, f'[ {{"input":"{"x" * (65_500 + before)}","reference":{number}}} ]')[0]

    assert sample.reference == number


def test_digits_in_text_and_fractions_are_no_long_integers(file: Path) -> None:
    row = {"input": "card 12345678901234567890123", "reference": 0.12345678901234568}

    samples = read(file, json.dumps([row]) + " ")

    assert [sample.to_json() for sample in samples] == [row]


@pytest.mark.case("data-file/duplicate-json-keys")
@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('[{"testCaseId":"q","input":"a","input":"b"}]', "sample 1 ('q'): key 'input' is given twice"),
        ('[{"testCaseId":"q","input":{"a":[{"k":1,"k":2}]}}]', "sample 1 ('q'), input.a[0]: key 'k' is given twice"),
        ('[{"input":1},{"input":{"a":1,"\\u0061":1}}]', "sample 2, input: key 'a' is given twice"),
        ('[{"input":"\\u0022","reference":{"":1,"":1}}]', "sample 1, reference: key '' is given twice"),
        ('[{"input":"\\u0022\\u0022","reference":{"k":1,"k":1}}]', "sample 1, reference: key 'k' is given twice"),
        ('{"samples":[{"input":1,"input":1}]}', "sample 1: key 'input' is given twice"),
        ('{"samples":[{"input":1}],"samples":[]}', "key 'samples' is given twice"),
    ],
)
def test_a_repeated_key_is_refused_naming_key_and_sample(file: Path, text: str, where: str) -> None:
    assert where in refused(file, text)
    assert where in refused(file, text.replace(",", " , "))


@pytest.mark.case("data-file/string-that-looks-like-json")
def test_text_that_looks_like_json_stays_text(file: Path) -> None:
    samples = read(file, json.dumps([{"input": '{"a": 1}'}, {"input": "5"}, {"input": "null"}]))

    assert [sample.input for sample in samples] == ['{"a": 1}', "5", "null"]


@pytest.mark.case("security/dataset-does-not-run-code")
def test_text_that_names_code_is_text(file: Path) -> None:
    sample = read(file, '[{"input":"a","reference":"python:os.system"}]')[0]

    assert sample.reference == "python:os.system"


@pytest.mark.case("data-file/wrong-encoding")
def test_bytes_that_are_no_utf8_are_named_by_file_line_and_offset(file: Path) -> None:
    message = refused(file, b'[{"input":\n"caf\xe9"}]')

    assert "d.json: line 2: byte 15 (0xe9) is not UTF-8" in message


def test_half_of_a_surrogate_pair_is_refused(file: Path) -> None:
    assert "sample 1, input: text with half of a surrogate pair" in refused(file, '[{"input":"\\ud800"}]')


@pytest.mark.parametrize("depth", [300, 100_000])
def test_nesting_without_end_is_refused(file: Path, depth: int) -> None:
    assert "nested deeper than 250 levels" in refused(file, '[{"input":' + "[" * depth + "]" * depth + "}]")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ('[{"input":1}', "line 1: not valid JSON: expecting ',' or ']' after a sample (column 13, after sample 1)"),
        ('[{"input":1},\n{"input":}]', "line 2: not valid JSON: expecting value (column 10"),
        ('[{"input":1}]]', "something follows the value"),
        ('{"samples":[]} {"samples":[]}', "one sample a line is format jsonl"),
        ('{"samples":[{"input":1}],}', "expecting"),
        ('{"samples" [{"input":1}]}', "expecting ':' after key 'samples'"),
        ("{3:1}", "expecting a key in double quotes"),
        ("{}", "found no key at all"),
        ('"text"', "expected an array of samples"),
        ('[{"input":' + "1" * 5000 + "}]", "4300 digits"),
    ],
)
def test_what_is_no_json_is_refused_with_its_place(file: Path, text: str, message: str) -> None:
    assert message in refused(file, text)


def test_the_wrapper_may_hold_more_than_samples(file: Path) -> None:
    samples = read(file, '{"name": {"a": 1, "a": 2}, "samples": [ {"input": 1e2} ], "n": 3}')

    assert [sample.input for sample in samples] == [100.0]


def test_problems_beyond_the_first_twenty_are_counted(file: Path) -> None:
    message = refused(file, "[" + ",\n".join(['{"input": 1, "tags": "x"}'] * 1234) + "]")

    assert "1234 problems" in message
    assert "line 20, sample 20, tags" in message
    assert "line 21, " not in message
    assert message.endswith("and 1214 more")


def test_samples_from_code_are_read_like_those_of_files() -> None:
    given = Sample(input="b")

    samples = as_samples(
        [{"testCaseId": "a", "input": (1, 2), "tags": ["t"]}, given, {"test_case_id": "c", "input": 1}]
    )

    assert samples[0].input == [1, 2]
    assert samples[1] is given
    assert samples[2].test_case_id == "c"


def test_problems_of_samples_from_code_name_their_position() -> None:
    with pytest.raises(
        DataFileError, match=r"(?s)sample 1: .*nan.*sample 2, tags: expected a list of text, found a number"
    ):
        as_samples([{"input": float("nan")}, {"input": 1, "tags": ["a", 3]}])


@pytest.mark.case("data-file/shared-mutable-default")
def test_two_samples_never_share_a_dictionary(file: Path) -> None:
    first, second = read(file, '[{"input":1},{"input":2}]')

    assert first.custom == second.custom == {}
    assert first.custom is not second.custom


def test_a_wrapper_whose_samples_are_no_array_says_so(file: Path) -> None:
    assert "'samples' is an object: expected an array of samples" in refused(file, '{"samples": {"input": 1}}')
    assert "'samples' is null: expected an array of samples" in refused(file, '{"samples": null}')
