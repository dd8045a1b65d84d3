"""What a judge can take in: the images of a case, and no more text than it can read at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from genkit_eval.errors import JudgeError
from genkit_eval.judged.evidence import Files, files_of
from genkit_eval.judged.inline import with_files_apart
from genkit_eval.judged.metric import Instruments, JudgedMetric, NothingToJudge
from genkit_eval.text import text_of
from genkit_eval.types import DataPoint, Score

__all__ = ["sighted"]


def sighted(metric: JudgedMetric, *, attached: bool = True, answer: bool = True) -> JudgedMetric:
    """The metric, whose judge sees the images of a case: those attached to it, those of the answer, or both.

    Files that stand in the middle of a case, as addresses of data, are among them. Its score is inconclusive where
    there are some and the judge takes none. A case that is more than the judge can read at once, and cannot be read in
    parts, is refused with how much it is.
    """

    async def read(point: DataPoint, options: Any) -> tuple[DataPoint, Any, Files]:
        point = with_files_apart(point)
        return point, await metric.read(point, options), await files_of(point, attached=attached, answer=answer)

    async def score(found: tuple[DataPoint, Any, Files], options: Any, use: Instruments) -> Score:
        point, value, files = found
        if files.images:
            use = replace(use, own_judge=replace(use.judge, images=files.images))
            if use.judge.sees is False:
                raise _blind(use.judge.name, files)
        try:
            return await metric.score(value, options, use)
        except JudgeError as problem:
            if problem.kind == "no_images":
                raise _blind(use.judge.name, files) from problem
            if problem.kind == "window":
                raise _too_long(point, files, problem) from problem
            raise

    bound = metric.bound
    return replace(
        metric,
        read=read,
        score=score,
        bound=None if bound is None else lambda: sighted(bound(), attached=attached, answer=answer),
    )


def _blind(judge: str, files: Files) -> NothingToJudge:
    many = "an image" if len(files.images) == 1 else f"{len(files.images)} images"
    return NothingToJudge(f"the case has {many} ({', '.join(files.image_titles)}), and the judge {judge} takes none")


def _too_long(point: DataPoint, files: Files, problem: JudgeError) -> JudgeError:
    texts = [turn.content for turn in point.turns or ()] or [point.input, point.output, point.reference]
    length = sum(len(text_of(text)) for text in (*texts, *point.context, *files.answer.told, *files.attached.told))
    what = f"the conversation of {len(point.turns)} turns" if point.turns else "the case"
    return JudgeError(
        f"{what}, {length:,} characters or some {length // 4:,} tokens, is more than the judge can read at once, and "
        f"is not cut: take a judge that reads more, or one that reads in parts ({problem.problem})",
        kind="window",
        model=problem.model,
    )
