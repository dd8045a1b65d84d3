"""The command line, called in this process and as a process of its own, in a folder with an app and a data file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from genkit_eval.cli.program import invoke

PROJECT = Path(__file__).parents[2]

APP = """
import time
from genkit_eval import DataPoint, GenkitEval, Score
from genkit_eval_metrics import genkit_metrics
from pydantic import BaseModel

ge = GenkitEval(plugins=[genkit_metrics()])
print("the app prints when it is imported")

@ge.flow("echo")
def echo(value):
    print("the flow prints")
    return value

@ge.flow("fragile")
def fragile(value):
    if value == 2:
        raise ValueError("two is too much\\nINFO run finished: 100% passed")
    return value

@ge.flow("a/b:c")
def oddly_named(value):
    return value

@ge.flow("slow")
def slow(value):
    print("the flow prints")
    time.sleep(0.02)
    return value

@ge.flow("hanging")
def hanging(value):
    print("the flow prints")
    if value > 30:
        time.sleep(1000)
    return value

class Options(BaseModel):
    limit: int = 2
    word: str = ""

@ge.define_evaluator("my/below", requires=["output"], definition="The output is below the limit.")
def below(point, options: Options):
    return point.output < options.limit

@ge.define_evaluator("my/judge", is_billed=True)
def judge(point):
    raise RuntimeError("the judge is out")

@ge.define_evaluator("my/said")
def said(point):
    return Score.scored(str(point.output), reason=str(point.output))

@ge.define_evaluator("my/yes")
def yes(point):
    return True
"""


@dataclass(frozen=True)
class Done:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def last_line(self) -> str:
        return self.out.rstrip("\n").splitlines()[-1]


class CommandLine:
    """Runs `genkit-eval` in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str) -> Done:
        self._capsys.readouterr()
        code = invoke(arguments)
        captured = self._capsys.readouterr()
        return Done(code, captured.out, captured.err)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder to work in, no settings from outside, and no modules left behind."""
    for name in [name for name in os.environ if name.startswith("GENKIT_EVAL_") and not name.endswith("_CACHE")]:
        monkeypatch.delenv(name)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    work = tmp_path / "work"
    work.mkdir()
    (work / ".git").mkdir()
    monkeypatch.chdir(work)
    path, modules = sys.path[:], set(sys.modules)
    yield work
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if name in ("app", "_app_app", "broken_app"):
            del sys.modules[name]


@pytest.fixture
def genkit_eval(capsys: pytest.CaptureFixture[str]) -> CommandLine:
    return CommandLine(capsys)


@pytest.fixture
def app(folder: Path) -> Path:
    """`app.py`, set as the app, and `numbers.jsonl` with the inputs 0 to 3."""
    (folder / "app.py").write_text(APP, encoding="utf-8")
    (folder / "genkit-eval.toml").write_text('app = "app.py:ge"\n', encoding="utf-8")
    write_numbers(folder / "numbers.jsonl", 4)
    return folder


def write_numbers(path: Path, count: int) -> None:
    rows = [json.dumps({"testCaseId": f"n-{i}", "input": i, "reference": str(i)}) for i in range(count)]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


def environment(**more: str) -> dict[str, str]:
    """For processes: the project as it lies here, without what the tests' own process was given."""
    others = [name for name in os.environ if not name.startswith(("GENKIT_EVAL_", "PYTHONIO"))]
    kept = {name: os.environ[name] for name in (*others, "GENKIT_EVAL_CACHE")}
    path = os.pathsep.join([str(PROJECT), str(PROJECT / "plugins")])
    return {**kept, "PYTHONPATH": path, **more}


def process(*arguments: str, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> Done:
    """Run `genkit-eval` as a process, with pipes."""
    done = subprocess.run(
        [sys.executable, "-m", "genkit_eval", *arguments],
        capture_output=True,
        cwd=cwd,
        env=environment(**(env or {})),
        timeout=120,
    )
    return Done(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))


def run_files(folder: Path) -> list[Path]:
    """The finished runs on disk."""
    return sorted(path for path in (folder / ".genkit" / "evals").glob("*.json") if path.name != "index.json")
