"""Where datasets and runs lie when nobody says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from genkit_eval.errors import ConfigError
from genkit_eval.stores import find_root


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("GENKIT_EVAL_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    inner = tmp_path / "home" / "project" / "src" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "home" / "project" / "pyproject.toml").touch()
    return tmp_path / "home" / "project"


def test_the_one_asked_for_wins(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GENKIT_EVAL_HOME", str(tmp_path / "elsewhere"))

    assert find_root(tmp_path / "asked", start=project) == tmp_path / "asked"


def test_the_variable_comes_next(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GENKIT_EVAL_HOME", str(tmp_path / "elsewhere"))

    assert find_root(start=project) == tmp_path / "elsewhere"


def test_the_nearest_folder_that_has_one_is_taken(project: Path) -> None:
    (project / "src" / ".genkit").mkdir()
    (project / ".genkit").mkdir()

    assert find_root(start=project / "src" / "inner") == project / "src" / ".genkit"


def test_without_one_it_is_at_the_root_of_the_project(project: Path) -> None:
    assert find_root(start=project / "src" / "inner") == project / ".genkit"
    assert not (project / ".genkit").exists()


def test_nothing_outside_the_project_is_taken(project: Path) -> None:
    (project.parent / "other").mkdir()
    (project / "src" / "inner" / "package.json").touch()
    (project / ".genkit").mkdir()

    assert find_root(start=project / "src" / "inner") == project / "src" / "inner" / ".genkit"


def test_the_one_of_the_home_directory_is_never_taken(project: Path) -> None:
    home = project.parent
    (home / ".genkit").mkdir()
    (home / "loose").mkdir()

    assert find_root(start=home / "loose") == home / "loose" / ".genkit"
    assert find_root(start=home) == home / ".genkit-eval"


NO_HOME = """
import os, pwd, sys
def nobody(uid):
    raise KeyError(uid)
pwd.getpwuid = nobody
os.environ.pop("HOME", None)
os.environ.pop("GENKIT_EVAL_HOME", None)
from genkit_eval.stores import find_root
print(find_root())
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows knows no users without a home")
def test_a_user_without_a_home_has_a_root(tmp_path: Path) -> None:
    # as in a container that is started with the number of a user
    done = subprocess.run([sys.executable, "-c", NO_HOME], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done.stdout.strip() == str(tmp_path / ".genkit"), done.stderr


@pytest.mark.parametrize("given", [None, Path("~nobody-of-this-name/x")])
def test_a_home_directory_that_does_not_exist_is_named(
    given: Path | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GENKIT_EVAL_HOME", "~nobody-of-this-name/y")

    with pytest.raises(ConfigError, match=r"is '~nobody-of-this-name/.', but there is no such home directory"):
        find_root(given, start=tmp_path)


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps a folder that somebody is in")
def test_a_removed_folder_is_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GENKIT_EVAL_HOME", raising=False)
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()

    with pytest.raises(ConfigError, match="the current folder was removed"):
        find_root()

    assert find_root(tmp_path) == tmp_path
