"""What a judged metric is: a function of texts, and what it works with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import anyio

from genkit_eval import Embedder, Finding, Score, Status
from genkit_eval.claims import ClaimVerdict
from genkit_eval.errors import ConfigError, ModelError
from genkit_eval.judge import Judge
from genkit_eval.models import model_name
from genkit_eval.prompts import Prompt
from genkit_eval.vectors import cosine
from genkit_eval_metrics.reading import ReadingOptions, Texts

__all__ = ["NONE", "Instruments", "JudgedMetric", "findings_of", "judged", "side_by_side", "told"]

T = TypeVar("T")

NONE = "(none)"
"""What a prompt shows in place of a text that is not there."""
AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class Instruments:
    """What a metric works with: its prompts by step, its judge, and an embedder where there is one."""

    prompts: Mapping[str, Prompt]
    own_judge: Judge | None = None
    embedder: Embedder | None = None

    @property
    def judge(self) -> Judge:
        """The judge.

        Raises:
            ConfigError: there is none.
        """
        if self.own_judge is None:
            raise ConfigError("no judge was given: give genkit_metrics(judge=…)")
        return self.own_judge

    async def similarities(self, text: str, others: Sequence[str]) -> list[float]:
        """The cosine of each of the others with the text, by one call of the embedder.

        Raises:
            ModelError: not one vector a text, or one without direction.
        """
        if self.embedder is None:
            raise ConfigError("no embedder was given: give genkit_metrics(embedder=…)")
        first, *rest = vectors = await self.embedder.embed([text, *others])
        name = model_name(self.embedder)
        if len(vectors) != len(others) + 1:
            raise ModelError(f"embedder '{name}' gave {len(vectors)} vectors for {len(others) + 1} texts", model=name)
        try:
            return [cosine(first, other) for other in rest]
        except ValueError as problem:
            raise ModelError(f"embedder '{name}': {problem}", model=name) from problem


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedMetric:
    """A metric that reads texts and asks a judge, an embedder or both."""

    name: str
    score: Callable[[Texts, Any, Instruments], Awaitable[Score]]
    options: type[ReadingOptions]
    prompts: Mapping[str, str]
    """The file of each step's prompt, without its ending."""
    reads: tuple[Literal["question", "answer", "context", "reference"], ...]
    """Without which of the texts there is nothing to judge."""
    display_name: str
    definition: str
    formula: str = "1"
    """To be raised whenever the same replies may come to another score."""
    direction: Literal["maximize", "minimize"] = "maximize"
    embedder: Literal["unused", "optional", "required"] = "unused"
    judge: bool = True


def judged(score: float, *, passed: bool, reason: str, **more: object) -> Score:
    """A score with PASS or FAIL."""
    return Score.scored(score, reason=reason, status=Status.PASS if passed else Status.FAIL, **more)


def findings_of(verdicts: Sequence[ClaimVerdict]) -> list[Finding]:
    """Each statement with its verdict and the reason."""
    return [Finding(text=item.statement, passed=item.verdict, reason=item.reason) for item in verdicts]


def told(verdicts: Sequence[ClaimVerdict], what: str) -> str:
    """The verdicts in a sentence: how many hold, and which does not, first of all."""
    against = [item for item in verdicts if not item.verdict]
    count = f"{len(verdicts) - len(against)} of {len(verdicts)} statements {what}"
    if not against:
        return count
    more = f" (and {len(against) - 1} more)" if len(against) > 1 else ""
    return f"{count}; not: {against[0].statement} {against[0].reason}".rstrip() + more


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
