"""CSV and TSV."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from genkit_eval.datasets import check_file, read_samples, write_samples
from genkit_eval.errors import DataFileError
from genkit_eval.stored import DatasetSchema
from genkit_eval.types import Expect, Sample


def rows(data: str | bytes, format: str = "csv", schema: DatasetSchema | None = None) -> list[dict[str, object]]:
    stream = io.BytesIO(data.encode() if isinstance(data, str) else data)
    return [dict(sample.to_json()) for sample in read_samples(stream, format=format, schema=schema)]


def refused(data: str | bytes, schema: DatasetSchema | None = None) -> str:
    with pytest.raises(DataFileError) as caught:
        rows(data, schema=schema)
    return str(caught.value)


@pytest.mark.case("data-file/csv-multiline-and-quotes")
def test_cells_hold_line_breaks_commas_and_quotes() -> None:
    found = rows('testCaseId,input,reference\n1,"line one\nline two","say ""hi"", twice"\n2,plain,ok\n')

    assert found == [
        {"testCaseId": "1", "input": "line one\nline two", "reference": 'say "hi", twice'},
        {"testCaseId": "2", "input": "plain", "reference": "ok"},
    ]


@pytest.mark.case("data-file/csv-types-stay-text")
def test_cells_stay_text_whatever_they_look_like() -> None:
    found = rows("testCaseId,input,reference\n007,1e5,true\n008,NA,2024-01-05\n")

    assert found == [
        {"testCaseId": "007", "input": "1e5", "reference": "true"},
        {"testCaseId": "008", "input": "NA", "reference": "2024-01-05"},
    ]


@pytest.mark.case("data-file/bom-json-and-jsonl")
def test_a_byte_order_mark_is_no_part_of_the_first_column(tmp_path: Path) -> None:
    assert rows("\ufeffinput,reference\nhi,ho\n") == [{"input": "hi", "reference": "ho"}]


@pytest.mark.case("data-file/wrong-encoding")
def test_latin_1_is_refused_with_file_and_offset(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_bytes(bytes.fromhex("696e7075740a636166e90a"))

    with pytest.raises(DataFileError, match=r"d\.csv: line 2: byte 9 \(0xe9\) is not UTF-8: save the file as UTF-8"):
        check_file(path)


def test_tabs_separate_the_cells_of_tsv() -> None:
    assert rows("input\treference\na, b\tc\r\n", format="tsv") == [{"input": "a, b", "reference": "c"}]


def test_a_schema_types_input_and_reference() -> None:
    schema = DatasetSchema(
        input_schema={"type": "object"}, reference_schema={"type": ["integer", "boolean", "array", "null"]}
    )

    found = rows('input,reference\n"{""a"": 1}",5\n{},true\n{},null\n{},[1]\n{},\n', schema=schema)

    assert [row.get("reference", "absent") for row in found] == [5, True, None, [1], "absent"]
    assert found[0]["input"] == {"a": 1}


def test_a_cell_that_its_schema_does_not_fit_is_named_by_line_and_column() -> None:
    schema = DatasetSchema(input_schema={"type": "integer"})

    message = refused("input,reference\n1,\n007,\n1.5,\ntrue,\n", schema)

    assert "3 problems" in message
    assert "line 3, sample 2, input: expected JSON, found '007'" in message
    assert "line 4, sample 3, input: expected integer as the schema says, found a number '1.5'" in message
    assert "line 5, sample 4, input: expected integer as the schema says, found a boolean 'true'" in message


def test_a_schema_that_allows_text_leaves_text() -> None:
    schema = DatasetSchema(input_schema={"type": ["string", "null"]}, reference_schema={"enum": ["a"]})

    assert rows("input,reference\nnull,a\n", schema=schema) == [{"input": "null", "reference": "a"}]


def test_list_columns_hold_json_arrays_or_one_text() -> None:
    found = rows('input,context,tags,phrases,label\nq,one,"[""a"",""b""]",p,yes\n')

    assert found == [
        {"input": "q", "context": ["one"], "tags": ["a", "b"], "expect": {"phrases": ["p"], "label": "yes"}},
    ]


def test_other_columns_go_into_custom_beside_a_custom_column() -> None:
    assert rows('input,topic,custom\nq,pets,"{""k"":1}"\n') == [{"input": "q", "custom": {"topic": "pets", "k": 1}}]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ('input,topic,custom\nq,pets,"{""topic"":1}"\n', "'topic' of 'custom' is given twice"),
        ("input,topic,custom\nq,pets,[1]\n", "custom: expected a JSON object, as other columns go into it"),
        ("input,tags\nq,[a]\n", "tags: it starts with '[' but is no JSON array"),
        ("input,turns\nq,nope\n", "turns: expected JSON, found 'nope'"),
        ('input,custom\nq,"{""a"":1,""a"":2}"\n', "custom: key 'a' is given twice"),
        ('input,usage\nq,"{""costUsd"":NaN}"\n', "usage.costUsd: NaN"),
        ("input,reference\nq\n", "line 2, sample 1: the row has 1 cells, the header 2"),
        ("input\na,b\n", "the row has 2 cells, the header 1"),
        ('input\n"a\n', "line 2: not valid CSV"),
        ('input\n"a"b\n', "line 2: not valid CSV"),
        ("question,answer\na,b\n", "line 1: there is no column 'input' (found 'question', 'answer')"),
        ("input;reference\na;b\n", "separate cells with commas"),
        ("input,input\na,b\n", "column 'input' is there twice"),
        ("traceIds,trace_ids,input\n,,a\n", "column 'trace_ids' is there twice"),
        (",input\n0,a\n", "column 1 has no name"),
        ("", "the file is empty: expected a header with a column 'input'"),
    ],
)
def test_what_is_wrong_is_named(data: str, message: str) -> None:
    assert message in refused(data)


def test_problems_name_the_line_where_their_row_starts() -> None:
    message = refused('input,latency\n"a\n\nb",1\n\nc,x\n')

    assert "line 6, sample 2, latency" in message


def test_positions_count_rows_that_were_refused() -> None:
    message = refused("input,latency\na\nb,true\n")

    assert "line 2, sample 1" in message
    assert "line 3, sample 2, latency: expected a finite number of seconds, found a boolean" in message


def test_an_empty_cell_is_not_given_but_in_input() -> None:
    assert rows("testCaseId,input,reference,context\nq,,,\n") == [{"testCaseId": "q", "input": ""}]


def test_rows_of_empty_cells_are_blank_lines_and_noticed(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("input,refrence\na,b\n,\n,\n")

    check = check_file(path)

    assert check.count == 1
    assert any("line 3 is skipped" in notice for notice in check.notices)
    assert "column 'refrence' is kept in 'custom': did you mean 'reference'?" in check.notices


def test_very_long_cells_are_read() -> None:
    assert rows("input\n" + "x" * 1_000_000 + "\n") == [{"input": "x" * 1_000_000}]


def test_more_rows_than_a_batch_keep_their_order() -> None:
    found = rows("input\n" + "\n".join(str(number) for number in range(1234)))

    assert [row["input"] for row in found] == [str(number) for number in range(1234)]


@pytest.mark.parametrize(
    "sample",
    [
        Sample(input={"a": 1}),
        Sample(input="a", reference=5),
        Sample(input="a", reference=""),
        Sample(input="a", reference=None),
        Sample(input=""),
        Sample(output="x"),
        Sample(input="a", instructions="[1"),
        Sample(input="a", goal=""),
    ],
)
def test_what_csv_cannot_hold_is_refused_and_nothing_written(tmp_path: Path, sample: Sample) -> None:
    path = tmp_path / "d.csv"
    path.write_text("old")

    with pytest.raises(DataFileError, match=r"d\.csv: sample 2.*would not be read back from CSV"):
        write_samples(path, [Sample(input="fine"), sample])

    assert [entry.read_text() for entry in tmp_path.iterdir()] == ["old"]


def test_a_schema_lets_csv_hold_objects_and_numbers(tmp_path: Path) -> None:
    schema = DatasetSchema(input_schema={"type": "object"}, reference_schema={"type": "number"})
    samples = [Sample(input={"a": "b"}, reference=10**30), Sample(input={}, reference=0)]

    write_samples(tmp_path / "d.csv", samples, schema=schema)

    assert list(read_samples(tmp_path / "d.csv", schema=schema)) == samples


def test_cells_that_spreadsheets_run_are_written_as_they_are(tmp_path: Path) -> None:
    samples = [Sample(input="=1+1", reference="@x", custom={"k": "-1"}, expect=Expect(phrases=["+1"]))]

    write_samples(tmp_path / "d.csv", samples)

    assert list(read_samples(tmp_path / "d.csv")) == samples


def test_very_many_columns_are_kept() -> None:
    names = [f"c{i}" for i in range(5_000)]

    (found,) = rows(",".join(["input", *names]) + "\n" + ",".join(["x"] * 5_001) + "\n")

    assert found == {"input": "x", "custom": dict.fromkeys(names, "x")}
