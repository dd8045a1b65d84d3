"""`heuristic/citations_present`: the answer cites its sources."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from genkit_eval import DataPoint, Finding, Score
from genkit_eval.citations import citation_markers, without_code
from genkit_eval.text import text_of
from genkit_eval_heuristics.definition import Heuristic, Thresholded, verdict

__all__ = ["EVALUATORS", "CitationOptions", "aggregate", "citation_findings", "citations_present"]

_LINK = re.compile(r"https?://[^\s<>\"')\]]{1,2000}", re.IGNORECASE)


class CitationOptions(Thresholded):
    """What counts as a citation, and how many there have to be."""

    threshold: float = Field(default=1.0, ge=0, le=1, description="PASS at this score or above, FAIL below.")
    style: Literal["markers", "links", "any"] = Field(
        default="any", description="'markers' like [2] or [1, 3]; 'links' to web pages; or 'any' of both."
    )
    least: int = Field(default=1, ge=1, description="How many citations there have to be.")


def citations_present(point: DataPoint, options: CitationOptions) -> Score:
    """Right citations / citations, or the number that is asked for if it is more; 0 to 1, higher is better.

    Citations are markers like [2], [1, 3], [2-4], [^1], 【1】 and links to web pages; those in code are none. A marker
    is right if the context has a document of that number, from 1; without a context every marker is. Whether a document
    supports what is said beside the marker is for a judge.
    """
    findings = citation_findings(text_of(point.output), options.style, len(point.context))
    wrong = [finding.text for finding in findings if not finding.passed]
    reason = f"citations: {len(findings)}" if findings else "there is no citation"
    if wrong:
        reason += f"; no such document: {', '.join(wrong[:5])}"
    return verdict(aggregate(findings, options.least), options, reason=reason, findings=findings)


def citation_findings(text: str, style: Literal["markers", "links", "any"], documents: int) -> list[Finding]:
    """Each citation in a text, and whether there is what it cites."""
    found: list[Finding] = []
    if style != "links":
        for marker in citation_markers(text):
            right = not documents or all(1 <= number <= documents for number in marker.numbers)
            found.append(_finding(marker.text, marker.span, right, "marker"))
    if style != "markers":
        found += [_finding(link[0], link.span(), True, "link") for link in _LINK.finditer(without_code(text))]
    return found


def aggregate(findings: Sequence[Finding], least: int) -> float:
    """The share of right citations among those there are, or among `least` if there are fewer."""
    return sum(finding.passed is True for finding in findings) / max(len(findings), least)


def _finding(text: str, span: tuple[int, int], passed: bool, category: str) -> Finding:
    return Finding.trusted({"text": text, "passed": passed, "category": category, "span": span})


EVALUATORS = (
    Heuristic(
        name="heuristic/citations_present",
        fn=citations_present,
        options=CitationOptions,
        display_name="Citations present",
        definition="The answer cites, and what it cites is there.",
        formula="right citations / max(citations, least)",
        source="own",
        kind="heuristic",
        requires=("output",),
        non_empty=("output",),
        reads=("context",),
    ),
)
