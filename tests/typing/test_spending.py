"""What a run may take and what it took have types. The type checker reads this file, pytest runs it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import assert_type

import pytest

from genkit_eval import Budget, EvalRun, GenkitEval, Limits, Price, StopCause, Stopped
from genkit_eval.stored import ModelUsage

pytestmark = pytest.mark.anyio


async def test_a_run_with_a_budget_says_why_it_stopped_and_what_it_took(tmp_path: Path) -> None:
    ge = GenkitEval(root=tmp_path, prices={"house/*": Price(input=1, output=2.5, cached=0.5)})
    ge.define_flow("f", lambda given: given)

    run = await ge.evaluate(
        [{"input": number} for number in range(1000)],
        target="f",
        evaluators=[],
        limits=Limits(max_concurrency=1, sample_seconds=60, max_failures=0.1),
        budget=Budget(usd=1.5, tokens=10_000, calls=100, seconds=1e-6),
    )

    assert_type(run, EvalRun)
    assert_type(run.key.stopped, Stopped | None)
    assert_type(run.key.usage, Sequence[ModelUsage])
    if run.key.stopped is not None:
        assert_type(run.key.stopped.cause, StopCause)
    assert run.key.budget == {"usd": 1.5, "tokens": 10_000, "calls": 100, "seconds": 1e-6}
