"""Judges that are shown the images of a case; one that takes none says nothing about it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from genkit_eval import DataPoint, JudgeError, Score
from genkit_eval.judged import Instruments, JudgedMetric, NothingToJudge
from genkit_eval_judges.evidence import Files, files_of

__all__ = ["sighted"]


def sighted(metric: JudgedMetric) -> JudgedMetric:
    """The metric, whose judge sees the images that are attached to a case.

    Its score is inconclusive where there are some and the judge takes none.
    """

    async def read(point: DataPoint, options: Any) -> tuple[Any, Files]:
        return await metric.read(point, options), await files_of(point)

    async def score(found: tuple[Any, Files], options: Any, use: Instruments) -> Score:
        value, files = found
        if not files.images:
            return await metric.score(value, options, use)
        judge = replace(use.judge, images=files.images)
        if judge.sees is False:
            raise _blind(judge.name, files)
        try:
            return await metric.score(value, options, replace(use, own_judge=judge))
        except JudgeError as problem:
            if problem.kind == "no_images":
                raise _blind(judge.name, files) from problem
            raise

    bound = metric.bound
    return replace(metric, read=read, score=score, bound=None if bound is None else lambda: sighted(bound()))


def _blind(judge: str, files: Files) -> NothingToJudge:
    many = "an image" if len(files.images) == 1 else f"{len(files.images)} images"
    return NothingToJudge(f"the case has {many} ({', '.join(files.image_titles)}), and the judge {judge} takes none")
