"""Flows that answer questions about Python's standard library from its own docstrings, and two evaluators for them.

genkit-eval run questions.jsonl --app app.py:ge --target pydocAnswer -e genkitEval/regex
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from docstrings import Entry, entries
from pydantic import BaseModel, Field, JsonValue
from search import Library, words

from genkit_eval import DataPoint, GenkitEval, Score, record_context
from genkit_eval_local import local_metrics
from genkit_eval_metrics import genkit_metrics

__all__ = ["Brevity", "ge"]

ge = GenkitEval(plugins=[genkit_metrics(), local_metrics()])


@cache
def library() -> Library:
    """The index over the docstrings; built once, when the first question comes."""
    return Library(entries())


# --- flows: what is measured ----------------------------------------------------------------------------------------


@ge.flow("pydocAnswer")
def answer(question: str) -> str:
    """The entry that fits best, and what it says about the question."""
    return _quoted(question, _recorded(library().search(question)))


@ge.flow("pydocAnswerByCounting")
def answer_by_counting(question: str) -> str:
    """The same with a worse retriever: words are counted, and a rare word is worth no more than a common one."""
    return _quoted(question, _recorded(library().search_by_counting(question)))


@ge.flow("pydocName")
def name(question: str) -> str | None:
    """Only the full name of the entry that fits best."""
    found = _recorded(library().search(question))
    return found[0].name if found else None


@ge.flow("pydocEntry")
def entry(question: str) -> dict[str, JsonValue]:
    """The entry that fits best in its parts, and the names of the next ones."""
    found = _recorded(library().search(question))
    if not found:
        return {}
    module, _, function = found[0].name.rpartition(".")
    return {
        "module": module or "builtins",
        "function": function,
        "answer": found[0].sentences()[0],
        "seeAlso": [other.name for other in found[1:]],
    }


def _recorded(found: Sequence[Entry]) -> Sequence[Entry]:
    """Say what the answer stands on: evaluators find it in `point.context`, and the run file keeps it."""
    record_context(*({"id": entry.name, "text": entry.text} for entry in found))
    return found


def _quoted(question: str, found: Sequence[Entry]) -> str:
    if not found:
        return "Nothing in the documentation fits."
    asked = set(words(question))
    first, *rest = found[0].sentences()
    fitting = sorted(rest, key=lambda sentence: len(asked & set(words(sentence))), reverse=True)[:2]
    return f"{found[0].name}: {' '.join([first, *fitting])}"


# --- evaluators: how it is measured ---------------------------------------------------------------------------------


class Brevity(BaseModel):
    """Options of `pydoc/brief`."""

    most_words: int = Field(default=60, ge=1, description="The longest answer that still passes.")


@ge.define_evaluator(
    "pydoc/brief", display_name="Brief", definition="The answer has at most `most_words` words.", non_empty=["output"]
)
def brief(point: DataPoint, options: Brevity) -> Score:
    """PASS or FAIL, with the number of words as score."""
    count = len(str(point.output).split())
    if count <= options.most_words:
        return Score.passed(count)
    return Score.failed(count, reason=f"longer than {options.most_words} words")


@ge.define_evaluator(
    "pydoc/rank",
    display_name="Rank",
    definition="1 / the place of the right entry among those that were found; 0 when it is missing.",
    requires=["relevant_ids"],
    low=0,
    high=1,
)
def rank(point: DataPoint) -> Score:
    """The reciprocal rank, 0 to 1; its mean over a run is the MRR."""
    found = [document["id"] for document in point.context if isinstance(document, dict)]
    for place, found_name in enumerate(found, start=1):
        if found_name in (point.relevant_ids or ()):
            return Score.scored(1 / place, reason=f"{found_name} is number {place} of {len(found)}")
    return Score.scored(0.0, reason=f"not found; instead: {', '.join(map(str, found[:2])) or 'nothing'}")
