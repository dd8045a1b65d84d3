"""`retrieval/…`: how well the retrieved ids, in their order, serve the relevant ones.

The definitions are trec_eval's. A document counts once, at its first rank. Where nothing is relevant there was
nothing to find: inconclusive. Where nothing was retrieved, every measure is 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal

from pydantic import Field

from genkit_eval import DataPoint, Finding, Score
from genkit_eval_heuristics.definition import Heuristic, Thresholded, verdict

__all__ = [
    "EVALUATORS",
    "NdcgOptions",
    "Ranking",
    "RankingOptions",
    "average_precision",
    "hit_rate",
    "ndcg",
    "precision",
    "ranking_of",
    "recall",
    "reciprocal_rank",
]

Grade = Annotated[float, Field(ge=0, le=1000, allow_inf_nan=False)]


class RankingOptions(Thresholded):
    """How far down the ranking is looked, and how relevant documents are."""

    k: int | None = Field(
        default=None, ge=1, description="Look at the first k retrieved documents; without it at all of them."
    )
    grades: Mapping[str, Grade] | None = Field(
        default=None,
        description="How relevant documents are, by id; above 0 is relevant. Ids of relevant_ids without one have 1.",
    )


class NdcgOptions(RankingOptions):
    """Also how a grade becomes a gain."""

    gain: Literal["linear", "exponential"] = Field(
        default="linear", description="linear: the grade itself, as trec_eval has it; exponential: 2^grade - 1."
    )


@dataclass(frozen=True, slots=True)
class Ranking:
    """What was retrieved, seen through what is relevant.

    `gains` holds the grade of each retrieved document by rank, 0 for one that is not relevant, cut at `k`;
    `relevant` the grades of all relevant documents, the best first.
    """

    gains: Sequence[float]
    relevant: Sequence[float]
    k: int | None = None

    @property
    def hits(self) -> int:
        """How many of the retrieved documents are relevant."""
        return sum(1 for gain in self.gains if gain > 0)


def ranking_of(retrieved: Sequence[str], grades: Mapping[str, float], k: int | None = None) -> Ranking:
    """The ranking of retrieved ids by grades; a repeated id counts at its first rank only."""
    ids = list(dict.fromkeys(retrieved))[:k]
    relevant = sorted((grade for grade in grades.values() if grade > 0), reverse=True)
    return Ranking(gains=[grades.get(name, 0.0) for name in ids], relevant=relevant, k=k)


def recall(ranking: Ranking) -> float:
    """Relevant documents among the first k / all relevant documents, 0 to 1, higher is better.

    Source: trec_eval's recall_k.
    """
    return ranking.hits / len(ranking.relevant)


def precision(ranking: Ranking) -> float:
    """Relevant documents among the first k / k (without k: / all retrieved), 0 to 1, higher is better.

    Where fewer than k were retrieved the missing ones count as not relevant. Source: trec_eval's P_k.
    """
    size = ranking.k or len(ranking.gains)
    return ranking.hits / size if size else 0.0


def reciprocal_rank(ranking: Ranking) -> float:
    """1 / rank of the first relevant document, 0 if none is among the first k; 0 to 1, higher is better.

    Source: trec_eval's recip_rank; its mean over cases is MRR.
    """
    return next((1 / rank for rank, gain in enumerate(ranking.gains, 1) if gain > 0), 0.0)


def average_precision(ranking: Ranking) -> float:
    """Sum of precision at the rank of each relevant document / all relevant documents, 0 to 1, higher is better.

    Source: trec_eval's map and map_cut_k (before the mean over cases).
    """
    found, total = 0, 0.0
    for rank, gain in enumerate(ranking.gains, 1):
        if gain > 0:
            found += 1
            total += found / rank
    return total / len(ranking.relevant)


def hit_rate(ranking: Ranking) -> float:
    """1 if a relevant document is among the first k, else 0. Source: trec_eval's success_k."""
    return 1.0 if ranking.hits else 0.0


def ndcg(ranking: Ranking, *, gain: Literal["linear", "exponential"] = "linear") -> float:
    """DCG / DCG of the best possible ranking of all relevant documents, both cut at k; 0 to 1, higher is better.

    DCG is the sum of gain / log2(rank + 1). Source: trec_eval's ndcg and ndcg_cut_k (linear gain), Burges et al. 2005
    (exponential gain).
    """
    ideal = ranking.relevant[: ranking.k]
    return _dcg(ranking.gains, gain) / _dcg(ideal, gain)


def _dcg(gains: Sequence[float], gain: str) -> float:
    if gain == "exponential":
        gains = [2**value - 1 for value in gains]
    return sum(value / math.log2(rank + 1) for rank, value in enumerate(gains, 1) if value > 0)


def _grades(point: DataPoint, options: RankingOptions) -> Mapping[str, float] | None:
    """How relevant each listed document is; None where nothing says so."""
    if point.relevant_ids is None:
        return options.grades
    return {**dict.fromkeys(point.relevant_ids, 1.0), **(options.grades or {})}


def _findings(retrieved: Sequence[str], grades: Mapping[str, float], k: int | None) -> list[Finding]:
    """One for each relevant document: at which rank it was found, if it was."""
    ranks = {name: rank for rank, name in enumerate(dict.fromkeys(retrieved), 1)}
    return [_finding(name, ranks.get(name), k) for name, grade in grades.items() if grade > 0]


def _finding(name: str, rank: int | None, k: int | None) -> Finding:
    if rank is None:
        return Finding.trusted({"text": name, "passed": False, "reason": "not retrieved"})
    inside = k is None or rank <= k
    reason = f"rank {rank}" if inside else f"rank {rank}, beyond the first {k}"
    return Finding.trusted({"text": name, "passed": inside, "reason": reason, "details": {"rank": rank}})


def _score(formula: Callable[[Ranking], float], point: DataPoint, options: RankingOptions) -> Score:
    grades = _grades(point, options)
    if grades is None:
        return Score.inconclusive(reason="no relevant_ids were given")
    retrieved = point.retrieved_ids or ()
    ranking = ranking_of(retrieved, grades, options.k)
    if not ranking.relevant:
        return Score.inconclusive(reason="nothing relevant is listed: there was nothing to find")
    where = "retrieved" if options.k is None else f"among the first {options.k} retrieved"
    reason = f"{ranking.hits} of {len(ranking.relevant)} relevant documents {where}"
    if len(set(retrieved)) < len(retrieved):
        reason += "; a repeated document counts once"
    return verdict(formula(ranking), options, reason=reason, findings=_findings(retrieved, grades, options.k))


def _ndcg(point: DataPoint, options: NdcgOptions) -> Score:
    return _score(partial(ndcg, gain=options.gain), point, options)


def _evaluator(
    name: str, formula: Callable[[Ranking], float], text: str, definition: str, *, akka: str | None = None
) -> Heuristic:
    return Heuristic(
        name=f"retrieval/{name}",
        fn=_ndcg if formula is ndcg else partial(_score, formula),
        options=NdcgOptions if formula is ndcg else RankingOptions,
        display_name=f"Retrieval {name.replace('_', ' ')}" if formula is not ndcg else "nDCG",
        definition=definition,
        formula=text,
        source="trec_eval",
        kind="heuristic",
        requires=("retrieved_ids",),
        reads=("relevant_ids", "custom"),
        custom=("grades",),
        aliases={f"akka/{akka}": {}} if akka else {},
    )


EVALUATORS = (
    _evaluator(
        "recall",
        recall,
        "relevant among the first k / relevant",
        "The relevant documents were retrieved.",
        akka="ContextRecall",
    ),
    _evaluator(
        "precision",
        precision,
        "relevant among the first k / k (without k: / retrieved)",
        "What was retrieved is relevant.",
        akka="ContextPrecision",
    ),
    _evaluator(
        "reciprocal_rank",
        reciprocal_rank,
        "1 / rank of the first relevant document",
        "A relevant document stands near the top.",
        akka="ReciprocalRank",
    ),
    _evaluator(
        "ndcg",
        ndcg,
        "DCG / ideal DCG, DCG = sum of gain / log2(rank + 1)",
        "The more relevant a document, the nearer the top it stands.",
        akka="NormalizedDiscountedCumulativeGain",
    ),
    _evaluator(
        "average_precision",
        average_precision,
        "sum of precision at each relevant rank / relevant",
        "The relevant documents stand before the others.",
    ),
    _evaluator(
        "hit_rate",
        hit_rate,
        "1 if a relevant document is among the first k, else 0",
        "Some relevant document was found.",
    ),
)
"""The evaluators of this module."""
