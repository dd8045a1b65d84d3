"""Draws rankings and writes down what ranx makes of them: `python -m tests.plugins.heuristics.record_ranx`.

ranx is not installed with the tests, as it compiles for half a minute; its figures stand in `tests/data`.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

RANKINGS = Path(__file__).parents[2] / "data" / "ranx_rankings.jsonl"
NAMES = {
    "recall": "recall",
    "precision": "precision",
    "mrr": "reciprocal_rank",
    "ndcg": "ndcg",
    "ndcg_burges": "ndcg_exponential",
    "map": "average_precision",
    "hit_rate": "hit_rate",
}


def _row(number: int, rng: random.Random) -> dict[str, object]:
    from ranx import Qrels, Run, evaluate

    documents = [f"d{n}" for n in range(rng.randint(2, 20))]
    relevant = rng.sample(documents, rng.randint(1, min(6, len(documents))))
    grades = {name: (rng.randint(1, 4) if number % 2 else 1) for name in relevant}
    retrieved = rng.sample(documents, rng.randint(1, len(documents)))
    k = rng.choice([None, 1, 2, 3, 5, 10])
    run = Run({"q": {name: float(len(retrieved) - rank) for rank, name in enumerate(retrieved)}})
    cut = "" if k is None else f"@{k}"
    found = evaluate(Qrels({"q": grades}), run, [name + cut for name in NAMES])
    expected = {NAMES[name.partition("@")[0]]: round(float(value), 9) for name, value in found.items()}
    return {"retrieved": retrieved, "grades": grades, "k": k, "expected": expected}


if __name__ == "__main__":
    draw = random.Random(20)
    rows = [json.dumps(_row(number, draw), separators=(",", ":")) for number in range(150)]
    RANKINGS.write_text("\n".join(rows) + "\n", encoding="utf-8")
