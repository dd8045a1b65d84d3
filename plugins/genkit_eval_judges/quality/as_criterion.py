"""Qualities as criteria of one's own: the same words, to be changed."""

from __future__ import annotations

import re

from genkit_eval_judges.criterion import Anchors, Criterion, Demonstration, Variable
from genkit_eval_judges.quality.rubric import Example, Rubric

__all__ = ["as_criterion"]

_SAID = re.compile(r"(?:Request: (?P<request>.*)\n)?Answer: (?P<response>.*)")


def as_criterion(rubric: Rubric) -> Criterion:
    """What a rubric says, as data for a file; of its examples those that are a request and an answer."""
    shown = [*rubric.needs, *(name for name in rubric.shows if name not in rubric.needs)]
    return Criterion(
        name=f"quality/{rubric.name}",
        title=rubric.title,
        intent=rubric.intent,
        criterion=rubric.criterion,
        variables=tuple(name if name in rubric.needs else Variable(name=name, required=False) for name in shown),
        anchors=Anchors(low=rubric.low, middle=rubric.middle, high=rubric.high),
        demonstrations=tuple(found for example in rubric.examples if (found := _demonstration(example)) is not None),
    )


def _demonstration(example: Example) -> Demonstration | None:
    said = _SAID.fullmatch(example.given)
    if said is None:
        return None
    return Demonstration(
        request=said["request"], response=said["response"], score=example.rating, justification=example.reason
    )
