"""A judged metric of texts: question, answer, context and reference of a data point."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from genkit_eval import DataPoint, Score
from genkit_eval.judged import Instruments, JudgedMetric
from genkit_eval_metrics.reading import FIELDS, ReadingOptions, Texts, expression_problem, read

__all__ = ["NAMESPACE", "PROMPTS", "ScoreOptions", "text_metric"]

NAMESPACE = "genkitEval/"
PROMPTS = Path(__file__).parent / "prompts"


class ScoreOptions(ReadingOptions):
    """From which score on a case passes, and where the texts are found."""

    threshold: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="PASS at this score or better; without it a case gets a score and no PASS or FAIL.",
    )


def text_metric(
    *,
    name: str,
    score: Callable[[Texts, Any, Instruments], Awaitable[Score]],
    prompts: Mapping[str, str],
    reads: tuple[Literal["question", "answer", "context", "reference"], ...],
    check: Callable[[Any, Instruments], str | None] | None = None,
    **more: Any,
) -> JudgedMetric:
    """The metric `genkitEval/name`.

    Args:
        prompts: the file of each step's prompt, without its ending.
        reads: without which of the texts there is nothing to judge.
        more: as `JudgedMetric` has them.
    """

    async def texts(point: DataPoint, options: ReadingOptions) -> Texts:
        return await read(point, options, needs=reads)

    def problem(options: Any, use: Instruments) -> str | None:
        return expression_problem(options) or (check(options, use) if check is not None else None)

    return JudgedMetric(
        name=f"{NAMESPACE}{name}",
        read=texts,
        score=score,
        prompts={step: PROMPTS / f"{file}.prompt" for step, file in prompts.items()},
        reads=tuple(FIELDS[item] for item in reads),
        # the context may also lie in the input or the output, and a judge may do without the question
        requires=tuple(FIELDS[item] for item in reads if item != "context"),
        check=problem,
        **more,
    )
