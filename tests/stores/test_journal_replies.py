"""Replies of models in a journal: found again after an interruption, and in no run file."""

from __future__ import annotations

import json

import pytest

from genkit_eval.stores import LocalFileEvalStore
from tests.stores.made import metric, names, result, run_key


def test_a_reply_is_with_the_system_when_it_was_taken(runs: LocalFileEvalStore) -> None:
    journal = runs.begin(run_key())
    slot = journal.add(result("a"))

    journal.add_call(slot, "k1", b'{"text":"yes"}')

    assert journal.path.read_bytes().endswith(b'{"s":0,"c":"k1","r":{"text":"yes"}}\n')
    journal.close()


def test_replies_are_found_again_after_an_interruption(runs: LocalFileEvalStore) -> None:
    journal = runs.begin(run_key())
    for name in "ab":
        journal.add(result(name))
    journal.add_call(0, "k1", b'{"text":"of a"}')
    journal.add_call(1, "k1", b'{"text":"of b"}')
    journal.add_metric(0, metric("m"))
    journal.add_call(1, "k2", b"[[0.5]]")
    journal.add_call(-1, "k3", b'{"text":"of none"}')
    journal.close()

    journal = runs.reopen("run-1")
    calls = journal.calls({1, -1})

    assert calls.reply(1, "k1") == b'{"text":"of b"}'
    assert calls.reply(1, "k2") == b"[[0.5]]"
    assert calls.reply(-1, "k3") == b'{"text":"of none"}'
    assert (calls.reply(0, "k1"), calls.reply(1, "k3")) == (None, None)
    assert len(calls) == 3
    journal.close()


def test_a_reply_that_was_torn_is_asked_for_again(runs: LocalFileEvalStore) -> None:
    journal = runs.begin(run_key())
    journal.add(result("a"))
    journal.add_call(0, "k1", b'{"text":"whole"}')
    journal.add_call(0, "k2", b'{"text":"torn"}')
    journal.close()
    journal.path.write_bytes(journal.path.read_bytes()[:-5])

    journal = runs.reopen("run-1")
    calls = journal.calls({0})

    assert calls.reply(0, "k1") == b'{"text":"whole"}'
    assert calls.reply(0, "k2") is None
    assert journal.add(result("b")) == 1
    assert [one.test_case_id for one in journal.finish(run_key(), [0, 1]).results] == ["a", "b"]


@pytest.mark.parametrize("interrupted", [False, True])
def test_replies_between_results_are_in_no_run_file(runs: LocalFileEvalStore, interrupted: bool) -> None:
    journal = runs.begin(run_key())
    journal.add(result("a", "m"))
    journal.add_call(0, "k1", b'{"text":"yes"}')
    journal.add(result("b", "m"))
    journal.add(result("c", "m"))
    journal.add_call(-1, "k2", b'{"text":"no"}')
    if interrupted:
        journal.close()
        journal = runs.reopen("run-1")

    run = journal.finish(run_key(), [0, 1, 2])

    assert [one.test_case_id for one in run.results] == ["a", "b", "c"]
    assert b'"c"' not in run.path.read_bytes().replace(b'"testCaseId":"c","input":"c"', b"")
    assert len(json.loads(run.path.read_bytes())["results"]) == 3


def test_a_run_with_replies_can_be_read_meanwhile(runs: LocalFileEvalStore) -> None:
    journal = runs.begin(run_key())
    journal.add(result("a"))
    journal.add_call(0, "k1", b'{"text":"yes"}')
    journal.add(result("b"))
    journal.flush()

    assert names(runs) == ["a", "b"]
    journal.close()


def test_a_reply_for_a_result_that_is_not_there_ends_the_journal(runs: LocalFileEvalStore) -> None:
    journal = runs.begin(run_key())
    journal.add(result("a"))
    journal.close()
    with journal.path.open("ab") as file:
        file.write(b'{"s":7,"c":"k","r":{}}\n')

    assert names(runs) == ["a"]


def test_a_reply_for_an_unknown_slot_is_refused(runs: LocalFileEvalStore) -> None:
    journal = runs.begin(run_key())

    with pytest.raises(IndexError, match="slot 0 of a journal with 0 results"):
        journal.add_call(0, "k", b"{}")

    journal.close()
