"""Ids of samples."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from genkit_eval.datasets import check_file, check_ids, fill_ids, read_samples
from genkit_eval.errors import DataFileError
from genkit_eval.types import DataPoint, Sample


def ids(*samples: Sample) -> list[str | None]:
    return [sample.test_case_id for sample in fill_ids(samples)]


@pytest.mark.case("data-file/missing-ids")
def test_absent_null_and_empty_ids_are_made(tmp_path: Path) -> None:
    path = tmp_path / "d.json"
    path.write_text('[{"input":"a"},{"testCaseId":null,"input":"b"},{"testCaseId":"","input":"c"}]')

    first = ids(*read_samples(path))
    second = ids(*read_samples(path))

    assert len(set(first)) == 3
    assert first == second
    assert all(re.fullmatch("case-[0-9a-f]{16}", name or "") for name in first)


def test_made_ids_are_the_same_in_every_process() -> None:
    code = (
        "from genkit_eval.datasets import as_samples, fill_ids\n"
        "print(next(fill_ids(as_samples([{'input': {'a': 1}}]))).test_case_id)"
    )

    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONHASHSEED": "7"},
        check=True,
    )

    assert done.stdout.strip() == "case-814e2c3f3d6949d8" == ids(Sample(input={"a": 1}))[0]


def test_made_ids_do_not_move_when_samples_are_inserted() -> None:
    before = ids(Sample(input="a"), Sample(input="b"))
    after = ids(Sample(input="new"), Sample(input="a"), Sample(test_case_id="x", input="a"), Sample(input="b"))

    assert [after[1], after[3]] == before


def test_equal_inputs_are_told_apart_by_their_occurrence() -> None:
    first, second, third = ids(Sample(input=1), Sample(input=1, reference=2), Sample(input=1))

    assert second == f"{first}-2"
    assert third == f"{first}-3"


def test_the_order_of_keys_and_other_fields_do_not_matter() -> None:
    assert ids(Sample(input={"a": 1, "b": 2})) == ids(Sample(input={"b": 2, "a": 1}, reference="x"))


@pytest.mark.parametrize("value", [{"n": 10**30}, [[[]]], None, 0, ""])
def test_any_input_has_an_id(value: object) -> None:
    assert ids(Sample(input=value)) == ids(Sample(input=value))


def test_samples_without_an_input_are_told_apart_by_the_rest() -> None:
    first, second = ids(Sample(output=1), Sample(output=2))

    assert first != second


def test_a_given_id_is_never_made() -> None:
    made = ids(Sample(input="a"))[0]

    found = ids(
        Sample(input="a"),
        Sample(test_case_id=made, input="b"),
        Sample(test_case_id=f"{made}-3", input="c"),
        Sample(input="a"),
    )

    assert found == [f"{made}-2", made, f"{made}-3", f"{made}-4"]


def test_a_given_id_is_never_made_when_a_file_is_a_stream(tmp_path: Path) -> None:
    made = ids(Sample(input="a"))[0]
    path = tmp_path / "d.jsonl"
    path.write_text(
        "\n".join(json.dumps(row) for row in [{"input": "a"}, {"testCaseId": made, "input": "a"}, {"input": "a"}])
    )

    check = check_file(path)
    found = [sample.test_case_id for sample in fill_ids(read_samples(path), taken=check.ids)]

    assert (check.count, check.unnamed) == (3, 2)
    assert found == [f"{made}-2", made, f"{made}-3"]


def test_what_a_sample_holds_stays_as_it_is() -> None:
    point = DataPoint(input=1, output=None, tags=["t"])

    filled = next(fill_ids([point]))

    assert type(filled) is DataPoint
    assert filled.to_json() == {"testCaseId": filled.test_case_id, **point.to_json()}
    assert point.test_case_id is None


@pytest.mark.case("data-file/duplicate-test-case-id")
def test_given_ids_that_repeat_are_refused_with_both_places() -> None:
    samples = [Sample(test_case_id="t1", input="a"), Sample(input="b"), Sample(test_case_id="t1", input="c")]

    with pytest.raises(DataFileError, match="faq: sample 3: testCaseId 't1' is taken by sample 1"):
        check_ids(samples, source="faq")
    with pytest.raises(DataFileError, match="'t1'"):
        list(fill_ids(samples))


@pytest.mark.case("data-file/duplicate-test-case-id")
@pytest.mark.parametrize(
    ("name", "text", "places"),
    [
        (
            "d.json",
            '[{"testCaseId":"t1","input":"a"},\n {"testCaseId":"t1","input":"b"}]',
            "line 2, sample 2, .*sample 1 .line 1.",
        ),
        (
            "d.jsonl",
            '{"testCaseId":"t1","input":"a"}\n\n{"testCaseId":"t1","input":"b"}',
            "line 3, sample 2, .*sample 1 .line 1.",
        ),
        ("d.csv", 'testCaseId,input\nt1,"a\nb"\nt1,b\n', "line 4, sample 2, .*sample 1 .line 2."),
        (
            "d.yaml",
            "- testCaseId: t1\n  input: a\n- testCaseId: t1\n  input: b\n",
            "line 3, sample 2, .*sample 1 .line 1.",
        ),
    ],
)
def test_ids_that_repeat_in_a_file_are_refused_with_both_lines(
    tmp_path: Path, name: str, text: str, places: str
) -> None:
    path = tmp_path / name
    path.write_text(text)

    with pytest.raises(DataFileError, match=f"{name}: {places}") as caught:
        check_file(path)

    assert "testCaseId 't1' is taken by" in str(caught.value)


def test_every_repeated_id_of_a_file_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text("".join(f'{{"testCaseId":"t{number % 100}","input":{number}}}\n' for number in range(300)))

    with pytest.raises(DataFileError) as caught:
        check_file(path)

    assert "200 problems" in str(caught.value)
    assert "line 101, sample 101, testCaseId: testCaseId 't0' is taken by sample 1 (line 1)" in str(caught.value)


def test_ids_whose_hashes_are_equal_are_no_repetition(tmp_path: Path) -> None:
    class Everything:
        def __contains__(self, number: object) -> bool:
            return True

    from genkit_eval.datasets.reading import second_look

    path = tmp_path / "d.jsonl"
    path.write_text('{"testCaseId":"a","input":1}\n{"testCaseId":"b","input":1}\n')

    intake = second_look(path, "jsonl", None, repeated=Everything(), fits=None)

    assert intake.problems == []


@pytest.mark.case("data-file/prototype-names-as-ids")
@pytest.mark.case("data-file/non-ascii-ids")
def test_any_text_is_an_id(tmp_path: Path) -> None:
    names = ["__proto__", "constructor", "hasOwnProperty", "toString", "übung-1", "東-2", "a b/../c", "0", " "]
    path = tmp_path / "d.json"
    path.write_text(
        json.dumps([{"testCaseId": name, "input": 1} for name in names], ensure_ascii=False), encoding="utf-8"
    )

    assert check_file(path).count == len(names)
    assert ids(*read_samples(path)) == names
