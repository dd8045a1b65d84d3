"""What is said about a run: what it was, its table, the cases that fail, and where it lies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from genkit_eval.engine import EvalRun, repeats_of
from genkit_eval.report.cases import Concern, Concerns, case_lines, concern_of, concerns
from genkit_eval.report.deciders import decider_lines
from genkit_eval.report.lines import Ink, Line, Span, blank, line
from genkit_eval.report.numbers import counted, duration
from genkit_eval.report.repeats import repeats_table, varied_cases
from genkit_eval.report.summary_table import summary_table
from genkit_eval.report.text import clip, wrap
from genkit_eval.report.usage_table import usage_table
from genkit_eval.stored import EvalResult, EvalRunKey, RunState

__all__ = ["run_amount", "run_lines", "run_subject", "show_lines"]


def run_subject(key: EvalRunKey) -> str:
    """What a run was about, in a few words: "flow answer on faq v3"."""
    source = key.source or {}
    if key.dataset_id is not None:
        version = f" v{key.dataset_version}" if key.dataset_version is not None else ""
        data = f"{key.dataset_id}{version}"
    elif "path" in source:
        data = str(source["path"]).replace("\\", "/").rpartition("/")[2]
    else:
        data = "given samples" if source.get("kind") == "inline" else "given data"
    if key.action_ref is None:
        return f"given outputs of {data}"
    if not key.action_ref.startswith("/"):
        return f"{key.action_ref} on {data}"
    kind, _, name = key.action_ref.removeprefix("/").partition("/")
    return f"{kind} {name} on {data}"


def run_lines(run: EvalRun, *, width: int, most: int = 5) -> Iterator[Line]:
    """The report after a run: header, table, and the reasons of at most `most` failing cases."""
    yield from _overview(run, width)
    if repeats_of(run.key).target > 1:
        yield blank()
        yield from repeats_table(run.repeats(), width=width)
    found = concerns(run.failing(), most=most)
    worst = found.worst(most)
    if worst:
        yield blank()
        yield _failing_title(found, len(worst), run)
        for result in worst:
            yield from case_lines(result, width=width, brief=True)


def _overview(run: EvalRun, width: int) -> Iterator[Line]:
    """What it was, what its metrics say, and what it cost."""
    yield from _header(run, width)
    yield from summary_table(run.summary(), width=width)
    yield from decider_lines(run, width=width)
    lines = usage_table(run.key.usage, width=width)
    if lines:
        yield blank()
        yield from lines


def show_lines(run: EvalRun, *, width: int, every: bool = False, failing_only: bool = False) -> Iterator[Line]:
    """A stored run: header, table, then its cases, failing ones first.

    Without `every`, at most 20 failing ones, or 5 of the others where none fails.
    """
    yield from _overview(run, width)
    if repeats_of(run.key).target > 1:
        repeats = run.repeats()
        yield blank()
        yield from repeats_table(repeats, width=width)
        yield from varied_cases(repeats, width=width, most=None if every else 20)
    if every:
        shown: Iterable[EvalResult] = _by_concern(run, failing_only=failing_only)
    else:
        found = concerns(run.failing(), most=20)
        shown = worst = found.worst(20)
        title = _failing_title(found, len(worst), run)
        if not worst and not failing_only:
            first = concerns(run.results, most=5).first
            shown = rest = [result for concern in Concern for result in first.get(concern, [])][:5]
            title = line(
                Span(f"no {_noun(run)} fails; {len(rest)} of {counted(len(run.results), _noun(run))} shown", Ink.FAINT)
            )
        yield blank()
        yield title
    for result in shown:
        yield blank()
        yield from case_lines(result, width=width, brief=False)


def _by_concern(run: EvalRun, *, failing_only: bool) -> Iterator[EvalResult]:
    """All results, failing ones first; one pass over the file for each concern: a run may be larger than memory."""
    for concern in (Concern.FAILED, Concern.FAIL):
        yield from (result for result in run.failing() if concern_of(result) is concern)
    for concern in () if failing_only else (Concern.UNDECIDED, Concern.INCONCLUSIVE, Concern.NONE):
        yield from (result for result in run.results if concern_of(result) is concern)


def _noun(run: EvalRun) -> str:
    """What one result is of: with repeats, a case has several."""
    return "case" if repeats_of(run.key).target == 1 else "result"


def _failing_title(found: Concerns, shown: int, run: EvalRun) -> Line:
    which = "" if shown == found.failing else f", the first {shown} of them"
    verb = "fails" if found.failing == 1 else "fail"
    said = f"{found.failing} of {counted(len(run.results), _noun(run))} {verb}{which}"
    if not found.failing:
        said = f"no {_noun(run)} fails"
    return line(Span(said, Ink.BAD if found.failing else Ink.PLAIN))


def _header(run: EvalRun, width: int) -> Iterator[Line]:
    key = run.key
    yield line(Span(clip(key.eval_run_id, width), Ink.STRONG))
    done = len(run.results) if run.complete else sum(1 for _ in run.finished())
    took = f" in {duration(key.seconds)}" if key.seconds is not None else ""
    for text in wrap(run_subject(key), width, lines=2):
        yield line(text)
    if key.parent is not None:
        yield from (line(text) for text in wrap(f"outputs of {key.parent}, judged once more", width, lines=2))
    if key.state is RunState.COMPLETE:
        yield line(f"{run_amount(run.key, done)}{took}")
    else:
        planned = f" of {key.case_count}" if key.case_count is not None else ""
        stopped = f"; stopped: {key.stopped.reason}" if key.stopped is not None else ""
        note = f"INCOMPLETE: {done}{planned} {_noun(run)}s so far; the figures below are not final{stopped}"
        for text in wrap(note, width, lines=3):
            yield line(Span(text, Ink.ODD))
    yield blank()


def run_amount(key: EvalRunKey, results: int) -> str:
    """How much so many results are: "20 cases, 5 times each, each judge asked 3 times"."""
    repeats = repeats_of(key)
    said = counted(results // repeats.target, "case")
    said += f", {repeats.target} times each" if repeats.target > 1 else ""
    return said + (f", each judge asked {repeats.judge} times" if repeats.judge > 1 else "")
