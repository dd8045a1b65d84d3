"""SIGKILL at random moments: no torn file, no unreadable store, nothing lost that was done."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.case("store-concurrency/kill-mid-write"),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="the scripts fork"),
]


def test_datasets_survive_fifty_kills(run_script: Callable[..., str], tmp_path: Path) -> None:
    assert "between 50 kills" in run_script("kill_datasets.py", tmp_path, 50)


def test_runs_survive_fifty_kills(run_script: Callable[..., str], tmp_path: Path) -> None:
    assert "50 kills" in run_script("kill_runs.py", tmp_path, 50, 2000)


@pytest.mark.parametrize("cache", ["on", "off"])
def test_fifty_kills_cost_no_call_that_was_answered(run_script: Callable[..., str], tmp_path: Path, cache: str) -> None:
    assert "50 kills" in run_script("kill_judged.py", tmp_path, 50, cache)
