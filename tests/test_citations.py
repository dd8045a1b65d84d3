"""Markers by which an answer cites its documents."""

from __future__ import annotations

import pytest

from genkit_eval.citations import Marker, citation_markers


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("At nine [1].", [(1,)]),
        ("At nine[1][2].", [(1,), (2,)]),
        ("At nine [1, 3; 5].", [(1, 3, 5)]),
        ("At nine [2-4], [7–8].", [(2, 3, 4), (7, 8)]),
        ("At nine [4-2].", [(4, 2)]),
        ("At nine [^1] 【2】 【3†source】.", [(1,), (2,), (3,)]),
        ("Between [1-60] and [1-999, 1-999].", []),
        ("At nine [1](https://example.org) [2]: there [2020] [a].", []),
        ("Take `a[0]` or\n```\nb[1]\n```\n[2]", [(2,)]),
    ],
)
def test_markers_are_found_with_the_numbers_that_they_name(text: str, numbers: list[tuple[int, ...]]) -> None:
    assert [marker.numbers for marker in citation_markers(text)] == numbers


def test_a_marker_knows_its_place() -> None:
    text = "Take `a[0]`; at nine [1]."

    assert citation_markers(text) == [Marker("[1]", (21, 24), (1,))]
