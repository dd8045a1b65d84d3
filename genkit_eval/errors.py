"""What can go wrong, as one tree of exceptions.

GenkitEvalError
├── ConfigError            what was asked for does not exist or does not fit (exit code 2)
│   ├── UnknownName        a flow, evaluator, model … nobody defined; names the nearest
│   ├── NotGiven           something was left out that nobody can guess
│   ├── Unprepared         an evaluator lacks what is made once, before the first run that names it
│   ├── DuplicateName      two parties define the same name; names both
│   └── InvalidOptions     an evaluator's options do not fit its options model
├── DataError              a dataset or its file is not usable (exit code 2)
│   ├── DataFileError      problems in one file, each with its place
│   └── NotJson            a value that JSON cannot hold (NaN, a set with mixed types, a cycle …)
├── ModelError             a model or embedder gave no usable reply; `kind` says which way
│   ├── JudgeError         a judge gave no usable answer
│   └── TargetError        an endpoint or a command, called as a target, gave no usable output
└── StoreError             a dataset or run could not be read or kept
    ├── InvalidId          an id that cannot become a file name
    ├── NotFound           no such dataset, version or run
    ├── AlreadyExists      create met something that is there
    ├── VersionConflict    a dataset moved on since it was read
    ├── RunConflict        a run moved on since it was read
    ├── RunInUse           another process holds the run's journal
    └── CorruptFile        a file that should be JSON of ours is not
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NoReturn

__all__ = [
    "AlreadyExists",
    "ConfigError",
    "CorruptFile",
    "DataError",
    "DataFileError",
    "DuplicateName",
    "GenkitEvalError",
    "InvalidId",
    "InvalidOptions",
    "JudgeError",
    "ModelError",
    "ModelErrorKind",
    "NotFound",
    "NotGiven",
    "NotJson",
    "Problem",
    "RunConflict",
    "RunInUse",
    "StoreError",
    "TargetError",
    "UnknownName",
    "Unprepared",
    "VersionConflict",
    "no_constant",
    "shortened",
]

SHOWN_PROBLEMS = 20
NEAREST = 3
MUCH_LESS_ALIKE = 0.15


def _question(name: str, known: Sequence[str]) -> str:
    """Whether one of those that are most like it was meant; nothing where none is like it."""
    near = _nearest(name, known)
    return "did you mean " + " or ".join(f"'{n}'" for n in near) + "?" if near else ""


def _nearest(name: str, known: Sequence[str]) -> list[str]:
    """Those that were probably meant: "genkitEval/regex" by "regex", else the most alike."""
    # 2 ms, which only a mistake need cost
    from difflib import SequenceMatcher, get_close_matches

    same = [one for one in known if "/" not in name and one.lower().endswith(f"/{name.lower()}")]
    if same:
        return sorted(same, key=lambda one: (not one.endswith(name), one.lower()))[:NEAREST]
    found = get_close_matches(name, known, n=NEAREST, cutoff=0.5)
    alike = {one: SequenceMatcher(None, one, name).ratio() for one in found}
    return [one for one in found if alike[one] > alike[found[0]] - MUCH_LESS_ALIKE]


def shortened(text: str, most: int = 80) -> str:
    """A text as messages show it: whole, or its beginning and "…"."""
    return text if len(text) <= most else f"{text[:most]}…"


def no_constant(name: str) -> NoReturn:
    """For `json`, as its `parse_constant`: what Python writes for NaN and infinity is refused.

    Raises:
        ValueError: always.
    """
    raise ValueError(f"{name} is not JSON")


class GenkitEvalError(Exception):
    """Anything this package raises on purpose."""


class ConfigError(GenkitEvalError):
    """What was asked for does not exist or does not fit together."""


class UnknownName(ConfigError):
    """A name that nobody defined."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.kind, self.name = kind, name
        names = sorted(known)
        advice = _question(name, names)
        if not advice and names:
            shown = ", ".join(f"'{n}'" for n in names[:10])
            advice = f"defined are {shown}" + (f" and {len(names) - 10} more" if len(names) > 10 else "")
        elif not names:
            advice = f"no {kind} is defined: define one, or load the app or plugin that does"
        super().__init__(f"unknown {kind} '{name}': {advice}")


class NotGiven(ConfigError):
    """Something was left out that nobody can guess: `what` names it, so that each front end can say how to give it."""

    def __init__(self, what: str, problem: str, *, advice: str) -> None:
        self.what, self.problem = what, problem
        super().__init__(f"{problem}: {advice}")


class DuplicateName(ConfigError):
    """Two parties define the same name."""

    def __init__(self, kind: str, name: str, *, first: str, second: str) -> None:
        self.kind, self.name = kind, name
        super().__init__(f"{kind} '{name}' is defined twice: by {first} and by {second}; rename one of them")


class Unprepared(ConfigError):
    """An evaluator lacks what is made once, before the first run that names it; nothing else is wrong with the run."""

    def __init__(self, name: str, needs: str) -> None:
        self.name = name
        super().__init__(f"evaluator '{name}' {needs}")


class InvalidOptions(ConfigError):
    """An evaluator's options do not fit its options model."""

    def __init__(self, evaluator: str, problem: str) -> None:
        self.evaluator = evaluator
        super().__init__(f"options of evaluator '{evaluator}': {problem}")


class DataError(GenkitEvalError):
    """A dataset, or a value in it, is not usable."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong in a file: where, and what was found and expected."""

    message: str
    line: int | None = None
    field: str | None = None
    sample: str | None = None

    def __str__(self) -> str:
        line = f"line {self.line}" if self.line is not None else ""
        sample = f"sample {self.sample}" if self.sample is not None else ""
        place = ", ".join(part for part in (line, sample, self.field or "") if part)
        return f"{place}: {self.message}" if place else self.message


class DataFileError(DataError):
    """The problems of one data file; the first 20 are in the message, all of those found in `problems`."""

    def __init__(self, source: str, problems: Sequence[Problem], *, more: int = 0) -> None:
        self.source, self.problems = source, list(problems)
        hidden = max(0, len(problems) - SHOWN_PROBLEMS) + more
        shown = [str(problem) for problem in problems[:SHOWN_PROBLEMS]]
        if len(shown) == 1 and not hidden:
            super().__init__(f"{source}: {shown[0]}")
            return
        count = len(problems) + more
        lines = [f"{source}: {count} problems", *(f"  {text}" for text in shown)]
        if hidden:
            lines.append(f"  … and {hidden} more")
        super().__init__("\n".join(lines))


class NotJson(DataError):
    """A value that JSON cannot hold."""

    def __init__(self, found: str, *, where: str = "") -> None:
        self.found, self.where = found, where
        at = f" at {where}" if where else ""
        super().__init__(
            f"{found}{at} has no JSON form: expected null, booleans, finite numbers, text, lists and objects"
        )


ModelErrorKind = Literal[
    "refused",
    "length",
    "window",
    "content_filter",
    "auth",
    "quota",
    "rate_limit",
    "timeout",
    "connection",
    "bad_request",
    "server",
    "empty",
    "unparsable",
    "not_cached",
    "no_images",
    "other",
]
"""How a model call can end without a usable reply.

"length": the reply was cut off; "window": the prompt is longer than what the model can read; "not_cached": only the
cache might have answered; "other": an exception that nobody foresaw.
"""


class ModelError(GenkitEvalError):
    """A model or embedder gave no usable reply.

    Args:
        problem: what was found, what was expected and what to do; never a key.
        kind: which way it failed, for those that retry, count or stop.
        model: the name it goes by.
        text: what it replied, if anything.
        status: of HTTP; None where there was none.
        retry_after_seconds: how long the server asks to wait.
    """

    def __init__(
        self,
        problem: str,
        *,
        kind: ModelErrorKind = "other",
        model: str | None = None,
        text: str = "",
        status: int | None = None,
        retry_after_seconds: float | None = None,
    ) -> None:
        self.problem, self.kind, self.model, self.text = problem, kind, model, text
        self.status, self.retry_after_seconds = status, retry_after_seconds
        super().__init__(problem)


class JudgeError(ModelError):
    """A judge gave no usable answer: nothing can be said of what it was to judge."""

    def __str__(self) -> str:
        return f"LLM judge error: {self.problem}"


class TargetError(ModelError):
    """An endpoint or a command, called as a target, gave no usable output."""


class StoreError(GenkitEvalError):
    """A dataset or run could not be read or kept."""


class InvalidId(StoreError):
    """An id that cannot become a file name on every system."""

    def __init__(self, kind: str, value: object, reason: str) -> None:
        self.kind, self.value = kind, value
        super().__init__(
            f"{kind} id {value!r} {reason}: use 1 to 64 letters, digits, '.', '_' or '-', "
            "starting and ending with a letter or digit"
        )


class NotFound(StoreError):
    """No such dataset, version or run."""

    def __init__(self, kind: str, name: str, *, known: Iterable[str] = (), where: str = "") -> None:
        self.kind, self.name = kind, name
        question = _question(name, sorted(known))
        at = f" in {where}" if where else ""
        super().__init__(f"{kind} '{name}' does not exist{at}" + (f"; {question}" if question else ""))


class AlreadyExists(StoreError):
    """Create met something that is there already."""

    def __init__(self, kind: str, name: str, *, found: str) -> None:
        self.kind, self.name = kind, name
        super().__init__(f"{kind} '{name}' exists already ({found}): update it, or choose another id")


class VersionConflict(StoreError):
    """A dataset moved on since it was read."""

    def __init__(self, dataset_id: str, *, expected: int, found: int) -> None:
        self.dataset_id, self.expected, self.found = dataset_id, expected, found
        super().__init__(f"dataset '{dataset_id}' is at version {found}, not {expected}: read it again and retry")


class RunConflict(StoreError):
    """A run moved on since it was read."""

    def __init__(self, run_id: str, *, expected: int, found: int) -> None:
        self.run_id, self.expected, self.found = run_id, expected, found
        super().__init__(f"run '{run_id}' is at revision {found}, not {expected}: read it again and retry")


class RunInUse(StoreError):
    """Another process holds the run's journal."""

    def __init__(self, run_id: str, *, holder: str) -> None:
        self.run_id, self.holder = run_id, holder
        super().__init__(f"run '{run_id}' is in use by {holder}: wait for it to end, or stop it, then retry")


class CorruptFile(StoreError):
    """A file that should be JSON of ours is not."""

    def __init__(self, path: object, problem: str, *, advice: str = "") -> None:
        self.path = path
        super().__init__(f"{path}: {problem}" + (f"; {advice}" if advice else ""))
