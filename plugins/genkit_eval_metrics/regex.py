"""`genkitEval/regex`: the reference is a pattern, searched for in the output."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from genkit_eval import DataPoint, Sample, Score, Status, json_text
from genkit_eval.errors import DataError, GenkitEvalError
from genkit_eval.workers import POOL
from genkit_eval_metrics._reference import quoted, shown, text_reference

if TYPE_CHECKING:
    from regex import Pattern

__all__ = ["RegexOptions", "check_regex", "found_within", "regex"]

CALLS_ITSELF = re.compile(r"\(\?(R|&|P>|[+-]?[0-9])")
QUICK_SECONDS = 0.005
MAX_PATTERN = 10_000
WORKER_PATTERN = 2_000
WORKER_GROUPS = 100
WORKER_REPEATS = 500_000
WORKER_TEXT = 1_000_000


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
    text = json_text(point.output)
    try:
        compiled = _compiled(pattern)
        if compiled is None or len(text) > WORKER_TEXT:
            found = _search_apart(pattern, text, options.timeout_seconds)
        else:
            found = found_within(compiled, text, options.timeout_seconds)
    except TimeoutError:
        raise DataError(
            f"timeout: the pattern {quoted(pattern)} took more than {options.timeout_seconds:g} s on "
            f"{len(text)} characters: simplify it, or raise timeout_seconds"
        ) from None
    if found:
        return True
    reason = f"{quoted(pattern)} is not found in {shown(point.output) or 'null'}"
    return Score.trusted({"score": False, "status": Status.FAIL, "reason": reason})


def found_within(pattern: Pattern[str], text: str, seconds: float) -> bool:
    """Whether the pattern is found in the text.

    Raises:
        TimeoutError: the search took longer.
    """
    try:
        # holds the interpreter: handing it to another thread and back costs more than most searches
        return pattern.search(text, timeout=min(QUICK_SECONDS, seconds), concurrent=False) is not None
    except TimeoutError:
        return pattern.search(text, timeout=seconds, concurrent=True) is not None


def check_regex(sample: Sample, options: RegexOptions) -> str | None:
    """Why the sample's reference is not a usable pattern, or None."""
    try:
        pattern = text_reference(sample, "a pattern")
        if _compiled(pattern) is None:
            _search_apart(pattern, "", options.timeout_seconds)
    except TimeoutError:
        return f"reference takes more than {options.timeout_seconds:g} s to compile as a pattern: simplify it"
    except GenkitEvalError as problem:
        return str(problem)
    return None


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> Pattern[str] | None:
    """The compiled pattern, or None for one that had better be compiled and searched in a worker process.

    Compiling has no time limit, `a{1000000}` is unrolled (a gigabyte and a second), and how deep groups may nest
    depends on how deep the caller's stack is.
    """
    if len(pattern) > MAX_PATTERN:
        raise DataError(f"reference has {len(pattern)} characters: a pattern may have {MAX_PATTERN}")
    groups = pattern.count("(") + pattern.count("[")
    if CALLS_ITSELF.search(pattern) or len(pattern) > WORKER_PATTERN or groups > WORKER_GROUPS:
        return None
    if _unrolled(pattern) > WORKER_REPEATS:
        return None
    # 20 ms, which a run without this metric need not pay
    import regex as library

    try:
        return library.compile(pattern)
    except library.error as problem:
        raise _invalid(pattern, str(problem)) from problem
    except RecursionError:
        raise _invalid(pattern, "it nests too deeply") from None
    except ValueError as problem:
        raise _invalid(pattern, str(problem)) from problem


def _unrolled(pattern: str) -> float:
    """No fewer than the nodes that the repeats of a pattern unroll to; much more than that for a long sequence."""
    counts = (float(count) for braces in re.findall(r"\{[^{}]*", pattern) for count in re.findall(r"[0-9]+", braces))
    return len(pattern) * math.prod(count for count in counts if count > 1)


def _search_apart(pattern: str, text: str, seconds: float) -> bool:
    reply = POOL.call("regex", pattern, text, seconds=seconds)
    if "invalid" in reply:
        raise _invalid(pattern, reply["error"])
    if "error" in reply:
        raise DataError(f"the pattern {quoted(pattern)}: {reply['error']}")
    return bool(reply["found"])


def _invalid(pattern: str, problem: str) -> DataError:
    return DataError(f"reference is not a valid pattern: {problem}, in {quoted(pattern)}")
