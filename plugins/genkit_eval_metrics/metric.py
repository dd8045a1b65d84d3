"""A judged metric of texts: question, answer, context and reference of a data point."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from genkit_eval import DataPoint, Score
from genkit_eval.judged import Instruments, JudgedMetric, files_of, sighted
from genkit_eval_metrics.reading import FIELDS, Beside, ReadingOptions, Texts, expression_problem, read

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
    beside: Beside | None,
    by_text: bool = False,
    check: Callable[[Any, Instruments], str | None] | None = None,
    **more: Any,
) -> JudgedMetric:
    """The metric `genkitEval/name`.

    Args:
        prompts: the file of each step's prompt, without its ending.
        reads: without which of the texts there is nothing to judge.
        beside: with which of the texts attached files are shown, as `read` has it.
        by_text: whether the answer is taken apart or measured, which an image that it consists of cannot be.
        more: as `JudgedMetric` has them.
    """

    reads_answer = "answer" in reads

    async def texts(point: DataPoint, options: ReadingOptions) -> Texts:
        files = await files_of(point, attached=beside is not None, answer=reads_answer)
        if by_text:
            files.require_text()
        return await read(point, options, needs=reads, files=files, beside=beside)

    def problem(options: Any, use: Instruments) -> str | None:
        return expression_problem(options) or (check(options, use) if check is not None else None)

    metric = JudgedMetric(
        name=f"{NAMESPACE}{name}",
        read=texts,
        score=score,
        prompts={step: PROMPTS / f"{file}.prompt" for step, file in prompts.items()},
        reads=(*(FIELDS[item] for item in reads), *(("attachments",) if beside is not None else ())),
        # the context may also lie in the input or the output, and an answer may be files alone
        requires=tuple(FIELDS[item] for item in reads if item not in ("context", "answer")),
        check=problem,
        **more,
    )
    return sighted(metric, attached=beside is not None, answer=reads_answer)
