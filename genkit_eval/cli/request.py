"""What a verb is asked to evaluate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from genkit_eval.app import FROM_DATASET
from genkit_eval.engine import Budget, DataFile, Limits, Repeats, Selection
from genkit_eval.registry import EvaluatorRef
from genkit_eval.types import Sample

__all__ = ["Request"]


@dataclass(frozen=True)
class Request:
    """What is to be evaluated: see `GenkitEval.evaluate`, and `GenkitEval.rescore` where a run's outputs are."""

    data: str | Path | DataFile | Sequence[Sample] | None = None
    target: Any = FROM_DATASET
    evaluators: Sequence[EvaluatorRef] | None = None
    select: Selection = field(default_factory=Selection)
    limits: Limits | None = None
    budget: Budget | None = None
    repeats: Repeats | None = None
    resume: str | None = None
    rescore: str | None = None
    yes: bool = False
    """Whether models may be paid for without asking."""
