"""Phrases in the answer: `rule/contains_all`, `contains_any`, `contains_none`, `starts_with`, `ends_with`.

How texts are compared, and what of them makes no difference, is told in `folding`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated

from pydantic import Field

from genkit_eval import DataPoint, Finding, Score
from genkit_eval.text import references, text_of
from genkit_eval_heuristics.definition import Heuristic, Thresholded, verdict
from genkit_eval_heuristics.folding import contained, ends, starts

__all__ = [
    "EVALUATORS",
    "ForbiddenOptions",
    "PhraseOptions",
    "PrefixOptions",
    "SuffixOptions",
    "aggregate_all",
    "aggregate_any",
    "contains_all",
    "contains_any",
    "contains_none",
    "ends_with",
    "phrase_findings",
    "starts_with",
]

Phrase = Annotated[str, Field(pattern=r"\S")]
NO_PHRASES = "no phrases were given: expect.phrases of the sample, or the option {}"


class _CaseOptions(Thresholded):
    threshold: float = Field(default=1.0, ge=0, le=1, description="PASS at this score or above, FAIL below.")
    ignore_case: bool = Field(default=True, description="Whether 'Refund' is 'refund'.")


class PhraseOptions(_CaseOptions):
    """Which phrases, and how they are looked for."""

    phrases: Sequence[Phrase] = Field(default=(), description="The phrases, where the sample has no expect.phrases.")
    whole_words: bool = Field(default=False, description="Whether 'art' is not found in 'party'.")


class ForbiddenOptions(_CaseOptions):
    """Which phrases must not be there, and how they are looked for."""

    forbidden: Sequence[Phrase] = Field(default=(), description="The phrases that must not be there.")
    whole_words: bool = Field(default=False, description="Whether 'art' is not found in 'party'.")


class PrefixOptions(_CaseOptions):
    """With what the answer may start."""

    prefixes: Sequence[Phrase] = Field(default=(), description="The right starts; without them, the reference.")


class SuffixOptions(_CaseOptions):
    """With what the answer may end."""

    suffixes: Sequence[Phrase] = Field(default=(), description="The right ends; without them, the reference.")


def contains_all(point: DataPoint, options: PhraseOptions) -> Score:
    """The share of the required phrases that are in the answer; 0 to 1, higher is better; passes when all are.

    The phrases are `expect.phrases` of the sample, else the option.
    """
    phrases = _expected(point) or options.phrases
    if not phrases:
        return Score.inconclusive(reason=NO_PHRASES.format("phrases"))
    findings = phrase_findings(phrases, _is_in(point, options), wanted=True)
    return _told(aggregate_all(findings), options, findings, "is missing")


def contains_any(point: DataPoint, options: PhraseOptions) -> Score:
    """1 if one of the phrases or more are in the answer, else 0; higher is better.

    The phrases are `expect.phrases` of the sample, else the option.
    """
    phrases = _expected(point) or options.phrases
    if not phrases:
        return Score.inconclusive(reason=NO_PHRASES.format("phrases"))
    findings = phrase_findings(phrases, _is_in(point, options), wanted=True)
    value = aggregate_any(findings)
    there = ", ".join(repr(finding.text) for finding in findings if finding.passed)
    return verdict(
        value, options, reason=f"found: {there}" if there else "none of the phrases is there", findings=findings
    )


def contains_none(point: DataPoint, options: ForbiddenOptions) -> Score:
    """The share of the forbidden phrases that are not in the answer; 0 to 1, higher is better; passes when none is."""
    if not options.forbidden:
        return Score.inconclusive(reason="no phrases were given: the option forbidden")
    findings = phrase_findings(options.forbidden, _is_in(point, options), wanted=False)
    return _told(aggregate_all(findings), options, findings, "is there")


def starts_with(point: DataPoint, options: PrefixOptions) -> Score:
    """1 if the answer starts with one of the texts, blanks before it apart, else 0; higher is better."""
    return _at_an_end(point, options, options.prefixes, starts, "starts")


def ends_with(point: DataPoint, options: SuffixOptions) -> Score:
    """1 if the answer ends with one of the texts, blanks after it apart, else 0; higher is better."""
    return _at_an_end(point, options, options.suffixes, ends, "ends")


def phrase_findings(phrases: Sequence[str], is_in: Callable[[str], bool], *, wanted: bool) -> list[Finding]:
    """For each phrase whether it is as it should be: there if wanted, else not."""
    return [
        Finding.trusted({"text": phrase, "passed": found is wanted, "reason": "found" if found else "not found"})
        for phrase in phrases
        for found in [is_in(phrase)]
    ]


def aggregate_all(findings: Sequence[Finding]) -> float:
    """The share of the phrases that are as they should be; there has to be one."""
    return sum(finding.passed is True for finding in findings) / len(findings)


def aggregate_any(findings: Sequence[Finding]) -> float:
    """1 if one phrase is as it should be, else 0."""
    return float(any(finding.passed for finding in findings))


def _expected(point: DataPoint) -> Sequence[str]:
    return [phrase for phrase in (point.expect.phrases or ()) if phrase.strip()] if point.expect else ()


def _is_in(point: DataPoint, options: PhraseOptions | ForbiddenOptions) -> Callable[[str], bool]:
    return partial(
        contained, text=text_of(point.output), ignore_case=options.ignore_case, whole_words=options.whole_words
    )


def _told(value: float, options: Thresholded, findings: Sequence[Finding], wrong: str) -> Score:
    named = ", ".join(repr(finding.text) for finding in findings if not finding.passed)
    good = "every phrase is there" if wrong == "is missing" else "none of the phrases is there"
    return verdict(value, options, reason=f"{named} {wrong}" if named else good, findings=findings)


def _at_an_end(
    point: DataPoint, options: _CaseOptions, given: Sequence[str], there: Callable[..., bool], verb: str
) -> Score:
    known = given or [text for text in references(point.reference) if text.strip()]
    if not known:
        return Score.inconclusive(reason=f"no text was given with which the answer {verb}: an option, or the reference")
    answer = text_of(point.output)
    found = next((text for text in known if there(text, answer, ignore_case=options.ignore_case)), None)
    reason = f"it {verb} with {found!r}" if found else f"it {verb} with none of: {', '.join(map(repr, known))}"
    return verdict(0.0 if found is None else 1.0, options, reason=reason)


EVALUATORS = (
    Heuristic(
        name="rule/contains_all",
        fn=contains_all,
        options=PhraseOptions,
        display_name="Contains all",
        definition="Every required phrase is in the answer.",
        formula="phrases found / phrases",
        source="Akka evalkit",
        kind="deterministic",
        requires=("output",),
        reads=("expect",),
        custom=("phrases",),
        aliases={"akka/ContainsAll": {}},
    ),
    Heuristic(
        name="rule/contains_any",
        fn=contains_any,
        options=PhraseOptions,
        display_name="Contains any",
        definition="At least one of the phrases is in the answer.",
        formula="1 if a phrase is found, else 0",
        source="own",
        kind="deterministic",
        requires=("output",),
        reads=("expect",),
        custom=("phrases",),
    ),
    Heuristic(
        name="rule/contains_none",
        fn=contains_none,
        options=ForbiddenOptions,
        display_name="Contains none",
        definition="None of the forbidden phrases is in the answer.",
        formula="phrases not found / phrases",
        source="own",
        kind="deterministic",
        requires=("output",),
        custom=("forbidden",),
    ),
    Heuristic(
        name="rule/starts_with",
        fn=starts_with,
        options=PrefixOptions,
        display_name="Starts with",
        definition="The answer starts with one of the texts.",
        formula="1 if it does, else 0",
        source="own",
        kind="deterministic",
        requires=("output",),
        reads=("reference",),
        custom=("prefixes",),
    ),
    Heuristic(
        name="rule/ends_with",
        fn=ends_with,
        options=SuffixOptions,
        display_name="Ends with",
        definition="The answer ends with one of the texts.",
        formula="1 if it does, else 0",
        source="own",
        kind="deterministic",
        requires=("output",),
        reads=("reference",),
        custom=("suffixes",),
    ),
)
