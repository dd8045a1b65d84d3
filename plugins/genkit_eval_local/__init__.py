"""What works with no key and no network: metrics that count words, and an embedder.

ge = GenkitEval(plugins=[local_metrics()])
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from genkit_eval import DataPoint, Embedder, Model, Plugin, Registry, Score
from genkit_eval.errors import ConfigError, GenkitEvalError, UnknownName
from genkit_eval.models import model_name
from genkit_eval_local.gguf import GgufModel
from genkit_eval_local.gguf_settings import GgufSettings
from genkit_eval_local.overlap import ShareOptions, answer_overlap, ngram_grounding, reference_recall
from genkit_eval_local.similarity import SimilarityOptions, embedding_similarity
from genkit_eval_local.use_multilingual import MISSING, UseMultilingual, is_installed

__all__ = ["GgufModel", "GgufSettings", "ShareOptions", "SimilarityOptions", "UseMultilingual", "local_metrics"]

# to be raised whenever the same data point may come to another score
VERSION = "1"
WORDS_VERSION = "2"
"""The same for those that count words."""


@dataclass(frozen=True, slots=True)
class _Metric:
    fn: Callable[[DataPoint, ShareOptions], Score]
    against: str
    display_name: str
    definition: str


_METRICS: Mapping[str, _Metric] = {
    "reference_recall": _Metric(
        reference_recall, "reference", "Reference recall", "The share of the reference's words that are in the answer."
    ),
    "ngram_grounding": _Metric(
        ngram_grounding,
        "context",
        "N-gram grounding",
        "The share of the answer's words and word pairs that are in the context: the mean of both.",
    ),
    "answer_overlap": _Metric(
        answer_overlap, "reference", "Answer overlap", "The F1 of the words of answer and reference."
    ),
}


def local_metrics(*, embedder: str | Embedder | None = None, gguf: GgufSettings | None = None) -> Plugin:
    """The plugin that defines metrics `local/…`, the embedder `local/use-multilingual` and models `local/gguf:PATH`.

    Args:
        embedder: of `local/embedding_similarity`, by name or itself; without it `local/use-multilingual`, which needs
            the extra `local`. The other metrics need none.
        gguf: how the models `local/gguf:PATH` are served; they need the extra `gguf`.

    Raises:
        ConfigError: what was given is no embedder.
    """
    if not isinstance(embedder, str | Embedder | None):
        raise ConfigError(
            f"{embedder!r} cannot be an embedder: expected 'provider/name', or an object with an async method 'embed'"
        )

    def model(name: str) -> Model:
        kind, _, path = name.partition(":")
        if kind != "gguf" or not path:
            raise UnknownName("model", f"local/{name}", ["local/gguf:PATH"])
        return GgufModel(path, gguf)

    def setup(registry: Registry) -> None:
        registry.define_models("local", model)
        registry.define_embedders("local", {"use-multilingual": UseMultilingual()})
        for name, metric in _METRICS.items():
            _define(registry, name, metric)
        _define_similarity(registry, embedder)

    return Plugin("local", setup, "Metrics, an embedder and models that need no key and no network")


def _define(registry: Registry, name: str, metric: _Metric) -> None:
    registry.define_evaluator(
        f"local/{name}",
        metric.fn,
        options=ShareOptions,
        requires=("output", metric.against),
        non_empty=("output", metric.against),
        low=0,
        high=1,
        kind="heuristic",
        version=WORDS_VERSION,
        display_name=metric.display_name,
        definition=metric.definition,
    )


def _define_similarity(registry: Registry, given: str | Embedder | None) -> None:
    chosen = UseMultilingual.name if given is None else given

    def embedder() -> Embedder:
        return registry.embedder(chosen) if isinstance(chosen, str) else chosen

    def problem(_: SimilarityOptions) -> str | None:
        try:
            embedder()
        except GenkitEvalError as found:
            return str(found)
        return None

    name = chosen if isinstance(chosen, str) else model_name(chosen)
    needs = None
    if chosen == UseMultilingual.name and not is_installed():
        needs = f"needs an embedder: {MISSING}, or give local_metrics(embedder='provider/model')"
    registry.define_evaluator(
        "local/embedding_similarity",
        embedding_similarity(embedder),
        options=SimilarityOptions,
        requires=("output", "reference"),
        non_empty=("output", "reference"),
        low=-1,
        high=1,
        kind="heuristic",
        version=f"{VERSION}+{name}",
        # its own is no setting: a run that goes on must not hand it to other plugins
        metadata=None if given is None else {"models": {"embedder": name}},
        display_name="Embedding similarity",
        definition=f"The cosine of the vectors of answer and reference, by {name}.",
        check_options=problem,
        needs=needs,
    )
