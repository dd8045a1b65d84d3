"""A stranger's plugin needs nothing but its own distribution: install it, and the command line has it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent.parent
ACME = Path(__file__).parent / "acme_plugin"


def run(*command: str, cwd: Path, path: Path | None = None) -> str:
    environment = os.environ | ({"PYTHONPATH": str(path)} if path else {})
    done = subprocess.run(
        [sys.executable, *command], cwd=cwd, env=environment, capture_output=True, text=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the project and the plugin as pip installs them; what they depend on is in this environment."""
    target = tmp_path_factory.mktemp("site")
    offline = ("--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check")
    run("-m", "pip", "install", "--quiet", *offline, "--target", str(target), str(PROJECT), str(ACME), cwd=target)
    return target


def test_its_evaluators_are_listed_beside_our_own(installed: Path, tmp_path: Path) -> None:
    listed = run("-m", "genkit_eval", "evaluator", "list", "--json", cwd=tmp_path, path=installed)

    assert "acme/brevity" in listed
    assert "genkitEval/regex" in listed


def test_its_evaluator_takes_options_from_the_command_line(installed: Path, tmp_path: Path) -> None:
    samples = [{"testCaseId": "short", "input": 1, "output": "four words are fine"}]
    (tmp_path / "answers.json").write_text(json.dumps(samples), encoding="utf-8")

    command = ("run", "answers.json", "-e", "acme/brevity:max_words=8", "--root", ".genkit")
    run("-m", "genkit_eval", *command, cwd=tmp_path, path=installed)

    [run_file] = [path for path in (tmp_path / ".genkit" / "evals").glob("*.json") if path.name != "index.json"]
    [result] = json.loads(run_file.read_text(encoding="utf-8"))["results"]
    [metric] = result["metrics"]
    assert metric["evaluator"] == "/evaluator/acme/brevity"
    assert metric["score"] == 0.5
    assert metric["rationale"] == "4 of at most 8 words"


def test_it_works_without_being_installed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given to `GenkitEval(plugins=[…])`, a plugin needs no entry point."""
    monkeypatch.syspath_prepend(str(ACME))
    from acme_eval import acme_metrics

    from genkit_eval import GenkitEval

    ge = GenkitEval(plugins=[acme_metrics()])

    assert ge.registry.evaluator("acme/brevity").name == "acme/brevity"
