"""`genkitEval/regex`: the reference is a pattern, searched for in the output."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from genkit_eval import DataPoint, Sample, Score, Status, json_text
from genkit_eval.errors import GenkitEvalError
from genkit_eval.patterns import check_pattern, pattern_found
from genkit_eval.text import shown
from genkit_eval_metrics._reference import quoted, text_reference

__all__ = ["RegexOptions", "check_regex", "regex"]


class RegexOptions(BaseModel):
    """How long a search may take."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    timeout_seconds: float = Field(default=1.0, gt=0, le=60, description="How long one search may take, in seconds.")


def regex(point: DataPoint, options: RegexOptions) -> bool | Score:
    """PASS if the pattern in the reference is found anywhere in the output.

    Syntax and meaning are those of the `regex` library, which is Python's `re` and more: `$` matches before a final
    newline too, `.` no newline, flags are written inline (`(?i)`, `(?m)`, `(?s)`). An output that is not text is
    searched as compact JSON (`{"a":1}`, `true`, `1.0`).

    Raises:
        DataError: the reference is not text, not a pattern, or the search ran out of time or memory.
    """
    pattern = text_reference(point, "a pattern")
    if pattern_found(pattern, json_text(point.output), seconds=options.timeout_seconds, name="reference"):
        return True
    reason = f"{quoted(pattern)} is not found in {shown(point.output)}"
    return Score.trusted({"score": False, "status": Status.FAIL, "reason": reason})


def check_regex(sample: Sample, options: RegexOptions) -> str | None:
    """Why the sample's reference is not a usable pattern, or None."""
    try:
        check_pattern(text_reference(sample, "a pattern"), seconds=options.timeout_seconds, name="reference")
    except GenkitEvalError as problem:
        return str(problem)
    return None
