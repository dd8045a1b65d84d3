"""Embedders: batches, order, and vectors that can be used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from genkit_eval import run_sync
from genkit_eval.testing import Answer, Call, OpenAIServer, embeddings_answer, error_answer
from genkit_eval_openai import OpenAIError
from genkit_eval_openai.embeddings import OpenAIEmbedder

MakeEmbedder = Callable[[OpenAIServer], OpenAIEmbedder]


def by_length(call: Call) -> Answer:
    """A vector a text that tells its length."""
    assert isinstance(call.body, dict)
    texts: Any = call.body["input"]
    return embeddings_answer([[float(len(text)), 1.0] for text in texts])


def test_every_text_has_its_vector(embedder: MakeEmbedder) -> None:
    with OpenAIServer(embeddings=by_length) as server:
        vectors = run_sync(embedder(server).embed(["a", "abc", "ab"]))

    assert vectors == [[1.0, 1.0], [3.0, 1.0], [2.0, 1.0]]
    assert server.bodies("embeddings") == [{"model": "embed-x", "input": ["a", "abc", "ab"]}]


def test_many_texts_go_in_batches_and_keep_their_order(embedder: MakeEmbedder) -> None:
    texts = ["x" * n for n in range(1, 301)]

    with OpenAIServer(embeddings=by_length) as server:
        vectors = run_sync(embedder(server).embed(texts))

    assert [vector[0] for vector in vectors] == list(range(1, 301))
    assert [len(str(body["input"]).split(",")) for body in server.bodies("embeddings")] == [128, 128, 44]


def test_vectors_are_put_in_order_by_their_numbers(embedder: MakeEmbedder) -> None:
    data = [{"index": 2, "embedding": [3.0]}, {"index": 0, "embedding": [1]}, {"index": 1, "embedding": [2.0]}]

    with OpenAIServer(embeddings=Answer(body={"data": data})) as server:
        vectors = run_sync(embedder(server).embed(["a", "b", "c"]))

    assert vectors == [[1.0], [2.0], [3.0]]


def test_vectors_without_numbers_are_in_order(embedder: MakeEmbedder) -> None:
    data = [{"embedding": [1.0]}, {"embedding": [2.0]}]

    with OpenAIServer(embeddings=Answer(body={"data": data})) as server:
        vectors = run_sync(embedder(server).embed(["a", "b"]))

    assert vectors == [[1.0], [2.0]]


def test_no_texts_are_no_call(embedder: MakeEmbedder) -> None:
    with OpenAIServer() as server:
        vectors = run_sync(embedder(server).embed([]))

    assert (vectors, server.calls) == ([], [])


def test_parameters_are_sent_as_given(embedder: MakeEmbedder) -> None:
    with OpenAIServer() as server:
        run_sync(embedder(server).embed(["a"], config={"dimensions": 8}))

    assert server.bodies("embeddings")[0]["dimensions"] == 8


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([], "0 vectors for 2 texts"),
        (None, "0 vectors for 2 texts"),
        ([{"index": 0, "embedding": [1.0]}], "1 vectors for 2 texts"),
        ([{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}], "numbered its vectors wrongly: 0"),
        ([{"index": 0, "embedding": [1.0]}, {"index": 2, "embedding": [1.0]}], "numbered its vectors wrongly: 2"),
        ([{"index": 0, "embedding": [1.0]}, {"embedding": [1.0]}], "numbered its vectors wrongly: None"),
        ([{"embedding": [1.0]}, {"embedding": [1.0, 2.0]}], "different lengths: 1, 2"),
        ([{"embedding": [1.0]}, {"embedding": [0.0]}], "vector of zeros"),
        ([{"embedding": [1.0]}, {"embedding": []}], "no list of numbers"),
        ([{"embedding": [1.0]}, {"embedding": "AAAA"}], "no list of numbers"),
        ([{"embedding": [1.0]}, {"embedding": [None]}], "no list of numbers"),
        ([{"embedding": [1.0]}, {"embedding": [True]}], "no list of numbers"),
        ([{"embedding": [1.0]}, "vector"], "no list of numbers"),
    ],
)
def test_vectors_that_cannot_be_used_are_an_error(data: Any, said: str, embedder: MakeEmbedder) -> None:
    with (
        OpenAIServer(embeddings=Answer(body={"data": data})) as server,
        pytest.raises(OpenAIError, match=said) as caught,
    ):
        run_sync(embedder(server).embed(["a", "b"]))

    assert caught.value.kind == "unparsable"


@pytest.mark.parametrize("number", ["1e999", "NaN", "-Infinity"])
def test_a_number_that_is_not_finite_is_an_error(number: str, embedder: MakeEmbedder) -> None:
    body = f'{{"data": [{{"index": 0, "embedding": [{number}]}}]}}'.encode()

    with OpenAIServer(embeddings=Answer(body=body)) as server, pytest.raises(OpenAIError):
        run_sync(embedder(server).embed(["a"]))


def test_vectors_of_different_batches_are_of_one_length(embedder: MakeEmbedder) -> None:
    def script(call: Call) -> Answer:
        assert isinstance(call.body, dict)
        count = len(str(call.body["input"]).split(","))
        return embeddings_answer([[1.0] * (2 if count == 128 else 3)] * count)

    with OpenAIServer(embeddings=script) as server, pytest.raises(OpenAIError, match="different lengths: 2, 3"):
        run_sync(embedder(server).embed(["x"] * 130))


def test_an_error_of_the_server_names_the_embedder(embedder: MakeEmbedder) -> None:
    answer = error_answer(404, "no such model")

    with OpenAIServer(embeddings=answer) as server, pytest.raises(OpenAIError, match=r"openai/embed-x at .* no such"):
        run_sync(embedder(server).embed(["a"]))
