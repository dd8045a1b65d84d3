"""Whatever may be a target is one for the type checker too. It reads this file, pytest runs it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import assert_type

import pytest

from genkit_eval import CommandTarget, EvalRun, GenkitEval, HttpTarget, ModelTarget, run_sync
from genkit_eval.testing import ScriptedModel


def test_a_target_says_how_it_is_called() -> None:
    endpoint = HttpTarget("http://127.0.0.1:8000/", request="$", headers={"Authorization": "Bearer ${TOKEN}"})

    assert_type(endpoint.request, str | None)
    assert_type(endpoint.place, str)


@pytest.mark.parametrize(
    "target", [ModelTarget("test/m", config={"seed": 7}), CommandTarget([sys.executable, "-c", "print(1)"])]
)
def test_a_target_is_an_argument_of_evaluate(target: ModelTarget | CommandTarget, tmp_path: Path) -> None:
    ge = GenkitEval(root=tmp_path)
    ge.define_models("test", {"m": ScriptedModel("1")})

    run = run_sync(ge.evaluate([{"input": "?"}], target=target, evaluators=[]))

    assert_type(run, EvalRun)
    assert run.results[0].error is None
