"""Recipes that count: the things are numbered, each gets a verdict of its own, and arithmetic makes the score."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from pydantic import Field, JsonValue

from genkit_eval import Finding, Score
from genkit_eval.claims import GROUP_SIZE, ClaimVerdict, share, statements, verdicts
from genkit_eval.judged import NONE, Instruments, NothingToJudge
from genkit_eval.prompts import fenced
from genkit_eval_judges.inputs import INPUTS, Inputs
from genkit_eval_judges.recipe import Ask, JudgeOptions, decided

__all__ = [
    "LONGEST_FINDING",
    "CountOptions",
    "average_precision",
    "counted",
    "each_judged",
    "nothing_counted",
    "portions",
    "share_that_holds",
    "supported_claims",
]

LONGEST_FINDING = 300
BLANK = "there is nothing in it"


class CountOptions(JudgeOptions):
    """What a case comes to where there is nothing to count."""

    on_empty: float | None = Field(
        default=None, ge=0, le=1, description="The score where there is nothing to count; without it inconclusive."
    )


def share_that_holds(found: Sequence[ClaimVerdict]) -> float:
    """The share of verdicts that are true; of at least one."""
    return share(found)


def average_precision(found: Sequence[ClaimVerdict]) -> float:
    """Mean, over the ranks k that hold, of the share that holds among the first k; 0 where none does."""
    hits, total = 0, 0.0
    for rank, item in enumerate(found, 1):
        if item.verdict:
            hits += 1
            total += hits / rank
    return total / hits if hits else 0.0


def supported_claims(*, of: str, what: str, nothing: str) -> Ask:
    """The share of a part's claims that the context bears out, by the prompts "statements" and "verdicts".

    Args:
        of: the part that is taken apart, one of `INPUTS`.
        what: goes on after "2 of 3".
        nothing: why the case is inconclusive where there are no claims, unless an option says what it comes to.
    """

    async def ask(inputs: Inputs, options: JudgeOptions, use: Instruments) -> Score:
        if of == "response":
            inputs.files.require_text()
        prompt = use.prompts["statements"]
        # the recipe of claims puts each value in marks of its own
        values = {name: INPUTS[name].text(inputs) or NONE for name in prompt.inputs}
        claims = await statements(use.judge, prompt, values)
        if not claims:
            return nothing_counted(options, nothing)
        found = await verdicts(use.judge, use.prompts["verdicts"], claims, inputs.documents)
        return counted(found, options, what=what)

    return ask


def each_judged(
    things: Callable[[Inputs], Sequence[str]],
    *,
    against: Sequence[str],
    what: str,
    nothing: str,
    score: Callable[[Sequence[ClaimVerdict]], float] = share_that_holds,
    in_order: bool = False,
) -> Ask:
    """A verdict for each thing, by the prompt "verdicts"; the score is the share that holds, or what `score` makes.

    Args:
        things: what is counted, each as a text; a blank one does not hold, and is not sent.
        against: what they are held against, some of `INPUTS`.
        what: goes on after "2 of 3".
        nothing: why the case is inconclusive where there is none, unless an option says what it comes to.
        in_order: whether one may depend on those before it, as `portions` has it.
    """

    async def ask(inputs: Inputs, options: JudgeOptions, use: Instruments) -> Score:
        texts = things(inputs)
        # each in marks of its own, so that none can pass for two
        lines = [fenced(text) for text in texts if text.strip()]
        if not lines:
            return nothing_counted(options, nothing)
        both = ("statements", "evidence")
        judged: list[ClaimVerdict] = []
        for group, evidence in portions(lines, inputs.shown(against), in_order=in_order):
            judged += await verdicts(use.judge, use.prompts["verdicts"], group, evidence, marked=both)
        answers = iter(judged)
        found = [
            replace(next(answers), statement=text) if text.strip() else ClaimVerdict(text, verdict=False, reason=BLANK)
            for text in texts
        ]
        return counted(found, options, what=what, score=score)

    return ask


def portions(lines: Sequence[str], shown: str, *, in_order: bool) -> Iterator[tuple[Sequence[str], str]]:
    """The things in groups of which the judge can say something in one reply, each with what they are held against.

    Args:
        lines: the things, each in marks of its own.
        shown: what they are held against.
        in_order: whether one may depend on those before it, which are shown with later groups then.
    """
    for start in range(0, len(lines), GROUP_SIZE):
        before = f"{shown}\n\nBefore these:\n" + "\n".join(lines[:start]) if in_order and start else shown
        yield lines[start : start + GROUP_SIZE], before.strip()


def nothing_counted(options: JudgeOptions, why: str) -> Score:
    """What a case without anything to count comes to: the option `on_empty`, if there is one.

    Raises:
        NothingToJudge: there is none.
    """
    if not isinstance(options, CountOptions) or options.on_empty is None:
        raise NothingToJudge(why)
    return decided(options.on_empty, options, reason=why)


def counted(
    found: Sequence[ClaimVerdict],
    options: JudgeOptions,
    *,
    what: str,
    score: Callable[[Sequence[ClaimVerdict]], float] = share_that_holds,
    categories: Sequence[str] = (),
    details: Mapping[str, JsonValue] | None = None,
) -> Score:
    """The score of single verdicts; each is a finding.

    Args:
        found: at least one.
        what: goes on after "2 of 3".
        categories: one for each finding, if there are any.
        details: further ones.
    """
    holds = sum(item.verdict for item in found)
    reason = f"{holds} of {len(found)} {what}"
    against = [item for item in found if not item.verdict]
    if against:
        reason += f"; not: {against[0].statement[:LONGEST_FINDING]} {against[0].reason}".rstrip()
    findings = [
        Finding(
            text=item.statement[:LONGEST_FINDING],
            passed=item.verdict,
            reason=item.reason,
            category=categories[number - 1] if categories else None,
            details={"number": number},
        )
        for number, item in enumerate(found, 1)
    ]
    parts = max(item.parts for item in found)
    if parts > 1:
        details = {**(details or {}), "evidenceParts": parts}
    return decided(score(found), options, reason=reason, findings=findings, details=details)
