"""Regular expressions from outside: programs, whose search has a time limit in a way that really stops it.

Syntax and meaning are those of the `regex` library, which is Python's `re` and more.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from genkit_eval.errors import DataError, shortened
from genkit_eval.workers import POOL

if TYPE_CHECKING:
    from regex import Pattern

__all__ = ["check_pattern", "found_within", "pattern_found"]

CALLS_ITSELF = re.compile(r"\(\?(R|&|P>|[+-]?[0-9])")
QUICK_SECONDS = 0.005
MAX_PATTERN = 10_000
WORKER_PATTERN = 2_000
WORKER_GROUPS = 100
WORKER_REPEATS = 500_000
WORKER_TEXT = 1_000_000


def pattern_found(pattern: str, text: str, *, seconds: float, name: str) -> bool:
    """Whether the pattern, which messages call by this name, is found anywhere in the text.

    Raises:
        DataError: it is no pattern, or the search ran out of time or memory.
    """
    try:
        compiled = _compiled(pattern, name)
        if compiled is None or len(text) > WORKER_TEXT:
            return _search_apart(pattern, text, seconds, name)
        return found_within(compiled, text, seconds)
    except TimeoutError:
        raise DataError(
            f"timeout: the pattern {_quoted(pattern)} took more than {seconds:g} s on {len(text)} characters: "
            "simplify it, or raise timeout_seconds"
        ) from None


def check_pattern(pattern: str, *, seconds: float, name: str) -> None:
    """Compile the pattern.

    Raises:
        DataError: it is no pattern, or takes too long to compile.
    """
    try:
        if _compiled(pattern, name) is None:
            _search_apart(pattern, "", seconds, name)
    except TimeoutError:
        raise DataError(f"{name} takes more than {seconds:g} s to compile as a pattern: simplify it") from None


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


@lru_cache(maxsize=512)
def _compiled(pattern: str, name: str) -> Pattern[str] | None:
    """The compiled pattern, or None for one that had better be compiled and searched in a worker process.

    Compiling has no time limit, `a{1000000}` is unrolled (a gigabyte and a second), and how deep groups may nest
    depends on how deep the caller's stack is.
    """
    if len(pattern) > MAX_PATTERN:
        raise DataError(f"{name} has {len(pattern)} characters: a pattern may have {MAX_PATTERN}")
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
        raise _invalid(pattern, name, str(problem)) from problem
    except RecursionError:
        raise _invalid(pattern, name, "it nests too deeply") from None
    except ValueError as problem:
        raise _invalid(pattern, name, str(problem)) from problem


def _unrolled(pattern: str) -> float:
    """No fewer than the nodes that the repeats of a pattern unroll to; much more than that for a long sequence."""
    counts = (float(count) for braces in re.findall(r"\{[^{}]*", pattern) for count in re.findall(r"[0-9]+", braces))
    return len(pattern) * math.prod(count for count in counts if count > 1)


def _search_apart(pattern: str, text: str, seconds: float, name: str) -> bool:
    reply = POOL.call("regex", pattern, text, seconds=seconds)
    if "invalid" in reply:
        raise _invalid(pattern, name, reply["error"])
    if "error" in reply:
        raise DataError(f"the pattern {_quoted(pattern)}: {reply['error']}")
    return bool(reply["found"])


def _invalid(pattern: str, name: str, problem: str) -> DataError:
    return DataError(f"{name} is not a valid pattern: {problem}, in {_quoted(pattern)}")


def _quoted(pattern: str) -> str:
    return f"'{shortened(pattern)}'"
