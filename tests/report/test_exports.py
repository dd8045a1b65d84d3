"""Exports: what other tools read."""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from genkit_eval import ConfigError, EvalResult, StoreError
from genkit_eval.report.exports import check_export, export_bytes, export_format, export_results
from tests.report.rows import broke, failed, metric, passed, result


def exported(*results: EvalResult, format: str) -> str:
    return b"".join(export_bytes(results, format=format)).decode()


def table(*results: EvalResult) -> tuple[list[str], list[dict[str, str]]]:
    header, *rows = csv.reader(io.StringIO(exported(*results, format="csv"), newline=""))
    return header, [dict(zip(header, row, strict=True)) for row in rows]


def test_json_is_the_array_of_results_as_genkit_writes_it() -> None:
    text = exported(result(1, passed()), result(2, output={}), format="json")

    whole: Any = [result(1, passed()).to_json(), result(2, output={}).to_json()]
    assert text == json.dumps(whole, indent=2, ensure_ascii=False)


def test_no_results_are_an_empty_array() -> None:
    assert exported(format="json") == "[]"


def test_integers_beyond_64_bits_are_exported_exactly() -> None:
    big = 10**30

    assert json.loads(exported(result(1, output=big), format="json"))[0]["output"] == big
    assert json.loads(exported(result(1, output=big), format="jsonl"))["output"] == big


def test_jsonl_is_one_result_a_line() -> None:
    text = exported(result(1, passed()), result(2, output="a\nb\u2028c"), format="jsonl")

    assert [json.loads(line)["testCaseId"] for line in text.split("\n")[:-1]] == ["case-1", "case-2"]


def test_csv_has_genkits_columns_first_in_its_order() -> None:
    header, _ = table(result(1, passed(), reference="r", context=["c"], tags=["t"]))

    assert header[:7] == ["testCaseId", "input", "output", "context", "reference", "traceIds", "tags"]


def test_csv_says_the_status_and_keeps_score_ids_apart() -> None:
    header, [row] = table(
        result(1, metric(score=2, scoreId="size"), metric(score="odd", scoreId="kind", status="FAIL"))
    )

    assert row["/evaluator/custom/check/size_score"] == "2"
    assert row["/evaluator/custom/check/kind_score"] == "odd"
    assert row["/evaluator/custom/check/kind_status"] == "FAIL"
    assert row["/evaluator/custom/check/kind_outcome"] == "VERDICT"
    assert header[-1] == "/evaluator/custom/check/kind_error"


def test_csv_leaves_what_is_absent_empty_and_writes_null() -> None:
    _, [broken, answered] = table(
        EvalResult.model_validate({"testCaseId": "a", "input": None, "error": "no"}), result(1, broke("why"))
    )

    assert broken["input"] == "null"
    assert broken["output"] == ""
    assert broken["/evaluator/custom/check_status"] == ""
    assert answered["/evaluator/custom/check_error"] == "why"


def test_csv_survives_line_ends_and_quotes_in_cells() -> None:
    text = 'a "b",\r\nc\nd\re'

    _, [row] = table(result(1, output=text))

    assert row["output"] == text


@pytest.mark.case("security/csv-formula")
@pytest.mark.parametrize(
    "text", ['=HYPERLINK("http://x.example","go")', "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "  =1+1", "＝1"]
)
def test_csv_text_that_a_spreadsheet_would_run_gets_an_apostrophe(text: str) -> None:
    _, [row] = table(result(1, failed(rationale=text), output=text, testCaseId=text, error=text))

    assert row["output"] == row["testCaseId"] == row["error"] == f"'{text}"
    assert row["/evaluator/custom/check_rationale"] == f"'{text}"


@pytest.mark.case("security/csv-formula")
def test_csv_header_cells_are_neutralised_too() -> None:
    row = EvalResult.model_validate({"testCaseId": "a", "metrics": [{"evaluator": "=cmd", "score": 1}]})

    header, _ = table(row)

    assert "'=cmd_score" in header


@pytest.mark.case("security/csv-numbers-stay-numbers")
def test_csv_numbers_stay_numbers() -> None:
    _, [row] = table(result(1, metric(score=-0.5), input=-0.5, output="-0.5"))

    assert row["/evaluator/custom/check_score"] == "-0.5"
    assert row["input"] == "-0.5"
    assert row["output"] == "'-0.5"


@pytest.mark.parametrize(("name", "format"), [("a.csv", "csv"), ("a.JSON", "json"), ("b/a.jsonl", "jsonl")])
def test_the_ending_names_the_format(name: str, format: str) -> None:
    assert export_format(Path(name)) == format


@pytest.mark.case("cli-ci/unknown-format")
@pytest.mark.parametrize("given", ["xlsx", None])
def test_an_unknown_format_is_refused_with_those_there_are(given: str | None) -> None:
    with pytest.raises(ConfigError, match="csv, json, jsonl"):
        export_format(Path("out.xlsx"), given)


@pytest.mark.case("cli-ci/output-path-checked-first")
def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no folder"):
        check_export(tmp_path / "missing" / "out.json")
    with pytest.raises(ConfigError, match="is a folder"):
        check_export(tmp_path)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_read_only_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)

    with pytest.raises(ConfigError, match="not writable"):
        check_export(tmp_path / "out.json")


def test_an_export_replaces_the_file_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_text("old", encoding="utf-8")

    export_results(path, [result(1)], format="json")

    assert json.loads(path.read_text(encoding="utf-8"))[0]["testCaseId"] == "case-1"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_export_says_that_the_run_is_kept(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="the run itself is kept"):
        export_results(tmp_path / "missing" / "out.json", [], format="json")
