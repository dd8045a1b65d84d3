"""Things that are graded one by one: each gets a word, each word has a worth, and the mean is the score."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Annotated, Any

from pydantic import create_model

from genkit_eval import Finding, Message, Prompt, Score
from genkit_eval.answers import Choice
from genkit_eval.claims import GROUP_SIZE, Numbered, by_number, in_parts, numbered
from genkit_eval.judge import Judge
from genkit_eval.judged import NONE
from genkit_eval.prompts import fenced
from genkit_eval_judges.counting import LONGEST_FINDING, nothing_counted
from genkit_eval_judges.recipe import JudgeOptions, decided

__all__ = ["Graded", "Worths", "grade", "graded", "mean_worth"]

Worths = Mapping[str, float | None]
"""What each grade is worth, 0 to 1; None for one that says that a thing is not to be counted.

In the order in which they count where a thing was graded several times, each time by a part of what there is to read.
"""


@dataclass(frozen=True, slots=True)
class Graded:
    """A thing with its grade and why; `parts` is in how many parts the documents were read."""

    thing: str
    grade: str
    reason: str
    parts: int = 1


async def grade(
    judge: Judge,
    prompt: Prompt,
    things: Sequence[str],
    worths: Worths,
    *,
    shown: str = "",
    documents: Sequence[str] = (),
    in_order: bool = False,
) -> list[Graded]:
    """A grade for each thing, in their order.

    The things go out numbered from 1, in groups so that no reply gets too long; answers are matched by number, and
    numbers without one are asked for once more.

    Args:
        prompt: has places for `things` and `evidence`, and asks for `{"grades": [{"number": 1, "reason": text, "grade":
            one of the grades}, …]}`.
        shown: what they are graded by besides the documents, in marks already.
        documents: where they are more than the judge can read at once, they are read in parts, and of the grades of a
            thing the one that stands first in `worths` counts.
        in_order: whether one may depend on those before it, which later groups are shown then.

    Raises:
        JudgeError: a thing has no grade even so, or two that differ.
    """
    order, lines = tuple(worths), [" ".join(thing.split()) for thing in things]
    found: list[Graded] = []
    for start in range(0, len(lines), GROUP_SIZE):
        beside = shown
        if in_order and start:
            earlier = fenced("\n".join(lines[:start]))
            beside = f"{shown}\n\nBefore these:\n{earlier}".strip()
        found += await in_parts(
            lines[start : start + GROUP_SIZE],
            documents,
            partial(_complete, judge, prompt, order, beside),
            settled=lambda item: item.grade == order[0],
            of_two=partial(_of_two, order),
        )
    return found


def mean_worth(grades: Sequence[str], worths: Worths) -> float | None:
    """The mean of what the grades are worth, without those that are not to be counted; None where none is."""
    counting = [worth for worth in (worths[grade] for grade in grades) if worth is not None]
    return math.fsum(counting) / len(counting) if counting else None


def graded(found: Sequence[Graded], worths: Worths, options: JudgeOptions, *, what: str, nothing: str) -> Score:
    """The score of single grades; each is a finding, with its grade for a category.

    Args:
        found: at least one.
        what: goes on after "of 3".
        nothing: why the case is inconclusive where none is to be counted.
    """
    score = mean_worth([item.grade for item in found], worths)
    if score is None:
        return nothing_counted(options, nothing)
    tally = Counter(item.grade for item in found)
    reason = f"of {len(found)} {what}: " + ", ".join(f"{tally[name]} {name}" for name in worths if tally[name])
    worst = min((item for item in found if worths[item.grade] is not None), key=lambda item: worths[item.grade] or 0.0)
    if worths[worst.grade] != 1:
        reason += f"; {worst.grade}: {worst.thing[:LONGEST_FINDING]} {worst.reason}".rstrip()
    parts = max(item.parts for item in found)
    findings = [_finding(number, item, worths[item.grade]) for number, item in enumerate(found, 1)]
    details = {"evidenceParts": parts} if parts > 1 else None
    return decided(score, options, reason=reason, findings=findings, details=details)


def _finding(number: int, item: Graded, worth: float | None) -> Finding:
    return Finding(
        text=item.thing[:LONGEST_FINDING],
        passed=bool(worth) if worth in (0, 1) else None,
        reason=item.reason,
        category=item.grade,
        details={"number": number},
    )


def _marked(documents: Sequence[str]) -> list[str]:
    return [f"Document:\n{fenced(document)}" for document in documents]


async def _complete(
    judge: Judge,
    prompt: Prompt,
    order: tuple[str, ...],
    shown: str,
    group: Sequence[str],
    documents: Sequence[str],
) -> list[Graded]:
    evidence = "\n\n".join((shown, *_marked(documents))).strip()

    def messages(lines: Sequence[str]) -> Sequence[Message]:
        # one line each, so that none can pass for two
        return prompt.render({"things": fenced(numbered(lines)), "evidence": evidence or NONE})

    found = await by_number(judge, group, messages, name="grades", form=_form(order))
    return [Graded(thing, item.grade, item.reason) for thing, item in zip(group, found, strict=True)]


def _of_two(order: tuple[str, ...], first: Graded, later: Graded) -> Graded:
    """The grade that stands first in the order, of those by two parts of the documents."""
    best = min(first, later, key=lambda item: order.index(item.grade))
    return replace(best, parts=first.parts + later.parts)


# making a model takes about a millisecond
@lru_cache(maxsize=16)
def _form(grades: tuple[str, ...]) -> type[Any]:
    """What the judge says of one thing."""
    word: Any = Annotated[str, Choice(*grades)]
    return create_model("Grade", __base__=Numbered, grade=(word, ...))
