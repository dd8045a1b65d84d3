"""What a worker makes of a document by an expression."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from genkit_eval.workers import WorkerPool


@pytest.fixture(scope="module")
def pool() -> Iterator[WorkerPool]:
    pool = WorkerPool(1)
    yield pool
    pool.close()


@pytest.mark.parametrize(
    ("expression", "document", "result"),
    [
        ("$", {"a": [1, None, "ä"]}, {"a": [1, None, "ä"]}),
        ('{"q": $}', "why?", {"q": "why?"}),
        ("a", {"a": None}, None),
        ("a", {"a": 0}, 0),
        ("$", None, None),
        ("n", {"n": 2**70}, 2**70),
    ],
)
def test_the_result_is_the_json_that_the_expression_makes(
    pool: WorkerPool, expression: str, document: Any, result: Any
) -> None:
    assert pool.call("transform", expression, document, 1000, seconds=10) == {"result": result}


def test_an_undefined_result_is_none_at_all(pool: WorkerPool) -> None:
    assert pool.call("transform", "b", {"a": 1}, 1000, seconds=10) == {}


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("$sum", "the result is a function"),
        ("$", "the result is too much: text of 2000 characters"),
        ("$ + 1", "(T2001"),
    ],
)
def test_what_cannot_be_handed_on_is_an_error(pool: WorkerPool, expression: str, said: str) -> None:
    assert said in pool.call("transform", expression, "x" * 2000, 1000, seconds=10)["error"]
