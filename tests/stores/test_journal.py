"""The journal: what is added is found again, in the run file and after an interruption."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from genkit_eval.errors import AlreadyExists, NotFound, RunInUse, StoreError
from genkit_eval.stored import RunState
from genkit_eval.stores import LocalFileEvalStore
from tests.stores.made import metric, names, result, run_key


def test_finish_writes_the_results_in_the_order_asked_for(runs: LocalFileEvalStore) -> None:
    journal = runs.begin(run_key())
    slots = [journal.add(result(name)) for name in "cab"]

    run = journal.finish(run_key(), [1, 2, 0])

    assert slots == [0, 1, 2]
    assert [one.test_case_id for one in run.results] == ["a", "b", "c"]
    assert [key.state for key in runs.list()] == [RunState.COMPLETE]
    assert not journal.path.exists()


def test_a_run_file_is_one_line_of_json(runs: LocalFileEvalStore) -> None:
    journal = runs.begin(run_key())
    journal.add(result("a", "m"))
    journal.add(result("b", "m"))

    run = journal.finish(run_key(case_count=2), [0, 1])

    text = run.path.read_text(encoding="utf-8")
    assert "\n" not in text
    assert [row["testCaseId"] for row in json.loads(text)["results"]] == ["a", "b"]
    assert text.startswith('{"key":{"evalRunId":"run-1"')


def test_a_late_metric_joins_its_result(runs: LocalFileEvalStore) -> None:
    journal = runs.begin(run_key())
    journal.add(result("a"))
    journal.add(result("b", "m1"))
    journal.add_metric(1, metric("m2"))
    journal.add(result("c", "m1"))
    journal.add_metric(0, metric("m3"))
    journal.add_metric(1, metric("m4"))

    entries = list(journal.entries())
    run = journal.finish(run_key(), [0, 1, 2])

    expected = [["m3"], ["m1", "m2", "m4"], ["m1"]]
    assert [[m["evaluator"] for m in value["metrics"]] for _, value in entries] == expected
    assert [[m.evaluator for m in one.metrics] for one in run.results] == expected


def test_a_discarded_slot_is_left_out_also_after_an_interruption(runs: LocalFileEvalStore) -> None:
    journal = runs.begin(run_key())
    for name in "abc":
        journal.add(result(name))
    journal.discard(1)
    journal.close()

    journal = runs.reopen("run-1")

    assert [slot for slot, _ in journal.entries()] == [0, 2]
    assert journal.add(result("d")) == 3
    assert [one.test_case_id for one in journal.finish(run_key(), [0, 1, 2, 3]).results] == ["a", "c", "d"]


def test_a_closed_run_is_listed_as_incomplete_and_can_be_read(runs: LocalFileEvalStore) -> None:
    journal = runs.begin(run_key())
    journal.add(result("a"))
    journal.close()

    run = runs.load("run-1")

    assert [key.state for key in runs.list()] == [RunState.INCOMPLETE]
    assert runs.list(incomplete=False) == []
    assert not run.complete
    assert names(runs) == ["a"]


def test_a_run_in_progress_can_be_read_meanwhile(runs: LocalFileEvalStore) -> None:
    journal = runs.begin(run_key())
    journal.add(result("a", "m"))
    journal.flush()

    seen = names(runs)

    assert seen == ["a"]
    journal.close()


def test_results_of_a_run_that_was_finished_since_it_was_loaded_are_not_guessed(runs: LocalFileEvalStore) -> None:
    journal = runs.begin(run_key())
    journal.add(result("a"))
    journal.flush()
    run = runs.load("run-1")
    journal.finish(run_key(), [0])

    with pytest.raises(StoreError, match="finished or deleted since it was loaded; load it again"):
        run.results[0]


def test_reopening_goes_on_after_the_last_whole_line(runs: LocalFileEvalStore) -> None:
    journal = runs.begin(run_key())
    journal.add(result("a"))
    journal.add(result("b"))
    journal.close()
    with journal.path.open("ab") as file:
        file.write(result("torn")[:-7])

    journal = runs.reopen("run-1")
    journal.add(result("c"))
    run = journal.finish(run_key(), [0, 1, 2])

    assert [one.test_case_id for one in run.results] == ["a", "b", "c"]


def test_a_journal_keeps_the_key_it_was_begun_with(runs: LocalFileEvalStore) -> None:
    runs.begin(run_key(dataset_id="faq", source={"seed": 2**70})).close()

    journal = runs.reopen("run-1")

    assert journal.key.dataset_id == "faq"
    assert journal.key.source == {"seed": 2**70}
    journal.close()


def test_an_empty_run_can_be_finished(runs: LocalFileEvalStore) -> None:
    run = runs.begin(run_key()).finish(run_key(), [])

    assert list(run.results) == []
    assert json.loads(run.path.read_bytes())["results"] == []


def test_a_second_owner_is_refused(runs: LocalFileEvalStore) -> None:
    journal = runs.begin(run_key())

    with pytest.raises(RunInUse, match=r"run 'run-1' is in use by process \d+ on .* since 20.*Z"):
        runs.reopen("run-1")

    journal.close()


def test_a_run_begins_once_whatever_the_case_of_its_id(runs: LocalFileEvalStore) -> None:
    runs.begin(run_key()).close()

    with pytest.raises(AlreadyExists):
        runs.begin(run_key("RUN-1"))


def test_a_finished_run_has_no_journal_to_reopen(runs: LocalFileEvalStore) -> None:
    runs.begin(run_key()).finish(run_key(), [])

    with pytest.raises(NotFound, match="finished"):
        runs.reopen("run-1")


def test_an_unknown_run_cannot_be_reopened_and_leaves_nothing(runs: LocalFileEvalStore, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="'nope'"):
        runs.reopen("nope")

    assert list(tmp_path.iterdir()) == []


def test_a_journal_left_by_a_kill_after_the_run_file_was_written_counts_as_finished(runs: LocalFileEvalStore) -> None:
    journal = runs.begin(run_key())
    journal.add(result("a"))
    journal.flush()
    left = journal.path.read_bytes()
    journal.finish(run_key(), [0])
    journal.path.write_bytes(left)

    with pytest.raises(NotFound, match="finished"):
        runs.reopen("run-1")

    assert not journal.path.exists()
    assert [key.state for key in runs.list()] == [RunState.COMPLETE]


def test_results_added_from_many_threads_are_all_kept(runs: LocalFileEvalStore) -> None:
    journal = runs.begin(run_key())

    def work(number: int) -> None:
        for i in range(200):
            slot = journal.add(result(f"{number}-{i}"))
            journal.add_metric(slot, metric(f"m{number}-{i}"))
            if i % 7 == 0:
                journal.flush()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    run = journal.finish(run_key(), range(800))

    assert {one.test_case_id for one in run.results} == {f"{n}-{i}" for n in range(4) for i in range(200)}
    assert all(one.metrics[0].evaluator == f"m{one.test_case_id}" for one in run.results)


def test_what_is_added_is_written_without_being_asked_for(runs: LocalFileEvalStore) -> None:
    journal = runs.begin(run_key())
    journal.add(result("a"))

    written = threading.Event()
    while result("a") not in journal.path.read_bytes():
        written.wait(0.005)

    journal.close()


def test_a_line_that_is_not_json_costs_its_result_only(runs: LocalFileEvalStore) -> None:
    journal = runs.begin(run_key())
    for name in ("a", "bad", "c"):
        journal.add(result(name))
    journal.close()
    journal.path.write_bytes(journal.path.read_bytes().replace(b'"bad"', b'"b\x00d"', 1))

    journal = runs.reopen("run-1")

    assert [slot for slot, _ in journal.entries()] == [0, 2]
    journal.close()


def test_a_journal_without_its_header_is_refused_by_name(runs: LocalFileEvalStore) -> None:
    runs.begin(run_key()).close()
    path = runs.begin(run_key("run-2")).path
    path.write_bytes(b"\0" * 100)

    with pytest.raises(StoreError, match=r"run-2\.journal\.jsonl: its first line is not the header"):
        runs.load("run-2")
    assert [key.eval_run_id for key in runs.list()] == ["run-1"]


def test_a_metric_for_an_unknown_slot_is_refused(runs: LocalFileEvalStore) -> None:
    journal = runs.begin(run_key())

    with pytest.raises(IndexError, match="slot 0 of a journal with 0 results"):
        journal.add_metric(0, metric("m"))

    journal.close()


def test_a_closed_journal_takes_nothing_more(runs: LocalFileEvalStore) -> None:
    journal = runs.begin(run_key())
    journal.close()
    journal.close()

    with pytest.raises(StoreError, match="closed: reopen"):
        journal.add(result("a"))


def test_what_follows_a_line_that_is_not_whole_is_done_again(
    runs: LocalFileEvalStore, caplog: pytest.LogCaptureFixture
) -> None:
    journal = runs.begin(run_key())
    for name in "abc":
        journal.add(result(name))
    journal.close()
    text = journal.path.read_bytes()
    journal.path.write_bytes(text.replace(result("b"), b"\0" * len(result("b"))))

    journal = runs.reopen("run-1")

    assert [value["testCaseId"] for _, value in journal.entries()] == ["a"]
    assert "not whole" in caplog.text
    assert journal.add(result("d")) == 1
    journal.close()


def test_a_late_metric_of_a_result_that_is_not_there_ends_the_journal(runs: LocalFileEvalStore) -> None:
    journal = runs.begin(run_key())
    journal.add(result("a"))
    journal.close()
    with journal.path.open("ab") as file:
        file.write(b'{"s":7,"m":{"evaluator":"m"}}\n')

    assert names(runs) == ["a"]


def test_a_journal_finishes_no_other_run(runs: LocalFileEvalStore) -> None:
    journal = runs.begin(run_key())

    with pytest.raises(ValueError, match="'run-1' cannot finish run 'run-2'"):
        journal.finish(run_key("run-2"), [])

    journal.close()


def test_slots_that_are_not_asked_for_are_left_out(runs: LocalFileEvalStore) -> None:
    journal = runs.begin(run_key())
    for name in "abc":
        journal.add(result(name))

    run = journal.finish(run_key(), [2])

    assert [one.test_case_id for one in run.results] == ["c"]
