"""Runs, repeats and rescoring as the type checker sees them. It reads this file, pytest runs it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import assert_type

import pytest

from genkit_eval import CaseVerdict, EvalRun, GenkitEval, Repeats

pytestmark = pytest.mark.anyio


async def test_what_repeats_come_to_is_typed(tmp_path: Path) -> None:
    ge = GenkitEval(root=tmp_path / ".genkit")
    ge.define_flow("echo", lambda value: value)
    ge.define_evaluator("t/yes", lambda point: True)

    run = await ge.evaluate([{"input": 1}], target="echo", evaluators=["t/yes"], repeats=Repeats(target=2))
    [row] = run.repeats()
    again = await ge.rescore(run, repeats=Repeats(judge=1))

    assert_type(again, EvalRun)
    assert_type(row.verdicts, Mapping[CaseVerdict, int])
    assert_type(row.cases[0].verdict, CaseVerdict | None)
    assert_type(row.rates[0].every, float)
    assert row.verdicts[CaseVerdict.PASS] == 1


def test_repeats_are_whole_numbers() -> None:
    def check_only(run: EvalRun) -> None:
        Repeats(target="3")  # type: ignore[arg-type]
        Repeats(times=3)  # type: ignore[call-arg]
        run.repeats = []  # type: ignore[method-assign, assignment]

    assert callable(check_only)
