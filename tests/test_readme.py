"""The README is true: its files, its Python and its commands are run in order in one folder, as a reader would.

- A block with a title is a piece of that file: where the file does not hold it, it is added at the end.
- A Python block without a title is a script; each `# prints: …` line is what it prints next.
- In a console block, `$ …` is a command and each line below it is one of its output, in this order. `…` stands for
  anything, and a line that is only `…` for any lines.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from genkit_eval import GenkitEval
from genkit_eval.cli.program import VERBS
from genkit_eval_local import local_metrics
from genkit_eval_metrics import genkit_metrics
from genkit_eval_metrics.reading import ReadingOptions

README = Path(__file__).parents[1] / "README.md"
FENCE = re.compile(r'^```(?P<language>\w+)(?: title="(?P<title>[^"]+)")?\n(?P<text>.*?)^```$', re.MULTILINE | re.DOTALL)
WIDTH = "100"
OURS = f'genkit-eval() {{ "{sys.executable}" -m genkit_eval "$@"; }}'
"""The command of the Python that runs the tests, whatever else is on the path."""


@dataclass(frozen=True)
class Block:
    """A fenced block, with the line of its fence."""

    language: str
    title: str | None
    text: str
    line: int


def blocks() -> list[Block]:
    text = README.read_text(encoding="utf-8")
    return [
        Block(found["language"], found["title"], found["text"], text.count("\n", 0, found.start()) + 1)
        for found in FENCE.finditer(text)
    ]


def commands(block: Block) -> Iterator[tuple[str, list[str]]]:
    """Each command of a console block, with the lines it should print."""
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, *expected = part.replace("\\\n", "").splitlines()
        yield command, expected


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    for name in [name for name in os.environ if name.startswith("GENKIT_EVAL_") and not name.endswith("_CACHE")]:
        monkeypatch.delenv(name)
    return {**os.environ, "COLUMNS": WIDTH, "PYTHONIOENCODING": "utf-8"}


def output_of(command: list[str], folder: Path, environment: dict[str, str]) -> str:
    """What the command prints on both streams, in the order in which it comes."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return subprocess.run(command, cwd=folder, env=environment, encoding="utf-8", timeout=120, **streams).stdout


def assert_shown(expected: list[str], output: str, where: str) -> None:
    """Each expected line is in the output, in this order; spaces count as one."""
    left = iter(output.splitlines())
    for line in expected:
        if line.strip() in ("", "…"):
            continue
        pattern = r"\s+".join(".*".join(map(re.escape, word.split("…"))) for word in line.split())
        found = any(re.fullmatch(pattern, shown.strip()) for shown in left)
        assert found, f"{where}: not shown (in this order): {line}\n\nIt printed:\n{output}"


def put(block: Block, folder: Path) -> None:
    """Add a titled block to its file, unless the file holds it already."""
    assert block.title is not None
    path = folder / block.title
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    if block.text not in text:
        path.write_text(text + block.text, encoding="utf-8")


def test_the_tour_does_what_the_readme_says(tmp_path: Path, environment: dict[str, str]) -> None:
    for block in blocks():
        where = f"README.md:{block.line}"
        if block.title is not None:
            put(block, tmp_path)
        elif block.language == "python":
            printed = re.findall(r"^ *# prints: (.*)$", block.text, re.MULTILINE)
            output = output_of([sys.executable, "-c", block.text], tmp_path, environment)
            assert output.splitlines() == printed, f"{where} printed:\n{output}"
        elif block.language == "console":
            for command, expected in commands(block):
                output = output_of(["bash", "-c", f"{OURS}\n{command}"], tmp_path, environment)
                assert_shown(expected, output, f"{where}: {command}")


def test_the_table_has_every_command() -> None:
    ours = {verb for verb in VERBS if not verb.startswith("eval:")}

    in_table = re.findall(r"^\| `genkit-eval (\w+)` \|", README.read_text(encoding="utf-8"), re.MULTILINE)

    assert sorted(in_table) == sorted(ours)


def test_the_table_has_every_metric_with_its_options() -> None:
    ge = GenkitEval(plugins=[genkit_metrics(), local_metrics()])
    text = README.read_text(encoding="utf-8")
    table_rows = re.finditer(r"^\| `(?P<name>\w+/\w+)` \|.*$", text, re.MULTILINE)
    rows = {row["name"]: row[0] for row in table_rows}

    assert rows.keys() == ge.registry.evaluators.keys()
    for name, evaluator in ge.registry.evaluators.items():
        assert evaluator.options is not None
        for option in evaluator.options.model_fields:
            # those that all judged metrics take are explained once, below their table
            where = text if option in ReadingOptions.model_fields else rows[name]
            assert f"`{option}`" in where
