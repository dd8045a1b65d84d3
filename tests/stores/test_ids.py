"""Ids are file names: what no system can hold is refused where it enters."""

from __future__ import annotations

import re

import pytest

from genkit_eval.errors import InvalidId
from genkit_eval.stores import check_id, new_dataset_id, new_run_id, opens_in_genkit


@pytest.mark.parametrize(
    "value", ["a", "7", "faq", "a.ext", "versions", "ext", "locks", "x" * 64, "Index-2", "console"]
)
def test_an_id_that_is_a_file_name_everywhere_is_taken(value: str) -> None:
    assert check_id("dataset", value) == value


@pytest.mark.parametrize(
    "value",
    ["", ".", "..", "a/b", "a\\b", "a\n", "faq\n", "-a", "a-", ".hidden", "a.", "a b", "ä", "x" * 65, "a\0b", None, 7],
)
def test_an_id_that_cannot_be_a_file_name_is_refused(value: object) -> None:
    with pytest.raises(InvalidId, match="dataset id"):
        check_id("dataset", value)


@pytest.mark.parametrize("value", ["index", "INDEX"])
def test_the_name_of_the_index_is_refused(value: str) -> None:
    with pytest.raises(InvalidId, match="index"):
        check_id("run", value)


@pytest.mark.case("data-file/windows-reserved-names")
@pytest.mark.parametrize(
    "value",
    [
        "CON",
        "CON.data1",
        "nul-file.",
        "COM1.set",
        "aux.report",
        "run:2026-01-01T10:00:00",
        "a|b|c|d",
        "lpt9",
        "prn.x.y",
    ],
)
def test_names_that_windows_reserves_are_refused_on_all_systems(value: str) -> None:
    with pytest.raises(InvalidId):
        check_id("dataset", value)


@pytest.mark.case("data-file/windows-reserved-names")
@pytest.mark.parametrize("make", [new_run_id, new_dataset_id])
def test_ids_we_make_open_everywhere(make: object) -> None:
    assert callable(make)

    value = make()

    assert check_id("run", value) == value
    assert opens_in_genkit(value)
    assert re.fullmatch(r"[A-Za-z0-9._-]+", value)


@pytest.mark.case("store-concurrency/same-second-runs")
def test_run_ids_made_at_the_same_time_differ() -> None:
    made = [new_run_id() for _ in range(1000)]

    assert len(set(made)) == 1000


@pytest.mark.parametrize(("value", "opens"), [("capitals", True), ("faq", False), ("2a05f28f-fc7a", False)])
def test_what_genkit_can_open_is_known(value: str, opens: bool) -> None:
    assert opens_in_genkit(value) is opens
