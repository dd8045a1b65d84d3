"""`genkit-eval dataset`: datasets and their versions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine


@pytest.fixture
def stored(genkit_eval: CommandLine, app: Path) -> None:
    """The dataset numbers-1, at version 1."""
    assert genkit_eval("dataset", "add", "numbers-1", "numbers.jsonl", "-t", "echo", "-m", "my/yes").code == 0


def test_a_dataset_is_stored_and_listed(genkit_eval: CommandLine, stored: None) -> None:
    [row] = genkit_eval("dataset", "list", "--json").json["datasets"]

    assert (row["datasetId"], row["version"], row["size"]) == ("numbers-1", 1, 4)
    assert (row["targetAction"], row["metricRefs"]) == ("/flow/echo", ["my/yes"])
    assert "numbers-1        1        4" in genkit_eval("dataset", "list").out


def test_no_dataset_is_said(genkit_eval: CommandLine) -> None:
    assert genkit_eval("dataset", "list").out == "no datasets yet: genkit-eval dataset add stores one\n"


def test_a_dataset_is_shown_with_its_samples(genkit_eval: CommandLine, stored: None) -> None:
    out = genkit_eval("dataset", "show", "numbers-1").out

    assert "target    echo" in out
    assert "n-3     3      3" in out


def test_options_of_a_metric_are_refused_because_a_dataset_keeps_names_alone(
    genkit_eval: CommandLine, app: Path
) -> None:
    done = genkit_eval("dataset", "add", "numbers-1", "numbers.jsonl", "-e", "my/below:limit=3")

    assert done.code == 2
    assert "give my/below alone here" in done.err


def test_an_id_that_is_taken_is_refused_without_a_word_about_genkit(genkit_eval: CommandLine, app: Path) -> None:
    first = genkit_eval("dataset", "add", "ok", "numbers.jsonl")
    second = genkit_eval("dataset", "add", "ok", "numbers.jsonl")

    assert "Genkit's web interface cannot open it" in first.err
    assert second.err == "genkit-eval: dataset 'ok' exists already (version 1): update it, or choose another id\n"


def test_an_update_without_a_version_is_told_the_current_one(genkit_eval: CommandLine, stored: None) -> None:
    done = genkit_eval("dataset", "update", "numbers-1", "numbers.jsonl")

    assert done.code == 2
    assert "is at version 1" in done.err
    assert "--expected-version 1" in done.err


def test_an_update_makes_a_version_and_keeps_the_old_one(genkit_eval: CommandLine, app: Path, stored: None) -> None:
    (app / "more.json").write_text('[{"testCaseId": "x", "input": 9}]', encoding="utf-8")

    done = genkit_eval("dataset", "update", "numbers-1", "more.json", "--expected-version", "1")

    assert done.out == "updated dataset numbers-1, version 2, 1 sample\n"
    versions = genkit_eval("dataset", "history", "numbers-1", "--json").json["versions"]
    assert [(row["version"], row["size"]) for row in versions] == [(2, 1), (1, 4)]
    assert len(genkit_eval("dataset", "show", "numbers-1", "--version", "1", "--json").json["samples"]) == 4


def test_a_stale_update_is_refused(genkit_eval: CommandLine, stored: None) -> None:
    genkit_eval("dataset", "update", "numbers-1", "--delete", "n-0", "--expected-version", "1")

    done = genkit_eval("dataset", "update", "numbers-1", "numbers.jsonl", "--expected-version", "1")

    assert done.code == 2
    assert "is at version 2, not 1" in done.err


def test_a_patch_adds_replaces_and_deletes(genkit_eval: CommandLine, app: Path, stored: None) -> None:
    rows = [{"testCaseId": "n-0", "input": 0, "reference": "zero"}, {"testCaseId": "new", "input": ""}]
    (app / "more.json").write_text(json.dumps(rows), encoding="utf-8")

    genkit_eval(
        "dataset", "update", "numbers-1", "more.json", "--patch", "--delete", "n-1", "--expected-version", "any"
    )

    samples = genkit_eval("dataset", "show", "numbers-1", "--json").json["samples"]
    assert [row["testCaseId"] for row in samples] == ["n-0", "n-2", "n-3", "new"]
    assert samples[0]["reference"] == "zero"


def test_what_describes_a_dataset_is_updated_alone(genkit_eval: CommandLine, stored: None) -> None:
    genkit_eval("dataset", "update", "numbers-1", "-t", "slow", "--type", "flow", "--expected-version", "1")

    metadata = genkit_eval("dataset", "show", "numbers-1", "--json").json["metadata"]
    assert (metadata["targetAction"], metadata["datasetType"], metadata["size"]) == ("/flow/slow", "FLOW", 4)


@pytest.mark.parametrize(
    "options",
    [(), ("more.json", "--delete", "n-0"), ("--delete", "n-0", "-t", "slow"), ("numbers.jsonl", "--patch", "-m", "a")],
)
def test_an_update_that_means_nothing_or_two_things_is_refused(
    genkit_eval: CommandLine, app: Path, stored: None, options: tuple[str, ...]
) -> None:
    (app / "more.json").write_text('[{"testCaseId": "x", "input": 9}]', encoding="utf-8")

    assert genkit_eval("dataset", "update", "numbers-1", *options, "--expected-version", "1").code == 2


@pytest.mark.parametrize("version", ["0", "-1", "one", "1.0"])
def test_a_version_that_is_none_is_refused(genkit_eval: CommandLine, stored: None, version: str) -> None:
    assert genkit_eval("dataset", "remove", "numbers-1", "--expected-version", version).code == 2


@pytest.mark.parametrize("name", ["out.json", "out.jsonl", "out.yaml"])
def test_an_export_can_be_read_again(genkit_eval: CommandLine, stored: None, name: str) -> None:
    assert genkit_eval("dataset", "export", "numbers-1", name).code == 0

    assert genkit_eval("dataset", "add", "again-1", name).out == "stored dataset again-1, version 1, 4 samples\n"


def test_an_export_that_loses_something_is_refused(genkit_eval: CommandLine, app: Path, stored: None) -> None:
    """CSV has no numbers."""
    done = genkit_eval("dataset", "export", "numbers-1", "out.csv")

    assert done.code == 2
    assert "sample 1, input" in done.err
    assert not (app / "out.csv").exists()


def test_an_export_to_nowhere_is_refused(genkit_eval: CommandLine, stored: None) -> None:
    done = genkit_eval("dataset", "export", "numbers-1", "missing/out.json")

    assert (done.code, len(done.err.splitlines())) == (2, 1)


def test_a_dataset_is_removed_only_at_its_version(genkit_eval: CommandLine, stored: None) -> None:
    assert genkit_eval("dataset", "remove", "numbers-1").code == 2
    assert genkit_eval("dataset", "remove", "numbers-1", "--expected-version", "2").code == 2

    done = genkit_eval("dataset", "remove", "numbers-1", "--expected-version", "1")

    assert done.out == "removed dataset numbers-1\n"
    assert genkit_eval("dataset", "list", "--json").json == {"datasets": []}


def test_a_schema_is_kept_and_obeyed(genkit_eval: CommandLine, app: Path) -> None:
    (app / "schema.json").write_text('{"inputSchema": {"type": "string"}}', encoding="utf-8")

    done = genkit_eval("dataset", "add", "texts-1", "numbers.jsonl", "--schema", "schema.json")

    assert done.code == 2
    assert "n-0" in done.err


def test_a_schema_that_is_none_is_refused(genkit_eval: CommandLine, app: Path) -> None:
    (app / "schema.json").write_text("[", encoding="utf-8")

    done = genkit_eval("dataset", "add", "texts-1", "numbers.jsonl", "--schema", "schema.json")

    assert done.code == 2
    assert "schema.json is no schema" in done.err


@pytest.mark.case("data-file/big-integers")
def test_big_integers_survive_the_store(genkit_eval: CommandLine, app: Path) -> None:
    row = {"testCaseId": "a", "input": {"order": 9007199254740993}, "reference": 9007199254740993}
    (app / "big.jsonl").write_text(json.dumps(row), encoding="utf-8")

    genkit_eval("dataset", "add", "big-1", "big.jsonl")

    assert genkit_eval("dataset", "show", "big-1", "--json").json["samples"] == [row]
    assert "9007199254740993" in genkit_eval("dataset", "show", "big-1").out


def test_a_json_schema_by_itself_is_refused(genkit_eval: CommandLine, folder: Path) -> None:
    (folder / "one.jsonl").write_text('{"input": 1}\n', encoding="utf-8")
    (folder / "schema.json").write_text('{"type": "object"}', encoding="utf-8")

    done = genkit_eval("dataset", "add", "numbers", "one.jsonl", "--schema", "schema.json")

    assert done.code == 2
    assert "inputSchema" in done.err
