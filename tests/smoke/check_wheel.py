"""Run by an environment that holds nothing but the built wheel: is everything in it, and does it work?

python -I tests/smoke/check_wheel.py
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import subprocess
import sys
import tempfile
from importlib.metadata import distribution, entry_points
from pathlib import Path

import genkit_eval
import genkit_eval_heuristics
import genkit_eval_judges
import genkit_eval_local
import genkit_eval_metrics
import genkit_eval_openai
from genkit_eval import GenkitEval, run_sync
from genkit_eval_metrics import genkit_metrics

PACKAGES = (
    genkit_eval,
    genkit_eval_heuristics,
    genkit_eval_judges,
    genkit_eval_local,
    genkit_eval_metrics,
    genkit_eval_openai,
)
NEEDS_AN_EXTRA = {"genkit_eval.pytest_plugin"}

SAMPLES = [
    {"testCaseId": "upper", "input": "paris", "reference": "PARIS"},
    {"testCaseId": "wrong", "input": "paris", "reference": "Rome"},
]


def check_files() -> None:
    """The wheel was installed, not the source tree, with type marker, licence and every module importable."""
    for package in PACKAGES:
        home = Path(package.__path__[0])
        assert home.is_relative_to(sys.prefix), f"{home} is not in {sys.prefix}"
        assert (home / "py.typed").is_file(), f"no py.typed in {home}"
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if module.name not in NEEDS_AN_EXTRA and not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    files = {path.name for path in distribution("genkit-eval").files or ()}
    assert "LICENSE" in files
    assert {"genkitEval", "heuristics", "local", "openai"} <= entry_points(group="genkit_eval.plugins").names


def check_sources(project: Path) -> None:
    """Every file of the packages in the source tree (prompts, type markers) came along."""
    for package in PACKAGES:
        [source] = [path for path in project.glob(f"**/{package.__name__}") if (path / "py.typed").is_file()][:1]
        installed = Path(package.__path__[0])
        for path in source.rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                assert (installed / path.relative_to(source)).is_file(), f"the wheel lacks {path}"


def check_run(root: Path) -> None:
    """A small run with the three metrics of the plugin: scores, summary and file."""
    ge = GenkitEval(plugins=[genkit_metrics()], root=root)

    @ge.flow("upper")
    def upper(text: str) -> str:
        return text.upper()

    jsonata = [{**sample, "reference": f"$ = '{sample['reference']}'"} for sample in SAMPLES]
    for samples, names in ((SAMPLES, ["genkitEval/regex", "genkitEval/deep_equal"]), (jsonata, ["genkitEval/jsonata"])):
        run = run_sync(ge.evaluate(samples, target="/flow/upper", evaluators=names))
        assert [row.pass_rate for row in run.summary()] == [0.5] * len(names), run.summary()
        assert len(json.loads(run.path.read_text(encoding="utf-8"))["results"]) == len(samples)


def check_command_line() -> None:
    """Both ways to start it."""
    for command in ([str(Path(sys.executable).parent / "genkit-eval")], [sys.executable, "-I", "-m", "genkit_eval"]):
        shown = subprocess.run([*command, "--help"], check=True, capture_output=True, text=True).stdout
        assert "evaluator" in shown, shown
        listed = subprocess.run([*command, "evaluator", "list"], check=True, capture_output=True, text=True).stdout
        assert "genkitEval/regex" in listed, listed


if __name__ == "__main__":
    check_files()
    check_sources(Path(__file__).parents[2])
    with tempfile.TemporaryDirectory() as folder:
        check_run(Path(folder) / ".genkit")
    check_command_line()
    print(f"the wheel of genkit-eval {distribution('genkit-eval').version} works")
