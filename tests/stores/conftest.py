"""What the tests of the stores share: a store in a folder of its own, and a look at all bytes of it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from genkit_eval.stores import LocalFileDatasetStore, LocalFileEvalStore

GENKIT_FILES = Path(__file__).parent.parent / "data" / "genkit"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / ".genkit"


@pytest.fixture
def datasets(root: Path) -> LocalFileDatasetStore:
    return LocalFileDatasetStore(root)


@pytest.fixture
def runs(root: Path) -> LocalFileEvalStore:
    return LocalFileEvalStore(root)


@pytest.fixture
def genkit_root(root: Path) -> Path:
    """A folder as Genkit's own tools left it."""
    shutil.copytree(GENKIT_FILES / "store", root)
    return root


@pytest.fixture
def contents(root: Path) -> Callable[[], dict[str, bytes]]:
    """All files of the store with their bytes."""
    return lambda: {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}
