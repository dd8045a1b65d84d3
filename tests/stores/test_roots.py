"""Where datasets and runs lie when nobody says."""

from __future__ import annotations

from pathlib import Path

import pytest

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
