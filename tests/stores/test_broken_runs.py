"""One fault among the files of runs stays one fault."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from genkit_eval.errors import CorruptFile
from genkit_eval.stores import LocalFileEvalStore
from tests.stores.made import read, results, run_key


@pytest.mark.parametrize("broken", [None, b"", b"{", b"\0\0", b"[]"])
def test_an_index_that_is_missing_or_broken_is_made_anew(
    runs: LocalFileEvalStore, root: Path, broken: bytes | None
) -> None:
    stored = [runs.save(run_key(f"run-{number}", minute=-number), results("a")) for number in range(3)]
    index = root / "evals" / "index.json"
    before = read(index)
    index.unlink()
    if broken is not None:
        index.write_bytes(broken)

    assert runs.list() == stored
    assert read(index) == before


def test_a_run_that_is_not_in_the_index_is_listed(runs: LocalFileEvalStore, root: Path) -> None:
    runs.save(run_key("run-1"), results("a"))
    index = (root / "evals" / "index.json").read_bytes()
    runs.save(run_key("run-2"), results("a"))
    (root / "evals" / "index.json").write_bytes(index)

    assert {one.eval_run_id for one in runs.list()} == {"run-1", "run-2"}
    assert read(root / "evals" / "index.json").keys() == {"run-1", "run-2"}


def test_a_bad_row_costs_only_itself(runs: LocalFileEvalStore, root: Path, caplog: pytest.LogCaptureFixture) -> None:
    runs.save(run_key("run-1"), results("a"))
    runs.save(run_key("run-2"), results("a"))
    index = root / "evals" / "index.json"
    rows = read(index)
    index.write_text(json.dumps({**rows, "run-2": {**rows["run-2"], "createdAt": 7}}), encoding="utf-8")

    assert [one.eval_run_id for one in runs.list()] == ["run-1"]
    assert "run-2" in caplog.text


@pytest.mark.case("store-concurrency/one-corrupt-run")
@pytest.mark.parametrize("cut", [0, 1, 40, 300, -1, -30])
def test_one_run_file_that_was_cut_spoils_no_other(runs: LocalFileEvalStore, root: Path, cut: int) -> None:
    for number in range(5):
        runs.save(run_key(f"run-{number}", minute=-number), results("a", "b", "c"))
    path = root / "evals" / "run-2.json"
    path.write_bytes(path.read_bytes()[:cut])

    unreadable = runs.unreadable()

    assert unreadable.keys() == {"run-2"}
    assert "run-2.json" in str(unreadable["run-2"])
    assert {one.eval_run_id for one in runs.list()} - unreadable.keys() == {f"run-{n}" for n in (0, 1, 3, 4)}
    with pytest.raises(CorruptFile, match=r"run-2\.json"):
        runs.load("run-2")
    for number in (0, 1, 3, 4):
        assert len(runs.load(f"run-{number}").results) == 3


def test_a_result_that_was_damaged_is_an_error_that_names_its_place(runs: LocalFileEvalStore, root: Path) -> None:
    runs.save(run_key(), results("a", "b", "c"))
    path = root / "evals" / "run-1.json"
    path.write_bytes(path.read_bytes().replace(b'"input":"b"', b'"input":"\0"'))

    found = runs.load("run-1").results

    assert found[0].test_case_id == "a"
    with pytest.raises(CorruptFile, match=r"run-1\.json: result 1 is not readable"):
        found[1]


@pytest.mark.parametrize("content", ["[1]", '{"key":{},"results":[]}', '{"key":{"evalRunId":"x"}}', "{}", '{"a":1}x'])
def test_a_file_that_is_no_run_is_refused_by_name(runs: LocalFileEvalStore, root: Path, content: str) -> None:
    (root / "evals").mkdir(parents=True)
    (root / "evals" / "run-1.json").write_text(content, encoding="utf-8")

    with pytest.raises(CorruptFile, match=r"run-1\.json"):
        runs.load("run-1")


def test_a_key_that_does_not_fit_is_refused_with_its_place(runs: LocalFileEvalStore, root: Path) -> None:
    runs.save(run_key(), results("a"))
    path = root / "evals" / "run-1.json"
    path.write_bytes(path.read_bytes().replace(b'"evalRunId":"run-1"', b'"evalRunId":1'))

    with pytest.raises(CorruptFile, match="its key is not readable: evalRunId: expected text, found 1"):
        runs.load("run-1")


def test_names_of_our_own_files_do_no_harm_as_ids(runs: LocalFileEvalStore) -> None:
    names = ["a", "a.journal", "a.journal.jsonl", "a.lock", "locks", "a.json"]
    for name in names:
        journal = runs.begin(run_key(name))
        journal.add(b'{"testCaseId":"%s","metrics":[]}' % name.encode())
        journal.finish(run_key(name), [0])

    runs.delete("a")

    assert {one.eval_run_id for one in runs.list()} == set(names[1:])
    assert all(runs.load(name).results[0].test_case_id == name for name in names[1:])


def test_leftovers_are_neither_listed_nor_loaded(runs: LocalFileEvalStore, root: Path) -> None:
    runs.save(run_key(), results("a"))
    for name in (".run-2.json.1-ab.tmp", ".index.json.1-ab.tmp", "note.txt"):
        (root / "evals" / name).write_bytes(b"{")

    assert [one.eval_run_id for one in runs.list()] == ["run-1"]
    assert runs.unreadable() == {}


def test_a_key_longer_than_a_block_is_read(runs: LocalFileEvalStore, root: Path) -> None:
    stored = runs.save(run_key(source={"text": "ä" * 100_000, "number": 2**80}), results("a"))
    (root / "evals" / "index.json").unlink()

    assert runs.load("run-1").key == stored
    assert runs.list() == [stored]
    assert [one.test_case_id for one in runs.load("run-1").results] == ["a"]


def test_runs_are_listed_while_one_is_unreadable_and_the_index_is_gone(
    runs: LocalFileEvalStore, root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    runs.save(run_key("run-1"), results("a"))
    runs.save(run_key("run-2"), results("a"))
    (root / "evals" / "index.json").unlink()
    (root / "evals" / "run-2.json").write_bytes(b'{"key":{"evalRunId":}')

    assert [one.eval_run_id for one in runs.list()] == ["run-1"]
    assert "run-2.json" in caplog.text
    assert runs.unreadable().keys() == {"run-2"}
