"""Runs to report on, made by the real store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from genkit_eval import EvalResult, EvalRun, EvalRunKey, LocalFileEvalStore

MakeRun = Callable[..., EvalRun]


@pytest.fixture
def make_run(tmp_path: Path) -> MakeRun:
    """A stored run of the given results."""

    def make(results: Sequence[EvalResult], **key: Any) -> EvalRun:
        store = LocalFileEvalStore(tmp_path / ".genkit")
        values = {"evalRunId": "run-1", "createdAt": datetime(2026, 11, 30, tzinfo=UTC), **key}
        store.save(EvalRunKey.model_validate(values), results)
        return EvalRun(store.load("run-1"))

    return make
