"""Each sample runs as its README says, on the Python that runs the tests."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from genkit_eval import EvalRun, GenkitEval
from genkit_eval.datasets import read_samples

ROOT = Path(__file__).parents[1]
SAMPLES = ROOT / "samples"
PYDOC = SAMPLES / "pydoc_answers"
TOUR = SAMPLES / "food_descriptions" / "tour.py"


def run(command: list[str], root: Path) -> str:
    """What a command prints, with datasets and runs in `root`."""
    environment = {**os.environ, "GENKIT_EVAL_HOME": str(root), "PYTHONIOENCODING": "utf-8", "COLUMNS": "100"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, encoding="utf-8", timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def regex_pass_rate(run: EvalRun) -> float:
    (summary,) = [summary for summary in run.summary() if summary.evaluator.endswith("genkitEval/regex")]
    assert summary.pass_rate is not None
    return summary.pass_rate


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, GenkitEval]:
    """What `make demo` printed, and the runs it left."""
    root = tmp_path_factory.mktemp("demo")
    return run([sys.executable, str(PYDOC / "demo.py")], root), GenkitEval(root=root)


def test_the_demo_shows_each_metric_and_the_sample_s_own(demo: tuple[str, GenkitEval]) -> None:
    printed, _ = demo

    for name in ("regex", "deep_equal", "jsonata"):
        assert f"genkitEval/{name}" in printed
    for name in ("reference_recall", "answer_overlap", "ngram_grounding"):
        assert f"local/{name}" in printed
    assert "pydoc/rank" in printed
    assert "pydoc/brief" in printed


def test_the_demo_says_where_its_runs_lie(demo: tuple[str, GenkitEval]) -> None:
    printed, ge = demo

    keys = ge.runs.list()

    assert len(keys) == 4
    assert all(ge.runs.load(key).path.name in printed for key in keys)


def test_a_worse_retriever_costs_at_least_20_points(demo: tuple[str, GenkitEval]) -> None:
    _, ge = demo

    (good,) = ge.runs.list(target="/flow/pydocAnswer")
    (bad,) = ge.runs.list(target="/flow/pydocAnswerByCounting")

    assert regex_pass_rate(ge.runs.load(good)) - regex_pass_rate(ge.runs.load(bad)) >= 0.2


def test_the_demo_measures_every_case(demo: tuple[str, GenkitEval]) -> None:
    _, ge = demo

    summaries = [summary for key in ge.runs.list() for summary in ge.runs.load(key).summary()]

    assert all(summary.verdict == summary.total for summary in summaries)


def test_the_answers_context_is_recorded(demo: tuple[str, GenkitEval]) -> None:
    _, ge = demo
    (key,) = ge.runs.list(target="/flow/pydocAnswer")

    results = ge.runs.load(key).results

    assert all(result.context for result in results)


def test_names_and_entries_are_asked_for_by_the_forty_questions() -> None:
    questions = {sample.test_case_id: sample.input for sample in read_samples(PYDOC / "questions.jsonl")}
    others = [sample for name in ("names.csv", "entries.yaml") for sample in read_samples(PYDOC / name)]

    assert len(questions) == 40
    assert [other for other in others if questions[other.test_case_id] != other.input] == []


def test_the_right_entry_of_every_question_is_in_the_library() -> None:
    """Else the question could not be answered on this Python, by any retriever."""
    code = "from docstrings import entries\nfor entry in entries(): print(entry.name)"
    listed = subprocess.run([sys.executable, "-c", code], cwd=PYDOC, capture_output=True, encoding="utf-8", check=True)

    wanted = {name for sample in read_samples(PYDOC / "questions.jsonl") for name in sample.relevant_ids or ()}

    assert wanted - set(listed.stdout.split()) == set()


def test_the_demo_says_what_it_needs_where_python_has_no_docstrings(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-OO", "-c", "from docstrings import entries\nentries()"],
        cwd=PYDOC,
        env={**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path)},
        capture_output=True,
        encoding="utf-8",
    )

    assert "python -OO" in done.stderr
    assert "Traceback" not in done.stderr


def commands_of(readme: Path) -> list[str]:
    """The `genkit-eval …` commands in its console blocks."""
    text = readme.read_text(encoding="utf-8").replace("\\\n", "")
    return re.findall(r"^\$ genkit-eval (.+)$", text, re.MULTILINE)


@pytest.mark.parametrize("arguments", commands_of(PYDOC / "README.md"))
def test_the_commands_of_its_readme_work(arguments: str, tmp_path: Path) -> None:
    printed = run([sys.executable, "-m", "genkit_eval", *shlex.split(arguments)], tmp_path)

    assert "not judged" not in printed


TOUR_SHOWS = [
    "food_descriptions: 5 samples, version 2",
    "VersionConflict: dataset 'food_descriptions' is at version 2, not 1",
    "custom/length    PASS 69",
    "durian: LookupError: there is no durian in the pantry",
    "custom/keywords: 3 passed, 1 failed, 1 broke, of 5",
    "custom/length    PASS 12",
]


def tour(root: Path) -> str:
    code = f"import runpy, pathlib; runpy.run_path({str(TOUR)!r})['main'](pathlib.Path({str(root)!r}))"
    return run([sys.executable, "-c", code], root)


@pytest.mark.parametrize("line", TOUR_SHOWS)
def test_the_tour_shows(line: str, first_tour: str) -> None:
    assert line in first_tour


@pytest.fixture(scope="module")
def first_tour(tmp_path_factory: pytest.TempPathFactory) -> str:
    return tour(tmp_path_factory.mktemp("tour"))


def test_the_tour_can_be_taken_again(tmp_path: Path) -> None:
    tour(tmp_path)

    again = tour(tmp_path)

    assert "2 run(s) of food_descriptions" in again
