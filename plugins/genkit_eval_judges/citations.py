"""`judge/citation_faithfulness`: whether the passages that an answer cites support what they are cited for."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field

from genkit_eval import Finding, Score
from genkit_eval.citations import Marker, citation_markers, without_code
from genkit_eval.claims import GROUP_SIZE, ClaimVerdict, verdicts
from genkit_eval.judged import Instruments
from genkit_eval.prompts import fenced
from genkit_eval_judges.counting import LONGEST_FINDING, CountOptions, nothing_counted
from genkit_eval_judges.inputs import Inputs
from genkit_eval_judges.recipe import Recipe, decided

__all__ = ["JUDGES", "Citation", "CitationOptions", "aggregate", "citation_faithfulness", "citations"]

_PLACE = "\ue000"
_ENTRY_BEGIN = re.compile(r"[ \t>*•_+-]*(?:\d{1,3}[.)][ \t]*)?[*_]*")
_LONGEST_BEGIN = 80
# markers after the full stop belong to the sentence; a point inside a number ends nothing
_SENTENCE_END = re.compile(rf"[.!?][\"'”’)]*(?:[ \t]*{_PLACE}+)*(?=\s|\Z)|[。！？](?:[ \t]*{_PLACE}+)*|\n+")


class CitationOptions(CountOptions):
    """A single wrong citation fails, unless told otherwise."""

    threshold: float | None = Field(
        default=1.0, ge=0, le=1, description="PASS at this score or better, FAIL below; null: neither."
    )


@dataclass(frozen=True, slots=True)
class Citation:
    """A marker, one of the passages that it names, and the sentence that it stands beside.

    `place` is which of the same markers in the sentence it is, from 1, where there are several.
    """

    marker: Marker
    passage: int
    sentence: str
    place: int | None = None

    @property
    def told(self) -> str:
        """The marker, and which it is where the sentence has several of the same."""
        label = _label(self.marker)
        return label if self.place is None else f"{label} (number {self.place} of these)"


def citations(text: str) -> list[Citation]:
    """The citations in a text, in order: one for each number that a marker names.

    A marker after the full stop belongs to the sentence before it. An entry in a list of sources is no citation.
    """
    markers = citation_markers(text)
    ends = _sentence_ends(text, markers)
    beside = [bisect_right(ends, marker.span[0]) for marker in markers]
    # each once, as an answer may hold thousands of markers in a sentence
    sentences = {place: text[ends[place - 1] : ends[place]].strip() for place in set(beside)}
    same = Counter((place, _label(marker)) for place, marker in zip(beside, markers, strict=True))
    entries = _entries(text, markers)
    found: list[Citation] = []
    seen: Counter[tuple[int, str]] = Counter()
    for place, marker in zip(beside, markers, strict=True):
        key = place, _label(marker)
        seen[key] += 1
        if marker.span not in entries:
            which = seen[key] if same[key] > 1 else None
            found += [Citation(marker, number, sentences[place], which) for number in marker.numbers]
    return found


def aggregate(findings: Sequence[Finding]) -> float:
    """Citations that are supported / citations; of at least one."""
    return sum(finding.passed is True for finding in findings) / len(findings)


async def citation_faithfulness(inputs: Inputs, options: CitationOptions, use: Instruments) -> Score:
    """The share of citations that point at a passage which supports what stands beside them."""
    found = citations(inputs.response)
    if not found:
        return nothing_counted(options, "the answer cites nothing: it has no marker like [1]")
    findings = await _judged(found, inputs.retrieved, use)
    reason = f"{sum(finding.passed is True for finding in findings)} of {len(findings)} citations supported"
    wrong = next((finding for finding in findings if not finding.passed), None)
    if wrong is not None:
        reason += f"; not: {wrong.text} {wrong.reason}"
    return decided(aggregate(findings), options, reason=reason, findings=findings)


async def _judged(found: Sequence[Citation], documents: Sequence[str], use: Instruments) -> list[Finding]:
    """A finding for each citation; one that points at nothing is wrong without asking."""
    known = {number for number, document in enumerate(documents, 1) if document.strip()}
    asked = [item for item in found if item.passage in known]
    cited = sorted({item.passage for item in asked})
    passages = [f"Passage {number}:\n{fenced(documents[number - 1])}" for number in cited]
    both = ("statements", "evidence")
    answers: list[ClaimVerdict] = []
    for start in range(0, len(asked), GROUP_SIZE):
        lines = [
            f"{item.told} to passage {item.passage}, in:\n{fenced(item.sentence)}"
            for item in asked[start : start + GROUP_SIZE]
        ]
        answers += await verdicts(use.judge, use.prompts["verdicts"], lines, passages, marked=both)
    said = {id(item): answer for item, answer in zip(asked, answers, strict=True)}
    findings = []
    for item in found:
        answer = said.get(id(item))
        findings.append(
            Finding(
                text=f"[{item.passage}] {item.sentence[:LONGEST_FINDING]}",
                passed=answer is not None and answer.verdict,
                reason=f"there is no passage {item.passage}" if answer is None else answer.reason,
                span=item.marker.span,
                details={"passage": item.passage},
            )
        )
    return findings


def _label(marker: Marker) -> str:
    """The marker as it may stand outside of the marks around judged text: without what is said after a dagger."""
    numbers, dagger, _ = marker.text.partition("†")
    return " ".join((f"{numbers}†…{marker.text[-1]}" if dagger else numbers).split())


def _entries(text: str, markers: Sequence[Marker]) -> set[tuple[int, int]]:
    """Where markers stand that begin a line, and name what was cited before the first of such lines in a row."""
    found: set[tuple[int, int]] = set()
    cited: set[int] = set()
    cited_before: frozenset[int] = frozenset()
    line_end = 0
    for marker in markers:
        begin = _line_begin(text, marker.span[0])
        if begin is not None:
            if text[line_end:begin].strip():
                cited_before = frozenset(cited)
            line_end = text.find("\n", begin)
            if cited_before.issuperset(marker.numbers):
                found.add(marker.span)
        cited.update(marker.numbers)
    return found


def _line_begin(text: str, at: int) -> int | None:
    """Where the line begins, if nothing stands before this place in it but what begins an entry of a list."""
    nearest = max(0, at - _LONGEST_BEGIN)
    begin = text.rfind("\n", nearest, at) + 1
    if begin <= nearest and nearest:
        return None
    return begin if _ENTRY_BEGIN.fullmatch(text, begin, at) else None


def _sentence_ends(text: str, markers: Sequence[Marker]) -> list[int]:
    """Where sentences end, from 0, at which none does, to the end of the text."""
    letters = list(without_code(text))
    for marker in markers:
        start, end = marker.span
        letters[start:end] = _PLACE * (end - start)
    return [0, *(found.end() for found in _SENTENCE_END.finditer("".join(letters))), len(text)]


JUDGES = (
    Recipe(
        name="judge/citation_faithfulness",
        ask=citation_faithfulness,
        prompts={"verdicts": "citation_faithfulness"},
        needs=("response", "context"),
        options=CitationOptions,
        display_name="Citation faithfulness",
        definition="Each marker like [2] points at a passage that supports the words beside it.",
        formula="citations supported / citations",
        source="Akka evalkit",
        calls="1 for every 20 citations",
        version="2",
        aliases={"akka/CitationFaithfulness": {}},
    ),
)
