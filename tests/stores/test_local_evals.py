"""Runs: save, load, list, delete; what lies on disk for Genkit's tools."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from genkit_eval.errors import AlreadyExists, InvalidId, NotFound, RunConflict, RunInUse, StoreError
from genkit_eval.stored import EvalResult, RunState
from genkit_eval.stores import LocalFileEvalStore, new_run_id
from genkit_eval.types import Status
from tests.stores.made import read, results, run_key

Contents = Callable[[], dict[str, bytes]]
GENKIT_FILES = Path(__file__).parent.parent / "data" / "genkit"


def test_what_is_saved_can_be_loaded_by_key_or_id(runs: LocalFileEvalStore) -> None:
    stored = runs.save(run_key(dataset_id="faq"), results("a", "b"))

    run = runs.load(stored)

    assert run.complete
    assert run.key == stored == runs.load("run-1").key
    assert [one.test_case_id for one in run.results] == ["a", "b"]
    assert run.results[0].metrics == results("a")[0].metrics
    assert run.results[0].has("output")
    assert run.by_id("b").input == "b"
    assert [json.loads(raw)["testCaseId"] for raw in run.raw()] == ["a", "b"]


def test_results_are_a_sequence(runs: LocalFileEvalStore) -> None:
    runs.save(run_key(), results("a", "b", "c", "d"))

    found = runs.load("run-1").results

    assert len(found) == 4
    assert [one.test_case_id for one in found[1:3]] == ["b", "c"]
    assert [one.test_case_id for one in found[::-2]] == ["d", "b"]
    assert found[-1].test_case_id == "d"
    with pytest.raises(IndexError):
        found[4]


def test_results_are_found_again_whatever_they_contain(runs: LocalFileEvalStore) -> None:
    tricky = '}, {"testCaseId":"x"}], "results":[ {"testCaseId":'
    nested = [{"testCaseId": "inner"}, {"testCaseId": "inner 2", "metrics": []}]
    given = [EvalResult(test_case_id=tricky, input=nested, output={tricky: [tricky]}), *results("b")]

    runs.save(run_key(source={"results": nested, "text": tricky}), given)

    run = runs.load("run-1")
    assert [one.test_case_id for one in run.results] == [tricky, "b"]
    assert run.by_id(tricky).output == {tricky: [tricky]}


def test_a_file_of_many_blocks_is_found_again(runs: LocalFileEvalStore) -> None:
    given = [EvalResult(test_case_id=f"{i}", input="x" * (i * 37 % 5000)) for i in range(5000)]

    runs.save(run_key(), iter(given))

    found = runs.load("run-1").results
    assert [one.test_case_id for one in found] == [one.test_case_id for one in given]
    assert found[4321].input == given[4321].input


def test_an_unknown_case_is_an_error(runs: LocalFileEvalStore) -> None:
    runs.save(run_key(), results("a"))

    with pytest.raises(NotFound, match="test case 'b' does not exist in run 'run-1'"):
        runs.load("run-1").by_id("b")


def test_a_run_file_has_what_genkit_demands(runs: LocalFileEvalStore, root: Path) -> None:
    runs.save(
        run_key(metric_summaries=[{"evaluator": "x"}], dataset_id="faq", case_count=1), results("ä", context=["c"])
    )

    row = read(root / "evals" / "run-1.json")["results"][0]
    index = (root / "evals" / "index.json").read_text(encoding="utf-8")
    assert list(row) == ["testCaseId", "input", "output", "context", "traceIds", "metrics"]
    assert row["traceIds"] == []
    assert row["metrics"] == [{"evaluator": "/evaluator/a/b", "score": 0, "status": "PASS", "outcome": "VERDICT"}]
    assert "ä".encode() in (root / "evals" / "run-1.json").read_bytes()
    assert list(json.loads(index)["run-1"])[:4] == ["evalRunId", "createdAt", "metricSummaries", "datasetId"]
    assert index == json.dumps(json.loads(index), indent=2, ensure_ascii=False)


def test_the_index_stays_indented_json_as_it_grows(runs: LocalFileEvalStore, root: Path) -> None:
    for number in range(5):
        runs.save(run_key(f"run-{number}", minute=number, summary=[{"evaluator": "e"}], evaluators=[]), results("a"))
    runs.save(run_key("run-3", minute=3, dataset_id="new"), results("a"), expected_revision=1)
    runs.delete("run-1")

    text = (root / "evals" / "index.json").read_text(encoding="utf-8")
    assert text == json.dumps(json.loads(text), indent=2)
    assert list(json.loads(text)) == ["run-0", "run-2", "run-3", "run-4"]
    assert runs.list()[1].dataset_id == "new"


def test_runs_are_listed_newest_first_and_filtered(runs: LocalFileEvalStore) -> None:
    runs.save(run_key("run-1", minute=1, dataset_id="faq", action_ref="/flow/a"), [])
    runs.save(run_key("run-3", minute=3, dataset_id="faq", action_ref="/flow/b"), [])
    runs.begin(run_key("run-2", minute=2, dataset_id="other", action_ref="/flow/a")).close()

    def listed(**filters: Any) -> list[str]:
        return [one.eval_run_id for one in runs.list(**filters)]

    assert listed() == ["run-3", "run-2", "run-1"]
    assert listed(limit=1) == ["run-3"]
    assert listed(dataset_id="faq") == ["run-3", "run-1"]
    assert listed(action_ref="/flow/a") == ["run-2", "run-1"]
    assert listed(action_ref="/flow/a", incomplete=False) == ["run-1"]
    assert {one.eval_run_id: one.state for one in runs.list()}["run-2"] is RunState.INCOMPLETE


def test_listing_gives_the_keys_without_what_only_the_run_file_holds(runs: LocalFileEvalStore, root: Path) -> None:
    full = run_key(
        metrics_metadata={"a/b": {"displayName": "A", "definition": "d"}},
        evaluators=[{"evaluator": "a/b", "version": "1", "direction": "minimize", "kind": "heuristic"}],
        summary=[{"evaluator": "a/b", "total": 3, "mean": 0.5, "distribution": {"x": 1}}],
        source={"path": "x"},
    )

    stored = runs.save(full, results("a"))

    listed = stored.to_json()
    for name in ("evaluators", "summary"):
        del listed[name]
    assert [one.to_json() for one in runs.list()] == [listed]
    assert LocalFileEvalStore(root).list() == runs.list()
    assert runs.load("run-1").key == stored


def test_a_run_is_replaced_only_at_its_revision(runs: LocalFileEvalStore, contents: Contents) -> None:
    runs.save(run_key(), results("a"))

    second = runs.save(run_key(), results("b"), expected_revision=1)

    assert second.revision == 2
    before = contents()
    with pytest.raises(RunConflict, match="at revision 2, not 1"):
        runs.save(run_key(), results("c"), expected_revision=1)
    with pytest.raises(RunConflict):
        runs.delete("run-1", expected_revision=1)
    with pytest.raises(AlreadyExists):
        runs.save(run_key(), results("c"))
    assert contents() == before
    runs.delete("run-1", expected_revision=2)
    assert runs.list() == []


def test_results_that_were_replaced_meanwhile_are_not_mixed(runs: LocalFileEvalStore) -> None:
    runs.save(run_key(), results("a", "b"))
    run = runs.load("run-1")
    runs.save(run_key(), results("long name", "c"), expected_revision=1)

    with pytest.raises(StoreError, match="was replaced since this run was loaded"):
        run.results[1]


def test_a_deleted_run_leaves_nothing(runs: LocalFileEvalStore, root: Path) -> None:
    runs.save(run_key("run-1"), results("a"))
    runs.begin(run_key("run-2")).close()

    runs.delete("run-1")
    runs.delete("run-2")

    assert runs.list() == []
    assert [path.name for path in root.rglob("*") if "run-" in path.name] == []
    with pytest.raises(NotFound):
        runs.load("run-1")
    with pytest.raises(NotFound):
        runs.delete("run-1")


def test_a_run_in_progress_cannot_be_deleted(runs: LocalFileEvalStore) -> None:
    journal = runs.begin(run_key())

    with pytest.raises(RunInUse, match="process"):
        runs.delete("run-1")

    journal.close()


def test_reading_makes_no_folder(runs: LocalFileEvalStore, root: Path) -> None:
    assert runs.list() == []
    assert runs.unreadable() == {}
    with pytest.raises(NotFound):
        runs.load("run-1")
    with pytest.raises(NotFound):
        runs.delete("run-1")

    assert not root.exists()


@pytest.mark.parametrize("run_id", ["../x", "index", "a/b", "x\n", "CON"])
def test_an_id_that_is_no_file_name_is_refused(runs: LocalFileEvalStore, tmp_path: Path, run_id: str) -> None:
    for act in (runs.load, runs.delete, runs.reopen):
        with pytest.raises(InvalidId):
            act(run_id)
    with pytest.raises(InvalidId):
        runs.begin(run_key(run_id))
    with pytest.raises(InvalidId):
        runs.save(run_key(run_id), [])

    assert list(tmp_path.iterdir()) == []


@pytest.mark.case("cli-ci/run-file-names")
def test_the_target_of_a_run_does_not_enter_its_file_name(runs: LocalFileEvalStore, root: Path) -> None:
    runs.save(run_key(new_run_id(), action_ref="/flow/a/b:c"), results("a"))

    names = [path.name for path in (root / "evals").glob("*.json")]
    assert len(names) == 2
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+", name) for name in names)


def test_runs_that_genkit_made_are_read(genkit_root: Path) -> None:
    runs = LocalFileEvalStore(genkit_root)

    listed = runs.list()
    run = runs.load("73539b63-b693-4f88-9e10-7d5c7e317510")

    # the index has a fourth, whose file is not there
    assert [one.eval_run_id[:4] for one in listed] == ["7353", "3cb2", "d05b"]
    assert (run.key.dataset_id, run.key.dataset_version, run.key.action_ref) == ("capitals", 6, "/flow/qaFlow")
    assert [one.output for one in run.results] == [{"answer": "Tokyo"}, {"answer": "Lima"}]
    assert [one.metrics[0].status for one in run.results] == [Status.FAIL, Status.PASS]
    assert run.by_id("ae19cb30-c4c8-4261-b51e-94ae74a6e813").reference == "Lima"


@pytest.mark.parametrize("path", sorted((GENKIT_FILES / "runs").iterdir()), ids=lambda path: path.stem[:12])
def test_every_kind_of_run_file_of_genkit_is_read(runs: LocalFileEvalStore, root: Path, path: Path) -> None:
    (root / "evals").mkdir(parents=True)
    shutil.copy(path, root / "evals" / "copied.json")

    run = runs.load("copied")

    expected = read(path)["results"]
    assert [one.test_case_id for one in run.results] == [row["testCaseId"] for row in expected]
    assert [one.error for one in run.results] == [row.get("error") for row in expected]
    assert [len(one.metrics) for one in run.results] == [len(row.get("metrics", ())) for row in expected]


def test_a_run_file_of_ours_that_somebody_formatted_is_read(runs: LocalFileEvalStore, root: Path) -> None:
    runs.save(run_key(), results("a", "b"))
    path = root / "evals" / "run-1.json"
    path.write_text(json.dumps(read(path), indent=2) + "\n", encoding="utf-8")

    assert [one.test_case_id for one in runs.load("run-1").results] == ["a", "b"]


def test_null_of_another_tool_is_taken_as_absent(runs: LocalFileEvalStore, root: Path) -> None:
    row = {
        "testCaseId": "a",
        "input": None,
        "error": None,
        "context": None,
        "metrics": [{"evaluator": "e", "score": None}],
    }
    file = {"key": {"evalRunId": "run-1", "createdAt": "2026-01-02T00:00:00Z", "datasetId": None}, "results": [row]}
    (root / "evals").mkdir(parents=True)
    (root / "evals" / "run-1.json").write_text(json.dumps(file), encoding="utf-8")

    run = runs.load("run-1")

    assert (run.key.dataset_id, run.results[0].context, run.results[0].metrics[0].score) == (None, (), None)
    assert run.results[0].has("input")
