"""What `make demo` runs: three datasets through their flows, then the first one again with a worse retriever."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from io import TextIOWrapper
from pathlib import Path
from shutil import get_terminal_size

from app import ge

from genkit_eval import EvalRun, EvaluatorRef, MetricSummary, run_sync
from genkit_eval.report.lines import Line, rendered
from genkit_eval.report.numbers import percent
from genkit_eval.report.run_report import run_lines
from genkit_eval.report.tables import Column, Row, table

HERE = Path(__file__).parent
WIDTH = min(get_terminal_size().columns, 120)
COLOUR = sys.stdout.isatty() and "NO_COLOR" not in os.environ


def show(lines: Iterable[Line]) -> None:
    """Print lines of a report."""
    for text in rendered(lines, colour=COLOUR):
        print(text)


async def measure(title: str, file: str, target: str, *evaluators: str | EvaluatorRef) -> EvalRun:
    """One run over a file of this folder, and its report."""
    run = await ge.evaluate(HERE / file, target=target, evaluators=evaluators)
    print(f"\n{title}\n{'-' * len(title)}")
    show(run_lines(run, width=WIDTH, most=4))
    print(f"\nrun file: {run.path}")
    return run


def side_by_side(runs: Sequence[tuple[str, EvalRun]]) -> list[Line]:
    """The same evaluators over two runs."""
    columns = [Column("metric"), *(Column(name, right=True) for name, _ in runs)]
    rows = [
        Row([cells[0].name, *(figure(cell) for cell in cells)])
        for cells in zip(*(run.summary() for _, run in runs), strict=True)
    ]
    return table(columns, rows, width=WIDTH)


def figure(summary: MetricSummary) -> str:
    """The pass rate, or the mean of a metric without PASS and FAIL."""
    judged = summary.passed + summary.failed_status
    return f"{percent(summary.passed, judged)} of {judged}" if judged else f"{summary.mean:.2f} ({summary.scored})"


def command() -> str:
    """How to call the command line of this Python."""
    installed = Path(sys.executable).with_name("genkit-eval")
    return os.path.relpath(installed) if installed.exists() else "python -m genkit_eval"


async def demo() -> None:
    """All four runs."""
    brief = ge.ref("pydoc/brief", most_words=70)
    evaluators: list[str | EvaluatorRef] = ["genkitEval/regex", "local/ngram_grounding", "pydoc/rank", brief]
    overlaps = ["local/reference_recall", "local/answer_overlap"]
    print("Questions about Python's standard library, answered from the docstrings installed with it.")
    good = await measure("Answers in words", "questions.jsonl", "pydocAnswer", *evaluators)
    await measure("Names only", "names.csv", "pydocName", "genkitEval/deep_equal", *overlaps)
    await measure("Structured entries", "entries.yaml", "pydocEntry", "genkitEval/jsonata")
    title = "Answers in words again, after somebody replaced BM25 by counting words"
    bad = await measure(title, "questions.jsonl", "pydocAnswerByCounting", *evaluators)
    print("\nWhat the change did\n-------------------")
    show(side_by_side([("BM25", good), ("counting", bad)]))
    print(f"\nEvery case of the last run, and why: {command()} show {bad.id} --all")


if __name__ == "__main__":
    if isinstance(sys.stdout, TextIOWrapper):
        # docstrings may hold letters that the terminal has not
        sys.stdout.reconfigure(errors="replace")
    run_sync(demo())
