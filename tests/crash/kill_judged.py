"""Kill a process whose judge asks and asks, and count what is asked twice. Usage: kill_judged.py FOLDER KILLS CACHE.

Each run is gone on with by the next process, until it is finished. Every case takes calls that build on each other: a
kill may cost those under way, one for each case in flight, and none that had been answered.
"""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from processes import start
from pydantic import BaseModel

from genkit_eval import DataPoint, GenkitEval, Limits, Message, Progress, RunState
from genkit_eval.judge import Judge
from genkit_eval.stores import LocalFileEvalStore
from genkit_eval_openai import openai_models

FOLDER, KILLS, CACHE = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
CASES, STEPS, IN_FLIGHT = 40, 5, 4
LOG = FOLDER / "asked"


class Verdict(BaseModel):
    verdict: bool


def app(url: str) -> GenkitEval:
    cache: Any = CACHE
    ge = GenkitEval(plugins=[openai_models(base_url=url)], root=FOLDER / ".genkit", cache=cache)
    judge = Judge(ge.registry.model("openai/judge"))

    @ge.define_evaluator("t/steps", version="1")
    async def steps(point: DataPoint) -> bool:
        said = [True]
        for step in range(STEPS):
            question = f"{point.output}: step {step} after {said}"
            said.append((await judge.ask([Message(role="user", content=question)], Verdict)).verdict)
        return all(said)

    return ge


def samples(number: int) -> list[dict[str, Any]]:
    return [{"testCaseId": f"s{case}", "output": f"run {number}, case {case}"} for case in range(CASES)]


def work(url: str, number: int, say: Callable[[object], None]) -> None:
    ge = app(url)
    left = [key.eval_run_id for key in ge.runs.list() if key.state is RunState.INCOMPLETE]

    def begun(progress: Progress) -> None:
        if not progress.done or progress.done == progress.resumed:
            say("begun")

    more = {"resume": left[0]} if left else {"target": None, "evaluators": ["t/steps"]}
    limits = Limits(max_concurrency=IN_FLIGHT)
    run = asyncio.run(ge.evaluate(samples(number), limits=limits, progress=begun, **more))
    assert [result.metrics[0].score for result in run.results] == [True] * CASES


def asked() -> list[str]:
    return LOG.read_text(encoding="utf-8").splitlines() if LOG.exists() else []


def finished() -> int:
    """How many runs are; the last process may have been killed before it could say so."""
    runs = LocalFileEvalStore(FOLDER / ".genkit").list()
    return sum(key.state is RunState.COMPLETE for key in runs)


def kill_again_and_again(url: str) -> None:
    dice = random.Random(7)
    for kills in range(1, KILLS + 1):
        start(partial(work, url, finished())).kill_after(1, dice.uniform(0, 0.7))
        calls = asked()
        assert len(calls) - len(set(calls)) <= kills * IN_FLIGHT, f"after {kills} kills: {len(calls)} calls"
    # on a slow machine the first run is still not finished
    start(partial(work, url, finished())).end(must_succeed=True)
    calls, runs = asked(), finished()
    ideal = runs * CASES * STEPS
    assert len(set(calls)) == ideal
    print(f"{KILLS} kills, {runs} runs: {len(calls)} calls, {ideal} needed, {len(calls) - ideal} were under way")


def main() -> None:
    # before the processes are forked: it takes a second
    import openai  # noqa: F401

    os.environ["GENKIT_EVAL_CACHE"] = str(FOLDER / "cache")
    command = [sys.executable, str(Path(__file__).with_name("counting_server.py")), str(LOG)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            kill_again_and_again(server.stdout.readline().strip())
        finally:
            server.stdin.close()


if __name__ == "__main__":
    main()
