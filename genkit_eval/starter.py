"""A small app and a dataset that run at once: what `genkit-eval init` writes."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from genkit_eval._files import Draft
from genkit_eval.errors import ConfigError

__all__ = ["STARTER_COMMAND", "write_starter"]

STARTER_COMMAND: Final = (
    "run", "questions.jsonl", "--target", "answer", "-e", "genkitEval/regex", "-e", "starter/brevity:most_words=8"
)  # fmt: skip
"""The command line that runs what was written, without its program."""

_APP = '''"""An app to start from: a flow, and an evaluator of its own."""

from pydantic import BaseModel

from genkit_eval import DataPoint, GenkitEval, Score
from genkit_eval_metrics import genkit_metrics

ge = GenkitEval(plugins=[genkit_metrics()])

FACTS = {
    "capital of France": "Paris is the capital of France.",
    "capital of Japan": "The capital of Japan is Tokyo, on the island of Honshu.",
    "largest planet": "Jupiter, by far.",
}


@ge.flow("answer")
def answer(question: str) -> str:
    """Look the answer up. Yours calls a model; it may be `async def`."""
    for topic, fact in FACTS.items():
        if topic in question:
            return fact
    return "I do not know."


class Brevity(BaseModel):
    """Options of `starter/brevity`."""

    most_words: int = 20


@ge.define_evaluator(
    "starter/brevity",
    requires=["output"],
    direction="minimize",
    kind="deterministic",
    definition="The answer is short: the score counts its words.",
)
def brevity(point: DataPoint, options: Brevity) -> Score:
    words = len(str(point.output).split())
    reason = f"{words} words, at most {options.most_words} are allowed"
    if words <= options.most_words:
        return Score.passed(words, reason=reason)
    return Score.failed(words, reason=reason)
'''

_QUESTIONS = """\
{"testCaseId": "france", "input": "What is the capital of France?", "reference": "Paris", "tags": ["capitals"]}
{"testCaseId": "japan", "input": "What is the capital of Japan?", "reference": "Tokyo", "tags": ["capitals"]}
{"testCaseId": "planet", "input": "Which is the largest planet?", "reference": "(?i)jupiter"}
{"testCaseId": "ocean", "input": "Which is the deepest ocean?", "reference": "Pacific"}
"""

_SETTINGS = """\
# Settings of genkit-eval; options and GENKIT_EVAL_… variables go before them.
app = "app.py:ge"
# root = ".genkit"
# max_concurrency = 32
# prices = "prices.json"
# timeout = 600
"""

_FILES = {"app.py": _APP, "questions.jsonl": _QUESTIONS, "genkit-eval.toml": _SETTINGS}


def write_starter(folder: Path) -> list[Path]:
    """Write the files, and make the folder if need be; the paths.

    Raises:
        ConfigError: one of the files is there already (nothing is written), or the folder cannot be written.
    """
    paths = [folder / name for name in _FILES]
    there = [path for path in paths if path.exists()]
    if there:
        verb = "exists" if len(there) == 1 else "exist"
        raise ConfigError(f"{', '.join(map(str, there))} {verb} already: choose another folder; nothing was written")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in zip(paths, _FILES.values(), strict=True):
            with Draft(path) as draft:
                draft.write(text.encode())
                draft.create()
    except OSError as problem:
        raise ConfigError(f"{problem.filename or folder} cannot be written: {problem.strerror}") from problem
    return paths
