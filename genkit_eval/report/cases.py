"""Single cases: which ones want to be looked at first, and what is shown of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from genkit_eval._json import json_text
from genkit_eval.attachments import title_of
from genkit_eval.report.lines import Ink, Line, Span
from genkit_eval.report.numbers import number
from genkit_eval.report.text import clip, one_line, shown_width, wrap
from genkit_eval.stored import EvalMetric, EvalResult
from genkit_eval.types import Outcome, Status

__all__ = ["Concern", "Concerns", "case_lines", "concern_of", "concerns"]

LABEL_WIDTH = 11
INDENT = "  "
SHORT_DIGEST = len("sha256:") + 12


class Concern(IntEnum):
    """How much a case wants to be looked at: the lower, the sooner."""

    FAILED = 0
    """The target or an evaluator broke."""
    FAIL = 1
    UNDECIDED = 2
    INCONCLUSIVE = 3
    NONE = 4


_WORDS = {
    Concern.FAILED: Span("FAILED", Ink.BAD),
    Concern.FAIL: Span("FAIL", Ink.BAD),
    Concern.UNDECIDED: Span("undecided", Ink.ODD),
    Concern.INCONCLUSIVE: Span("inconclusive", Ink.ODD),
    Concern.NONE: Span("ok", Ink.GOOD),
}


@dataclass(frozen=True, slots=True)
class Concerns:
    """The first cases of each concern, and how many there are."""

    first: dict[Concern, list[EvalResult]] = field(default_factory=dict)
    counts: dict[Concern, int] = field(default_factory=dict)

    @property
    def failing(self) -> int:
        """How many cases are FAIL or FAILED."""
        return self.counts.get(Concern.FAILED, 0) + self.counts.get(Concern.FAIL, 0)

    def worst(self, most: int) -> list[EvalResult]:
        """At most so many failing cases, what broke before what is wrong."""
        return [*self.first.get(Concern.FAILED, []), *self.first.get(Concern.FAIL, [])][:most]


def concern_of(result: EvalResult) -> Concern:
    """Why a case wants to be looked at."""
    if result.target_failed:
        return Concern.FAILED
    return min((_concern(metric) for metric in result.metrics), default=Concern.NONE)


def _concern(metric: EvalMetric) -> Concern:
    ended = metric.ended
    if ended is Outcome.FAILED:
        return Concern.FAILED
    if metric.status is Status.FAIL:
        return Concern.FAIL
    return {Outcome.UNDECIDED: Concern.UNDECIDED, Outcome.INCONCLUSIVE: Concern.INCONCLUSIVE}.get(ended, Concern.NONE)


def concerns(results: Iterable[EvalResult], *, most: int) -> Concerns:
    """Go through results once; at most `most` of each concern are kept."""
    found = Concerns()
    for result in results:
        concern = concern_of(result)
        found.counts[concern] = found.counts.get(concern, 0) + 1
        kept = found.first.setdefault(concern, [])
        if len(kept) < most:
            kept.append(result)
    return found


def case_lines(result: EvalResult, *, width: int, brief: bool) -> Iterator[Line]:
    """A case: its id and how it ended, what went in and came out, then what the metrics say.

    Brief, the input is cut to a line, and only the metrics are shown that are the reason for its concern.
    """
    concern = concern_of(result)
    word = _WORDS[concern]
    which = "" if result.repeat is None else f"  repeat {result.repeat}"
    name = clip(result.test_case_id or "", max(width - shown_width(which + word.text) - 2, 8))
    yield (Span(name, Ink.STRONG), Span(which), Span("  "), word)
    for label in ("input",) if brief else ("input", "output", "reference"):
        if result.has(label):
            # an empty text would look like a field that is not there
            text = json_text(getattr(result, label)) or '""'
            yield from _field(label, text, width, lines=1 if brief else 3)
    if result.context and not brief:
        yield from _field("context", json_text(list(result.context)), width, lines=2)
    for label, text in () if brief else _about(result):
        yield from _field(label, text, width, lines=2)
    if result.error is not None:
        # it stands below its case already
        error = result.error.removeprefix(f"sample '{result.test_case_id}': ")
        yield from _field("error", error, width, lines=3 if brief else 12, tail=width // 2)
    for metric in result.metrics:
        if not brief or (_concern(metric) is concern and concern is not Concern.NONE):
            yield from _metric_lines(metric, width, lines=3 if brief else 12)
            answers = None if brief else _answers(metric)
            if answers:
                for part in wrap(answers, width - 2 * len(INDENT), lines=3):
                    yield (Span(INDENT * 2), Span(part, Ink.FAINT))


def _about(result: EvalResult) -> Iterator[tuple[str, str]]:
    """Whose case it is, and which files belong to it, each as it was known when it was judged."""
    of = {"user": result.user_id, "session": result.session_id, "tags": ", ".join(result.tags)}
    yield from ((label, text) for label, text in of.items() if text)
    for label, files in (("file", result.attachments), ("made", result.output_attachments)):
        yield from ((label, f"{title_of(file)} ({_short(file.digest)})") for file in files)


def _short(digest: str | None) -> str:
    """As much of a digest as one compares by eye; the run file has all of it."""
    return "not read" if digest is None else digest if len(digest) <= SHORT_DIGEST else f"{digest[:SHORT_DIGEST]}…"


def _answers(metric: EvalMetric) -> str | None:
    """What a judge that was asked several times said each time."""
    repeats = (metric.details or {}).get("judgeRepeats")
    answers = repeats.get("answers") if isinstance(repeats, Mapping) else None
    if not isinstance(answers, Sequence):
        return None
    said = [_said(answer) for answer in answers if isinstance(answer, Mapping)]
    return f"asked {len(said)} times: {', '.join(said)}"


def _said(answer: Mapping[str, Any]) -> str:
    score, status, outcome = answer.get("score"), answer.get("status"), answer.get("outcome")
    word = status if status in (Status.PASS, Status.FAIL) else "" if outcome == Outcome.VERDICT else str(outcome)
    if isinstance(score, int | float) and not isinstance(score, bool):
        return f"{word} {number(score)}".strip()
    return " ".join(part for part in (word, score if isinstance(score, str) else "") if part)


def _field(label: str, text: str, width: int, *, lines: int, tail: int = 0) -> Iterator[Line]:
    for number_, part in enumerate(wrap(text, width - len(INDENT) - LABEL_WIDTH, lines=lines, tail=tail)):
        title = label if number_ == 0 else ""
        yield (Span(INDENT), Span(title.ljust(LABEL_WIDTH), Ink.FAINT), Span(part))


def _metric_lines(metric: EvalMetric, width: int, *, lines: int) -> Iterator[Line]:
    name = one_line(metric.name)
    verdict = _verdict(metric)
    head = (Span(INDENT), Span(name), Span("  "), verdict)
    used = sum(shown_width(span.text) for span in head)
    reason = metric.error if metric.error is not None else metric.rationale
    if used > width:
        yield (Span(INDENT), Span(clip(name, width - len(INDENT))))
        yield (Span(INDENT * 2), verdict)
    elif reason and used + 2 + shown_width(one_line(reason[:width])) <= width:
        yield (*head, Span("  "), Span(reason, Ink.FAINT))
        return
    else:
        yield head
    if reason:
        for part in wrap(reason, width - 2 * len(INDENT), lines=lines, tail=width // 2 if metric.error else 0):
            yield (Span(INDENT * 2), Span(part, Ink.FAINT))


def _verdict(metric: EvalMetric) -> Span:
    concern = _concern(metric)
    word = _WORDS[concern]
    if concern is Concern.NONE:
        word = Span("PASS", Ink.GOOD) if metric.status is Status.PASS else Span("")
    score = metric.score
    if score is None or isinstance(score, bool):
        # a boolean repeats what PASS or FAIL says, where there is one
        text = "" if score is None or word.text else json_text(score)
    else:
        text = clip(score, 40) if isinstance(score, str) else number(score)
    return Span(" ".join(part for part in (word.text, text) if part), word.ink)
