"""What Genkit's own tools do to the files is taken over as a new version; what a crash left behind is repaired."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from genkit_eval.errors import CorruptFile, NotFound, VersionConflict
from genkit_eval.stored import DatasetType
from genkit_eval.stores import LocalFileDatasetStore
from tests.stores.made import samples

Contents = Callable[[], dict[str, bytes]]
JS_TIME = "Mon Nov 30 2026 09:00:00 GMT+0000 (Coordinated Universal Time)"


class Genkit:
    """Writes as Genkit's dataset store does: both files in place, no lock, only the keys it knows."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "datasets"

    def index(self) -> dict[str, Any]:
        return dict(json.loads((self.folder / "index.json").read_text(encoding="utf-8")))

    def write_index(self, index: dict[str, Any]) -> None:
        text = json.dumps(index, separators=(",", ":"), ensure_ascii=False)
        (self.folder / "index.json").write_text(text, encoding="utf-8")

    def write_samples(self, dataset_id: str, rows: list[dict[str, Any]]) -> None:
        text = json.dumps(rows, separators=(",", ":"), ensure_ascii=False)
        (self.folder / f"{dataset_id}.json").write_text(text, encoding="utf-8")

    def update(self, dataset_id: str, rows: list[dict[str, Any]] | None = None, **metadata: Any) -> None:
        index = self.index()
        row = {**index[dataset_id], **metadata, "updateTime": JS_TIME}
        if rows is not None:
            self.write_samples(dataset_id, rows)
            row.update(size=len(rows), version=row["version"] + 1)
        self.write_index({**index, dataset_id: row})

    def delete(self, dataset_id: str) -> None:
        (self.folder / f"{dataset_id}.json").unlink()
        self.write_index({name: row for name, row in self.index().items() if name != dataset_id})


def test_datasets_that_genkit_made_are_read(genkit_root: Path) -> None:
    datasets = LocalFileDatasetStore(genkit_root)

    found = {one.dataset_id: one for one in datasets.list()}
    dataset = datasets.get("capitals")

    assert found.keys() == {"capitals", "2a05f28f-fc7a-4186-9dda-54c1f7a2b855"}
    assert (dataset.metadata.version, dataset.metadata.size) == (6, 2)
    assert dataset.metadata.dataset_type is DatasetType.FLOW
    assert dataset.metadata.create_time.isoformat() == "2026-11-30T08:49:15+00:00"
    assert [sample.reference for sample in dataset.samples] == ["Kyoto", "Lima"]


def test_reading_does_not_touch_the_samples_that_genkit_wrote(genkit_root: Path) -> None:
    path = genkit_root / "datasets" / "capitals.json"
    before = path.read_bytes(), path.stat().st_mtime_ns

    LocalFileDatasetStore(genkit_root).get("capitals")

    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


def test_a_dataset_that_genkit_made_can_be_changed(genkit_root: Path) -> None:
    datasets = LocalFileDatasetStore(genkit_root)

    updated = datasets.patch("capitals", samples("new", tags=["t"]), expected_version=6)

    assert (updated.version, updated.size) == (7, 3)
    assert [one.version for one in datasets.history("capitals")] == [7, 6]
    assert datasets.get("capitals").samples[2].tags == ["t"]


def test_samples_that_genkit_changed_are_a_new_version(datasets: LocalFileDatasetStore, root: Path) -> None:
    datasets.create("capitals", samples("a", "b", tags=["t"]), target_action="/flow/x")

    Genkit(root).update("capitals", [{"testCaseId": "b", "input": "B"}, {"testCaseId": "c", "input": "C"}])

    dataset = datasets.get("capitals")
    assert (dataset.metadata.version, dataset.metadata.size, dataset.metadata.target_action) == (2, 2, "/flow/x")
    assert [(one.test_case_id, one.input, one.tags) for one in dataset.samples] == [("b", "B", ["t"]), ("c", "C", ())]
    assert list(datasets.get("capitals", version=1).samples) == samples("a", "b", tags=["t"])


def test_metadata_that_genkit_changed_is_a_new_version(datasets: LocalFileDatasetStore, root: Path) -> None:
    datasets.create("capitals", samples("a", tags=["t"]), dataset_type=DatasetType.CUSTOM)

    Genkit(root).update("capitals", targetAction="/flow/new", metricRefs=["/evaluator/a/b"])

    metadata = datasets.get("capitals").metadata
    assert (metadata.version, metadata.target_action, metadata.metric_refs) == (2, "/flow/new", ["/evaluator/a/b"])
    assert metadata.dataset_type is DatasetType.CUSTOM
    assert list(datasets.get("capitals").samples) == samples("a", tags=["t"])


def test_several_edits_by_genkit_keep_its_version_number(datasets: LocalFileDatasetStore, root: Path) -> None:
    datasets.create("capitals", samples("a"))
    for number in range(3):
        Genkit(root).update("capitals", [{"testCaseId": "a", "input": number}])

    assert datasets.get("capitals").metadata.version == 4
    assert [one.version for one in datasets.history("capitals")] == [4, 1]


def test_an_edit_is_taken_over_once(datasets: LocalFileDatasetStore, root: Path, contents: Contents) -> None:
    datasets.create("capitals", samples("a"))
    Genkit(root).update("capitals", [{"testCaseId": "a", "input": 2}])

    first = datasets.get("capitals")
    after = contents()

    assert datasets.get("capitals") == first
    assert datasets.list() == [first.metadata]
    assert contents() == after


def test_an_edit_by_genkit_makes_an_older_expectation_stale(datasets: LocalFileDatasetStore, root: Path) -> None:
    datasets.create("capitals", samples("a"))
    Genkit(root).update("capitals", [{"testCaseId": "a", "input": 2}])

    with pytest.raises(VersionConflict, match="at version 2, not 1"):
        datasets.update("capitals", samples("z"), expected_version=1)

    assert datasets.get("capitals").samples[0].input == 2


def test_a_sample_file_edited_by_hand_is_a_new_version(datasets: LocalFileDatasetStore, root: Path) -> None:
    datasets.create("capitals", samples("a"))
    path = root / "datasets" / "capitals.json"
    path.write_text('[\n  {"testCaseId": "a", "input": "edited", "tags": ["by hand"]}\n]\n', encoding="utf-8")

    dataset = datasets.get("capitals")

    assert (dataset.metadata.version, dataset.samples[0].input, dataset.samples[0].tags) == (2, "edited", ["by hand"])
    assert datasets.get("capitals") == dataset
    datasets.patch("capitals", samples("b"), expected_version=2)
    assert datasets.get("capitals").samples[0].tags == ["by hand"]


def test_a_sample_file_put_back_to_an_older_state_is_a_new_version(datasets: LocalFileDatasetStore, root: Path) -> None:
    datasets.create("capitals", samples("a"))
    path = root / "datasets" / "capitals.json"
    old = path.read_bytes()
    datasets.update("capitals", samples("b"), expected_version=1)

    path.write_bytes(old)

    dataset = datasets.get("capitals")
    assert dataset.metadata.version == 3
    assert list(dataset.samples) == samples("a")


def test_what_genkit_deleted_is_not_resurrected_and_keeps_its_history(
    datasets: LocalFileDatasetStore, root: Path
) -> None:
    datasets.create("capitals", samples("a"))
    datasets.update("capitals", samples("b"), expected_version=1)

    Genkit(root).delete("capitals")

    assert datasets.list() == []
    with pytest.raises(NotFound, match="another tool deleted it; read its versions 1 to 2"):
        datasets.get("capitals")
    with pytest.raises(NotFound):
        datasets.update("capitals", samples("c"), expected_version=2)
    assert [one.version for one in datasets.history("capitals")] == [2, 1]
    assert list(datasets.get("capitals", version=2).samples) == samples("b")


def test_what_genkit_deleted_can_be_created_again_after_its_history(
    datasets: LocalFileDatasetStore, root: Path
) -> None:
    datasets.create("capitals", samples("a"))
    Genkit(root).delete("capitals")

    made = datasets.create("capitals", samples("b"))

    assert made.version == 2
    assert list(datasets.get("capitals").samples) == samples("b")


@pytest.mark.parametrize("broken", [None, b"", b"{", b"\0\0\0", b"[]", b'"text"'])
def test_an_index_that_is_missing_or_broken_is_made_anew(
    datasets: LocalFileDatasetStore, root: Path, broken: bytes | None
) -> None:
    datasets.create("capitals", samples("a", tags=["t"]), target_action="/flow/x")
    datasets.create("towns", samples("b"))
    index = root / "datasets" / "index.json"
    before, listed = json.loads(index.read_bytes()), datasets.list()
    index.unlink()
    if broken is not None:
        index.write_bytes(broken)

    assert datasets.list() == listed
    assert json.loads(index.read_bytes()) == before
    kept = [path.read_bytes() for path in index.parent.glob("index.json.broken-*")]
    assert kept == ([] if broken is None else [broken])


def test_a_row_that_nobody_can_read_is_made_anew(datasets: LocalFileDatasetStore, root: Path) -> None:
    datasets.create("capitals", samples("a"))
    genkit = Genkit(root)
    row = genkit.index()["capitals"]
    genkit.write_index({"capitals": {**row, "datasetType": "SURPRISE"}})

    assert datasets.get("capitals").metadata.version == 1
    assert genkit.index()["capitals"] == row


@pytest.mark.parametrize("broken", [None, b"", b"[{", b'{"samples":1}', b'[{"input":1}]', b"\0" * 40])
def test_a_sample_file_that_is_missing_or_torn_is_made_anew(
    datasets: LocalFileDatasetStore, root: Path, broken: bytes | None
) -> None:
    datasets.create("capitals", samples("a"))
    path = root / "datasets" / "capitals.json"
    whole = path.read_bytes()
    path.unlink()
    if broken is not None:
        path.write_bytes(broken)

    assert list(datasets.get("capitals").samples) == samples("a")
    assert path.read_bytes() == whole
    assert [one.read_bytes() for one in path.parent.glob("*.broken-*")] == ([] if broken is None else [broken])


def test_a_broken_file_of_genkit_alone_is_an_error_that_names_it(
    genkit_root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (genkit_root / "datasets" / "capitals.json").write_text("[{", encoding="utf-8")
    datasets = LocalFileDatasetStore(genkit_root)

    with caplog.at_level(logging.WARNING):
        listed = [one.dataset_id for one in datasets.list()]

    assert listed == ["2a05f28f-fc7a-4186-9dda-54c1f7a2b855"]
    assert "capitals" in caplog.text
    with pytest.raises(CorruptFile, match=r"capitals\.json: is not JSON"):
        datasets.get("capitals")


def test_a_sample_of_another_tool_that_does_not_fit_is_named_with_its_place(genkit_root: Path) -> None:
    rows = [{"testCaseId": "a", "input": 1}, {"testCaseId": "b", "input": 1, "turns": [{"role": 3}]}]
    (genkit_root / "datasets" / "capitals.json").write_text(json.dumps(rows), encoding="utf-8")

    with pytest.raises(CorruptFile, match=r"sample 2 \('b'\): turns\[0\]\.role: expected text, found 3"):
        LocalFileDatasetStore(genkit_root).get("capitals")


@pytest.mark.parametrize("content", [b"", b"{}\n", b"\0" * 200])
def test_a_broken_version_file_is_an_error_that_names_it(
    datasets: LocalFileDatasetStore, root: Path, content: bytes
) -> None:
    datasets.create("capitals", samples("a"))
    (root / "datasets" / "versions" / "capitals" / "1.json").write_bytes(content)

    with pytest.raises(CorruptFile, match=r"1\.json: is not a version of a dataset"):
        datasets.get("capitals")


def test_a_version_file_that_was_cut_is_an_error_that_names_it(datasets: LocalFileDatasetStore, root: Path) -> None:
    datasets.create("capitals", samples("a", "b"))
    path = root / "datasets" / "versions" / "capitals" / "1.json"
    path.write_bytes(path.read_bytes()[:-10])

    with pytest.raises(CorruptFile, match=r"1\.json: is cut off"):
        datasets.get("capitals")


@pytest.mark.parametrize("copies", ["samples and row", "row"])
def test_copies_that_a_killed_process_did_not_bring_up_are_made_anew(
    datasets: LocalFileDatasetStore, root: Path, copies: str
) -> None:
    datasets.create("capitals", samples("a"))
    index, path = root / "datasets" / "index.json", root / "datasets" / "capitals.json"
    old_index, old_samples = index.read_bytes(), path.read_bytes()
    datasets.update("capitals", samples("b"), expected_version=1)
    new_index, new_samples = index.read_bytes(), path.read_bytes()

    index.write_bytes(old_index)
    if copies == "samples and row":
        path.write_bytes(old_samples)

    assert datasets.get("capitals").metadata.version == 2
    assert (index.read_bytes(), path.read_bytes()) == (new_index, new_samples)
    assert [one.version for one in datasets.history("capitals")] == [2, 1]


def test_leftovers_of_dead_processes_are_neither_listed_nor_kept(datasets: LocalFileDatasetStore, root: Path) -> None:
    datasets.create("capitals", samples("a"))
    leftover = root / "datasets" / ".capitals.json.1-ab.tmp"
    leftover.write_bytes(b"[{")

    assert [one.dataset_id for one in datasets.list()] == ["capitals"]
    datasets.update("capitals", samples("b"), expected_version=1)
    assert not leftover.exists()


def test_an_id_of_another_tool_that_cannot_be_a_file_name_costs_only_itself(
    datasets: LocalFileDatasetStore, root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    datasets.create("capitals", samples("a"))
    genkit = Genkit(root)
    genkit.write_index({**genkit.index(), "../evil": genkit.index()["capitals"]})

    assert [one.dataset_id for one in datasets.list()] == ["capitals"]
    assert "'../evil'" in caplog.text


def test_a_hand_made_sample_that_does_not_fit_is_named(genkit_root: Path) -> None:
    path = genkit_root / "datasets" / "capitals.json"
    path.write_text('[{"testCaseId":"a","input":1},{"testCaseId":"b","tags":5}]', encoding="utf-8")

    with pytest.raises(CorruptFile, match=r"capitals\.json: sample 2 \('b'\): tags"):
        LocalFileDatasetStore(genkit_root).get("capitals")


def test_an_older_version_that_is_broken_does_not_hinder_the_newest(
    datasets: LocalFileDatasetStore, root: Path
) -> None:
    datasets.create("capitals", samples("a"))
    datasets.update("capitals", samples("b"), expected_version=1)
    (root / "datasets" / "versions" / "capitals" / "1.json").write_bytes(b"")
    Genkit(root).update("capitals", [{"testCaseId": "c", "input": "C"}])

    assert datasets.get("capitals").metadata.version == 3


def test_the_version_that_genkit_made_can_be_asked_for(genkit_root: Path) -> None:
    datasets = LocalFileDatasetStore(genkit_root)

    with pytest.raises(NotFound, match="which has 6"):
        datasets.get("capitals", version=5)
    assert datasets.get("capitals", version=6).metadata.size == 2


def test_one_broken_dataset_does_not_hinder_a_new_index(genkit_root: Path) -> None:
    (genkit_root / "datasets" / "capitals.json").write_text("[{", encoding="utf-8")
    (genkit_root / "datasets" / "index.json").unlink()
    datasets = LocalFileDatasetStore(genkit_root)

    datasets.create("towns-1", samples("a"))

    assert [one.dataset_id for one in datasets.list()] == ["2a05f28f-fc7a-4186-9dda-54c1f7a2b855", "towns-1"]
