"""Reports as JSON."""

from __future__ import annotations

import json

import pytest

from genkit_eval.report.documents import json_pieces, run_document
from genkit_eval.report.verdict import verdict
from tests.report.conftest import MakeRun
from tests.report.rows import inconclusive, passed, result


def test_results_are_streamed_into_the_document(make_run: MakeRun) -> None:
    run = make_run([result(1, passed()), result(2, passed())])

    pieces = list(json_pieces(run_document(run), run.results))

    assert len(pieces) == 4
    assert [row["testCaseId"] for row in json.loads("".join(pieces))["results"]] == ["case-1", "case-2"]


@pytest.mark.parametrize("document", [{}, {"a": 1}, {"a": {}}, {"a": {"b": 1}}])
def test_no_results_are_an_empty_list(document: dict[str, object]) -> None:
    assert json.loads("".join(json_pieces(document, []))) == {**document, "results": []}


@pytest.mark.case("comparison/all-inconclusive")
def test_what_there_is_not_is_null(make_run: MakeRun) -> None:
    run = make_run([result(1, inconclusive())])

    [row] = json.loads("".join(json_pieces(run_document(run, verdict(run)))))["summary"]

    assert (row["passRate"], row["mean"]) == (None, None)


@pytest.mark.case("security/terminal-escapes")
def test_json_on_a_terminal_is_harmless_and_exact() -> None:
    hostile = "\x1b[2J\x9b2J\u202e東京\x7f"

    text = "".join(json_pieces({"a": hostile}))

    assert all(character.isprintable() or character == "\n" for character in text)
    assert "東京" in text
    assert json.loads(text) == {"a": hostile}
