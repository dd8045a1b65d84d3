"""Datasets: create, read, change by version, delete; what lies on disk for Genkit's tools."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from genkit_eval.errors import AlreadyExists, DataError, InvalidId, NotFound, VersionConflict
from genkit_eval.stored import DatasetSchema, DatasetType
from genkit_eval.stores import ANY_VERSION, LocalFileDatasetStore
from genkit_eval.types import Sample
from tests.stores.made import read, samples

Contents = Callable[[], dict[str, bytes]]


def ids(found: Sequence[Sample]) -> list[str | None]:
    return [sample.test_case_id for sample in found]


def test_what_is_created_can_be_read(datasets: LocalFileDatasetStore) -> None:
    made = datasets.create("capitals", samples("a", "b"), target_action="/flow/x", metric_refs=["custom/y"])

    dataset = datasets.get("capitals")

    assert (made.version, made.size) == (1, 2)
    assert dataset.metadata == made
    assert list(dataset.samples) == samples("a", "b")
    assert dataset.samples[1] == samples("b")[0]
    assert dataset.samples[:1] == samples("a")
    assert len(dataset) == 2


def test_a_dataset_without_an_id_gets_one(datasets: LocalFileDatasetStore) -> None:
    made = datasets.create(None, samples("a"))

    assert ids(datasets.get(made.dataset_id).samples) == ["a"]


def test_the_files_are_those_of_genkit(datasets: LocalFileDatasetStore, root: Path) -> None:
    datasets.create("capitals", [Sample(test_case_id="fr", input={"q": "ä"}, reference=None)], metric_refs=["a/b"])

    row = read(root / "datasets" / "index.json")["capitals"]
    assert (
        root / "datasets" / "capitals.json"
    ).read_bytes() == '[{"testCaseId":"fr","input":{"q":"ä"},"reference":null}]'.encode()
    assert list(row) == ["datasetId", "metricRefs", "size", "version", "datasetType", "createTime", "updateTime"]
    assert row["datasetType"] == "UNKNOWN"
    assert row["createTime"].endswith("Z")
    assert b"\n" not in (root / "datasets" / "index.json").read_bytes()


def test_what_genkit_has_no_place_for_is_kept_beside(datasets: LocalFileDatasetStore, root: Path) -> None:
    full = Sample(test_case_id="a", input=1, tags=["x"], context=["c"], expect={"label": "l"}, custom={"k": 2**70})

    datasets.create("capitals", [full, *samples("b")], dataset_type=DatasetType.CUSTOM)

    dataset = datasets.get("capitals")
    assert list(dataset.samples) == [full, *samples("b")]
    assert dataset.metadata.dataset_type is DatasetType.CUSTOM
    assert read(root / "datasets" / "index.json")["capitals"]["datasetType"] == "UNKNOWN"
    assert read(root / "datasets" / "ext" / "capitals.json")["datasetType"] == "CUSTOM"
    assert read(root / "datasets" / "capitals.json") == [
        {"testCaseId": "a", "input": 1},
        {"testCaseId": "b", "input": "b"},
    ]


def test_an_update_replaces_the_samples(datasets: LocalFileDatasetStore) -> None:
    made = datasets.create("capitals", samples("a", "b"), target_action="/flow/x")

    updated = datasets.update("capitals", samples("c"), expected_version=1)

    assert (updated.version, updated.size, updated.target_action) == (2, 1, "/flow/x")
    assert updated.create_time == made.create_time
    assert ids(datasets.get("capitals").samples) == ["c"]


@pytest.mark.case("store-concurrency/metadata-only-update")
def test_an_update_of_the_metadata_keeps_the_samples_and_is_a_version(datasets: LocalFileDatasetStore) -> None:
    made = datasets.create("capitals", samples("a", "b", "c", tags=["t"]))

    updated = datasets.update("capitals", expected_version=1, metric_refs=["regex"])

    assert (updated.version, updated.size) == (2, 3)
    assert updated.create_time == made.create_time
    assert updated.update_time >= made.update_time
    assert list(datasets.get("capitals").samples) == samples("a", "b", "c", tags=["t"])


def test_an_update_can_take_away_target_and_schema(datasets: LocalFileDatasetStore, root: Path) -> None:
    schema = DatasetSchema(input_schema={"type": "string"})
    datasets.create("capitals", samples("a"), target_action="/flow/x", schema=schema)
    assert read(root / "datasets" / "index.json")["capitals"]["schema"] == {"inputSchema": {"type": "string"}}

    datasets.update("capitals", expected_version=1, target_action=None, schema=None, dataset_type=DatasetType.FLOW)

    metadata = datasets.get("capitals").metadata
    assert (metadata.target_action, metadata.json_schema) == (None, None)
    assert metadata.dataset_type is DatasetType.FLOW
    assert not {"targetAction", "schema"} & read(root / "datasets" / "index.json")["capitals"].keys()


def test_a_patch_replaces_appends_and_deletes_by_id(datasets: LocalFileDatasetStore) -> None:
    datasets.create("capitals", samples("a", "b", "c", tags=["t"]))
    new = [Sample(test_case_id="b", input=2), Sample(test_case_id="d", input=4, tags=["n"])]

    datasets.patch("capitals", new, delete=["c"], expected_version=1)

    assert list(datasets.get("capitals").samples) == [*samples("a", tags=["t"]), *new]


@pytest.mark.case("data-file/falsy-input-survives-patch")
@pytest.mark.parametrize("value", [0, False, "", [], None])
def test_a_patch_with_a_falsy_input_does_not_delete(datasets: LocalFileDatasetStore, value: Any) -> None:
    datasets.create("capitals", [Sample(test_case_id="z", input=1)])

    datasets.patch("capitals", [Sample(test_case_id="z", input=value)], expected_version=1)

    dataset = datasets.get("capitals")
    assert dataset.metadata.size == 1
    assert dataset.samples[0].input == value
    assert dataset.samples[0].has("input")


def test_a_patch_that_deletes_what_is_not_there_is_an_error(datasets: LocalFileDatasetStore) -> None:
    datasets.create("capitals", samples("paris"))

    with pytest.raises(NotFound, match=r"'pariss' does not exist.*did you mean 'paris'"):
        datasets.patch("capitals", delete=["pariss"], expected_version=1)
    with pytest.raises(DataError, match="both deleted and written"):
        datasets.patch("capitals", samples("paris"), delete=["paris"], expected_version=1)

    assert datasets.get("capitals").metadata.version == 1


@pytest.mark.case("store-concurrency/stale-version")
def test_a_stale_version_leaves_every_file_as_it_is(datasets: LocalFileDatasetStore, contents: Contents) -> None:
    datasets.create("capitals", samples("a", tags=["t"]))
    datasets.update("capitals", samples("b"), expected_version=1)
    datasets.update("capitals", samples("c"), expected_version=2)
    before = contents()

    with pytest.raises(VersionConflict, match="at version 3, not 1") as conflict:
        datasets.update("capitals", samples("n"), expected_version=1)
    with pytest.raises(VersionConflict):
        datasets.patch("capitals", samples("n"), expected_version=2)
    with pytest.raises(VersionConflict):
        datasets.delete("capitals", expected_version=1)

    assert (conflict.value.expected, conflict.value.found) == (1, 3)
    assert contents() == before


def test_any_version_writes_over_whatever_is_there(datasets: LocalFileDatasetStore) -> None:
    datasets.create("capitals", samples("a"))
    datasets.update("capitals", samples("b"), expected_version=1)

    updated = datasets.update("capitals", samples("c"), expected_version=ANY_VERSION)

    assert updated.version == 3


def test_old_versions_can_be_read(datasets: LocalFileDatasetStore) -> None:
    datasets.create("capitals", samples("a"))
    datasets.update("capitals", samples("b", "c"), expected_version=1)

    assert ids(datasets.get("capitals", version=1).samples) == ["a"]
    assert [(one.version, one.size) for one in datasets.history("capitals")] == [(2, 2), (1, 1)]
    with pytest.raises(NotFound, match="version 7 of dataset 'capitals' does not exist in the store, which has 1, 2"):
        datasets.get("capitals", version=7)


def test_datasets_are_listed_by_id(datasets: LocalFileDatasetStore) -> None:
    datasets.create("towns", samples("a", "b"))
    datasets.create("capitals", samples("a"))

    assert [(one.dataset_id, one.size) for one in datasets.list()] == [("capitals", 1), ("towns", 2)]


def test_a_deleted_dataset_is_gone_with_its_history(datasets: LocalFileDatasetStore, root: Path) -> None:
    datasets.create("capitals", samples("a", tags=["t"]))
    datasets.create("towns", samples("a"))

    datasets.delete("capitals", expected_version=1)

    assert [one.dataset_id for one in datasets.list()] == ["towns"]
    for gone in (datasets.get, datasets.history):
        with pytest.raises(NotFound):
            gone("capitals")
    assert not [path for path in root.rglob("*") if "capitals" in path.name]


@pytest.mark.case("store-concurrency/update-after-delete")
def test_an_update_after_a_deletion_recreates_nothing(datasets: LocalFileDatasetStore, contents: Contents) -> None:
    datasets.create("capitals", samples("a"))
    datasets.delete("capitals", expected_version=1)
    before = contents()

    with pytest.raises(NotFound):
        datasets.update("capitals", samples("b"), expected_version=1)
    with pytest.raises(NotFound):
        datasets.update("capitals", samples("b"), expected_version=ANY_VERSION)

    assert contents() == before


def test_reading_makes_no_folder(datasets: LocalFileDatasetStore, root: Path) -> None:
    assert datasets.list() == []
    with pytest.raises(NotFound, match="'nope'"):
        datasets.get("nope")
    with pytest.raises(NotFound):
        datasets.delete("nope", expected_version=1)

    assert not root.exists()


def test_an_id_is_taken_whatever_its_case(datasets: LocalFileDatasetStore) -> None:
    datasets.create("Capitals", samples("a"))

    for taken in ("Capitals", "capitals", "CAPITALS"):
        with pytest.raises(AlreadyExists, match=r"'Capitals' exists already \(version 1\)"):
            datasets.create(taken, samples("b"))


@pytest.mark.case("store-concurrency/create-over-unlisted-file")
@pytest.mark.parametrize("index", ["{}", None])
def test_a_file_that_is_not_in_the_index_is_not_written_over(
    datasets: LocalFileDatasetStore, root: Path, index: str | None
) -> None:
    path = root / "datasets" / "menu-data.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps([{"testCaseId": f"{i}", "input": i} for i in range(40)]), encoding="utf-8")
    if index is not None:
        (root / "datasets" / "index.json").write_text(index, encoding="utf-8")
    before = path.read_bytes()

    with pytest.raises(AlreadyExists):
        datasets.create("menu-data", samples("a"))

    assert path.read_bytes() == before
    assert datasets.get("menu-data").metadata.size == 40


@pytest.mark.case("data-file/dataset-id-traversal-create")
@pytest.mark.parametrize(
    "dataset_id", ["../escape1", "..\\escape2", "/tmp/abs-path", "a/b/c/data", "....//data1", "name\0x1", "faq\n"]
)
def test_an_id_that_is_a_path_is_refused_everywhere(
    datasets: LocalFileDatasetStore, tmp_path: Path, dataset_id: str
) -> None:
    with pytest.raises(InvalidId):
        datasets.create(dataset_id, samples("a"))
    with pytest.raises(InvalidId):
        datasets.get(dataset_id)
    with pytest.raises(InvalidId):
        datasets.history(dataset_id)
    with pytest.raises(InvalidId):
        datasets.update(dataset_id, samples("a"), expected_version=1)
    with pytest.raises(InvalidId):
        datasets.delete(dataset_id, expected_version=ANY_VERSION)

    assert list(tmp_path.iterdir()) == []


def test_names_of_our_own_folders_do_no_harm_as_ids(datasets: LocalFileDatasetStore) -> None:
    names = ["a", "a.ext", "versions", "ext", "locks", "a.json", "1.json"]
    for name in names:
        datasets.create(name, samples(name, tags=["t"]))
        datasets.update(name, samples(name, "second", tags=["t"]), expected_version=1)

    datasets.delete("a", expected_version=2)

    assert [one.dataset_id for one in datasets.list()] == sorted(names[1:])
    assert all(list(datasets.get(name).samples) == samples(name, "second", tags=["t"]) for name in names[1:])


def test_an_id_that_genkit_cannot_open_is_warned_about(
    datasets: LocalFileDatasetStore, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        datasets.create("faq", samples("a"))
        datasets.create("capitals", samples("a"))

    with caplog.at_level(logging.WARNING), pytest.raises(AlreadyExists):
        datasets.create("faq", samples("a"))

    assert [record.getMessage()[:14] for record in caplog.records] == ["dataset 'faq':"]


@pytest.mark.case("data-file/prototype-names-as-ids")
@pytest.mark.case("data-file/non-ascii-ids")
def test_test_case_ids_are_free_text(datasets: LocalFileDatasetStore, root: Path) -> None:
    names = ["__proto__", "constructor", "hasOwnProperty", "toString", "übung-1", "東-2", "a\nb", "../x", 'q"uote']

    datasets.create("capitals", samples(*names))
    datasets.patch("capitals", [Sample(test_case_id="東-2", input=0)], delete=["__proto__"], expected_version=1)

    assert ids(datasets.get("capitals").samples) == names[1:]
    assert "東-2".encode() in (root / "datasets" / "capitals.json").read_bytes()


@pytest.mark.case("data-file/big-integers")
@pytest.mark.parametrize("number", [9007199254740993, 2**63, -(2**64) - 1, 10**400])
def test_integers_keep_every_digit(datasets: LocalFileDatasetStore, number: int) -> None:
    given = [Sample(test_case_id="n", input={"order": number}, reference=number)]
    datasets.create("capitals", given)

    assert list(datasets.get("capitals").samples) == given
    datasets.update("capitals", expected_version=1, metric_refs=["x"])
    datasets.patch("capitals", samples("b"), expected_version=2)
    assert datasets.get("capitals").samples[0].reference == number


def test_samples_need_ids_of_their_own(datasets: LocalFileDatasetStore) -> None:
    with pytest.raises(DataError, match="sample 2 of dataset 'capitals' has no test case id"):
        datasets.create("capitals", [*samples("a"), Sample(input=1)])
    with pytest.raises(DataError, match="samples 1 and 3 of dataset 'capitals' have the same test case id 'a'"):
        datasets.create("capitals", samples("a", "b", "a"))

    assert datasets.list() == []


def test_an_absent_input_stays_absent(datasets: LocalFileDatasetStore, root: Path) -> None:
    datasets.create("capitals", [Sample(test_case_id="a"), Sample(test_case_id="b", reference=0)])

    found = datasets.get("capitals").samples

    assert [(sample.has("input"), sample.has("reference")) for sample in found] == [(False, False), (False, True)]
    assert read(root / "datasets" / "capitals.json") == [{"testCaseId": "a"}, {"testCaseId": "b", "reference": 0}]


def test_samples_read_can_be_written_back(datasets: LocalFileDatasetStore) -> None:
    datasets.create("capitals", samples("a", "b", tags=["t"]))

    datasets.update("capitals", datasets.get("capitals").samples, expected_version=1)
    datasets.create("copied", datasets.get("capitals").samples[:1])

    assert datasets.get("capitals").samples == samples("a", "b", tags=["t"])
    assert datasets.get("copied").samples == samples("a", tags=["t"])


def test_an_empty_dataset_is_a_dataset(datasets: LocalFileDatasetStore) -> None:
    datasets.create("capitals", [])

    assert list(datasets.get("capitals").samples) == []
    assert datasets.get("capitals").metadata.size == 0
