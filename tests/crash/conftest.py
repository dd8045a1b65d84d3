"""The crash tests run scripts of this folder as processes of their own, and kill them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture
def run_script() -> Callable[..., str]:
    """Run a script of this folder to its end; what it prints. Fails with its error output if it fails."""

    def run(name: str, *args: object) -> str:
        command = [sys.executable, str(HERE / name), *map(str, args)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
