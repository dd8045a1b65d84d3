"""What a judged metric is: a function of what it reads of a data point, and what it works with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

import anyio
from pydantic import BaseModel, ConfigDict, JsonValue

from genkit_eval.claims import ClaimVerdict
from genkit_eval.errors import ConfigError
from genkit_eval.judge import Judge
from genkit_eval.judged.embedding import Embedding
from genkit_eval.judged.panel import By
from genkit_eval.prompts import Prompt
from genkit_eval.types import DataPoint, Finding, Score, Status

__all__ = [
    "NONE",
    "Answer",
    "Instruments",
    "JudgedMetric",
    "NothingToJudge",
    "claim_score",
    "judged",
    "side_by_side",
]

T = TypeVar("T")

NONE = "(none)"
"""What a prompt shows in place of a text that is not there."""
AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class Instruments:
    """What a metric works with: its prompts by step, its judge, and an embedder where there is one.

    `others` are the further judges of a panel, which decides `by` majority or mean; a metric is given one at a time.
    """

    prompts: Mapping[str, Prompt]
    own_judge: Judge | None = None
    embedder: Embedding | None = None
    others: tuple[Judge, ...] = ()
    by: By = "majority"

    @property
    def judge(self) -> Judge:
        """The judge.

        Raises:
            ConfigError: there is none.
        """
        if self.own_judge is None:
            raise ConfigError("no judge was given")
        return self.own_judge

    @property
    def judges(self) -> tuple[Judge, ...]:
        """All judges, in the order in which they were given."""
        return () if self.own_judge is None else (self.own_judge, *self.others)

    def check(self) -> None:
        """Find out, before anything is paid for, what would keep judges and embedder from working.

        Raises:
            GenkitEvalError: there is no judge or embedder of that name, it does not take its options, or has no key.
        """
        for judge in self.judges:
            judge.check()
        if self.embedder is not None:
            self.embedder.check()


class NothingToJudge(Exception):
    """There is nothing to read, or the measure is undefined here; its text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedMetric:
    """A metric that reads a data point and asks a judge, an embedder or both."""

    name: str
    """With its namespace."""
    read: Callable[[DataPoint, Any], Awaitable[Any]]
    """What of a data point is scored, with the options; raises `NothingToJudge`."""
    score: Callable[[Any, Any, Instruments], Awaitable[Score]]
    """The score of what was read, with the options; may raise `NothingToJudge` too."""
    options: type[BaseModel]
    prompts: Mapping[str, Path | Prompt]
    """Each step's prompt, or its file."""
    reads: tuple[str, ...]
    """The fields of a data point that it looks at."""
    requires: tuple[str, ...] = ()
    """Those that must be there."""
    display_name: str
    definition: str
    formula: str = "1"
    """To be raised whenever the same replies may come to another score."""
    direction: Literal["maximize", "minimize"] = "maximize"
    embedder: Literal["unused", "optional", "required"] = "unused"
    judge: bool = True
    check: Callable[[Any, Instruments], str | None] | None = None
    """Why it cannot run with these options, or None."""
    decide: Callable[[float, Any], Score] | None = None
    """The score that a number is with these options: what the mean of several judges comes to."""
    bound: Callable[[], JudgedMetric] | None = None
    """Called when a run is planned: itself, with what it reads beside the cases (a dataset, say) looked up."""
    metadata: Mapping[str, JsonValue] = field(default_factory=dict)
    """What else it says about itself."""

    @property
    def bare_name(self) -> str:
        """Its name without the namespace."""
        return self.name.rpartition("/")[2]


class Answer(BaseModel):
    """What a judge is asked for; built when it is first used, as building the forms of all metrics takes a while."""

    model_config = ConfigDict(defer_build=True)


def judged(score: float, *, passed: bool | None, reason: str, **more: object) -> Score:
    """A score with PASS or FAIL; without either where nothing says what passes."""
    status = Status.UNKNOWN if passed is None else Status.PASS if passed else Status.FAIL
    return Score.scored(score, reason=reason, status=status, **more)


def claim_score(
    score: float,
    verdicts: Sequence[ClaimVerdict],
    what: str,
    *,
    passed: bool | None,
    details: Mapping[str, JsonValue] | None = None,
) -> Score:
    """The score of single verdicts: which hold is told in the reason, each is a finding.

    Args:
        score: made from them.
        verdicts: at least one.
        what: goes on after "3 of 4 statements".
        passed: PASS, FAIL, or neither.
        details: further ones.
    """
    parts = max(item.parts for item in verdicts)
    against = [item for item in verdicts if not item.verdict]
    reason = f"{len(verdicts) - len(against)} of {len(verdicts)} {what}"
    if against:
        more = f" (and {len(against) - 1} more)" if len(against) > 1 else ""
        reason += f"; not: {against[0].statement} {against[0].reason}".rstrip() + more
    if parts > 1:
        reason += f"; the context was read in {parts} parts, as the judge cannot read it at once"
        details = {**(details or {}), "contextParts": parts}
    findings = [
        Finding.trusted({"text": item.statement, "passed": item.verdict, "reason": item.reason}) for item in verdicts
    ]
    more_values = {"details": dict(details)} if details else {}
    return judged(score, passed=passed, reason=reason, findings=findings, **more_values)


async def side_by_side(calls: Sequence[Callable[[], Awaitable[T]]]) -> list[T]:
    """What the calls give, in their order; up to eight wait at once. The first problem ends them all and is raised."""
    results: dict[int, T] = {}
    limiter = anyio.CapacityLimiter(AT_ONCE)

    async def run(index: int) -> None:
        async with limiter:
            results[index] = await calls[index]()

    try:
        async with anyio.create_task_group() as group:
            for index in range(len(calls)):
                group.start_soon(run, index)
    except BaseExceptionGroup as problems:
        # one of them is what callers expect; the others are its like, or cancelled
        raise problems.exceptions[0] from None
    return [results[index] for index in range(len(calls))]
