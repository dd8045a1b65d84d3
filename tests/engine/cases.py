"""What most runs of these tests need: numbered samples, and an evaluator that compares with the reference."""

from __future__ import annotations

from typing import Any

from genkit_eval import DataPoint, GenkitEval

__all__ = ["define_same", "same", "samples"]


def samples(count: int) -> list[dict[str, Any]]:
    """Samples whose input and reference is their number."""
    return [{"testCaseId": f"s{i}", "input": i, "reference": i} for i in range(count)]


def same(point: DataPoint) -> bool:
    """Whether the output is the reference."""
    return bool(point.output == point.reference)


def define_same(ge: GenkitEval) -> str:
    """Define it, and give its name."""
    ge.define_evaluator("t/same", same)
    return "t/same"
