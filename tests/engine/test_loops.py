"""A run works on whatever loop its caller is on, and leaves it as it was."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import uvloop

from genkit_eval import EvalRun, GenkitEval, run_sync

Run = Callable[[Coroutine[Any, Any, Any]], Any]


def define(ge: GenkitEval) -> dict[str, Any]:
    @ge.flow("f")
    async def flow(x: int) -> int:
        await asyncio.sleep(0)
        return x

    ge.define_evaluator("t/same", lambda point: point.output == point.input)
    return {"target": "f", "evaluators": ["t/same"]}


@pytest.mark.case("run/inside-running-loop")
@pytest.mark.parametrize("run", [asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
def test_inside_a_running_loop_it_is_awaited_as_often_as_one_likes(ge: GenkitEval, run: Run) -> None:
    more = define(ge)

    async def notebook() -> list[EvalRun]:
        return [await ge.evaluate([{"input": i} for i in range(10)], **more) for _ in range(3)]

    runs = run(notebook())

    assert [one.summary()[0].passed for one in runs] == [10, 10, 10]


@pytest.mark.case("run/inside-running-loop")
def test_run_sync_inside_a_running_loop_says_to_await(ge: GenkitEval) -> None:
    more = define(ge)

    async def notebook() -> None:
        with pytest.raises(RuntimeError, match="await"):
            run_sync(ge.evaluate([{"input": 1}], **more))

    asyncio.run(notebook())


def test_a_run_leaves_no_task_behind(ge: GenkitEval) -> None:
    more = define(ge)

    async def main() -> int:
        await ge.evaluate([{"input": i} for i in range(10)], **more)
        return len(asyncio.all_tasks())

    assert asyncio.run(main()) == 1


PROJECT = """
import pytest
from genkit_eval import GenkitEval

@pytest.mark.asyncio
async def test_flow(tmp_path):
    ge = GenkitEval(root=tmp_path / ".genkit")
    ge.define_flow("f", lambda x: x)
    ge.define_evaluator("t/same", lambda point: point.output == point.input)
    for _ in range(2):
        run = await ge.evaluate([{"input": 1}], target="f", evaluators=["t/same"])
    assert run.summary()[0].passed == 1
"""


@pytest.mark.slow
def test_a_project_may_evaluate_under_pytest_asyncio(tmp_path: Path) -> None:
    (tmp_path / "test_project.py").write_text(PROJECT)
    (tmp_path / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("COV", "PYTEST"))}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore::DeprecationWarning"]

    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    assert "1 passed" in done.stdout, done.stdout + done.stderr
