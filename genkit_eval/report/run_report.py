"""What is said about a run: what it was, its table, the cases that fail, and where it lies."""

from __future__ import annotations

from collections.abc import Iterator

from genkit_eval.engine import EvalRun
from genkit_eval.report.cases import Concern, Concerns, case_lines, concern_of, concerns
from genkit_eval.report.lines import Ink, Line, Span, blank, line
from genkit_eval.report.numbers import duration
from genkit_eval.report.summary_table import summary_table
from genkit_eval.report.text import clip, wrap
from genkit_eval.types import EvalRunKey, RunState

__all__ = ["run_lines", "run_subject", "show_lines"]


def run_subject(key: EvalRunKey) -> str:
    """What a run was about, in a few words: "flow answer on faq v3"."""
    source = key.source or {}
    if key.dataset_id is not None:
        version = f" v{key.dataset_version}" if key.dataset_version is not None else ""
        data = f"{key.dataset_id}{version}"
    elif source.get("kind") == "file":
        data = str(source.get("path", "a file")).replace("\\", "/").rpartition("/")[2]
    else:
        data = "samples given in code" if source.get("kind") == "inline" else "given data"
    if key.action_ref is None:
        return f"given outputs of {data}"
    kind, _, name = key.action_ref.removeprefix("/").partition("/")
    return f"{kind} {name} on {data}"


def run_lines(run: EvalRun, *, width: int, most: int = 5) -> Iterator[Line]:
    """The report after a run: header, table, and the reasons of at most `most` failing cases."""
    summaries = run.summary()
    yield from _header(run, width)
    yield from summary_table(summaries, width=width)
    fails = run.key.target_errors or not summaries or any(row.failed_status or row.failed for row in summaries)
    # going through the results takes seconds where there are 100,000
    found = concerns(run.results if fails else (), most=most)
    worst = found.worst(most)
    if worst:
        yield blank()
        yield _failing_title(found, len(worst))
        for result in worst:
            yield from case_lines(result, width=width, brief=True)


def show_lines(run: EvalRun, *, width: int, every: bool = False, failing_only: bool = False) -> Iterator[Line]:
    """A stored run: header, table, then its cases, failing ones first.

    Without `every`, at most 20 failing ones, or 5 of the others where none fails.
    """
    found = concerns(run.results, most=20)
    yield from _header(run, width)
    yield from summary_table(run.summary(), width=width)
    if every:
        wanted = [Concern.FAILED, Concern.FAIL] if failing_only else list(Concern)
        for concern in wanted:
            # one pass over the file for each: a run may be larger than memory
            for result in run.results if found.counts.get(concern) else ():
                if concern_of(result) is concern:
                    yield blank()
                    yield from case_lines(result, width=width, brief=False)
        return
    shown = found.worst(20)
    title = _failing_title(found, len(shown))
    if not shown and not failing_only:
        shown = [result for concern in Concern for result in found.first.get(concern, [])][:5]
        title = line(Span(f"no case fails; {len(shown)} of {len(run.results)} cases", Ink.FAINT))
    if shown:
        yield blank()
        yield title
    for result in shown:
        yield blank()
        yield from case_lines(result, width=width, brief=False)


def _failing_title(found: Concerns, shown: int) -> Line:
    total = sum(found.counts.values())
    which = "" if shown == found.failing else f", the first {shown} of them"
    verb = "fails" if found.failing == 1 else "fail"
    return line(Span(f"{found.failing} of {total} cases {verb}{which}", Ink.BAD if found.failing else Ink.PLAIN))


def _header(run: EvalRun, width: int) -> Iterator[Line]:
    key = run.key
    yield line(Span(clip(key.eval_run_id, width), Ink.STRONG))
    done = len(run.results)
    took = f" in {duration(key.seconds)}" if key.seconds is not None else ""
    for text in wrap(run_subject(key), width, lines=2):
        yield line(text)
    if key.state is RunState.COMPLETE:
        yield line(f"{done} {'case' if done == 1 else 'cases'}{took}")
    else:
        planned = f" of {key.case_count}" if key.case_count is not None else ""
        note = f"INCOMPLETE: {done}{planned} cases so far; the figures below are not final"
        for text in wrap(note, width, lines=3):
            yield line(Span(text, Ink.ODD))
    yield blank()
