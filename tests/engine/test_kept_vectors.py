"""Vectors as they are kept: to the last bit, or not at all."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genkit_eval.engine.asking.kept_replies import vectors_from, vectors_json
from genkit_eval.models import Vectors
from genkit_eval.types import Usage


@pytest.mark.parametrize(
    "vectors", [[[1.0, float("nan")]], [[math.inf, -math.inf]], [], [[1.0], [2.0]], [["a"]], [[1.0, 2.0], [3.0]], 7]
)
def test_vectors_of_no_use_are_not_kept(vectors: Any) -> None:
    assert vectors_json(vectors, 1) is None


@pytest.mark.parametrize(
    "data", [b"{}", b"nonsense", b'{"length":2,"doubles":"AAA"}', b'{"length":2,"doubles":7}', b"[1]"]
)
def test_vectors_that_cannot_be_read_are_none(data: bytes) -> None:
    assert vectors_from(data) is None


@given(
    st.lists(st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), min_size=3, max_size=3), min_size=1)
)
def test_vectors_are_kept_to_the_last_bit(vectors: list[list[float]]) -> None:
    assert vectors_from(vectors_json(vectors, len(vectors))) == vectors


def test_vectors_are_kept_with_what_they_cost() -> None:
    kept = vectors_json(Vectors([[0.1, 1 / 3]], usage=Usage(input_tokens=3)), 1)

    vectors = vectors_from(kept)

    assert vectors is not None
    assert vectors == [[0.1, 1 / 3]]
    assert vectors.usage == Usage(input_tokens=3)
