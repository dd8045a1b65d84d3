"""Whatever targets and evaluators do, and in whatever order: every cell ends, in its place, with the right content."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

import anyio
import pytest

from genkit_eval import DataPoint, GenkitEval, Limits, Outcome, Repeats, run_sync

SAMPLES = 60


class World:
    """Flows and evaluators that misbehave in ways drawn from a seed, and what must come of each cell."""

    def __init__(self, seed: int, root: Path) -> None:
        self.rng = random.Random(seed)
        self.ge = GenkitEval(root=root)
        self.expected: dict[tuple[str, str], str] = {}
        self.broken = {i for i in range(SAMPLES) if self.rng.random() < 0.2}
        self.flow_is_async = self.rng.random() < 0.5
        self.names = [self.define(number) for number in range(self.rng.randrange(1, 5))]
        self.ge.define_flow("f", self.async_flow if self.flow_is_async else self.flow)

    def flow(self, x: int) -> dict[str, Any]:
        if x % 7 == 0:
            time.sleep(0.001)
        if x in self.broken:
            raise ValueError(f"broken {x}")
        return {"x": x, "list": [x]}

    async def async_flow(self, x: int) -> dict[str, Any]:
        if x % 3 == 0:
            await anyio.sleep(0.001 * (x % 5))
        return self.flow(x)

    def define(self, number: int) -> str:
        name = f"t/e{number}"
        fates = {i: self.rng.choice(["pass", "fail", "raise", "change"]) for i in range(SAMPLES)}

        def judge(point: DataPoint) -> bool:
            x = point.input
            assert point.output == {"x": x, "list": [x]}, "saw what another evaluator did"
            if fates[x] == "raise":
                raise RuntimeError("broken ruler")
            if fates[x] == "change":
                point.output["list"].append("vandal")
            return fates[x] == "pass"

        async def async_judge(point: DataPoint) -> bool:
            await anyio.sleep(0.001 * (point.input % 3))
            return judge(point)

        self.ge.define_evaluator(name, async_judge if self.rng.random() < 0.5 else judge)
        self.expected |= {(f"s{i}", f"/evaluator/{name}"): fate for i, fate in fates.items() if i not in self.broken}
        return name


@pytest.mark.parametrize("seed", range(24))
def test_every_cell_ends_in_its_place(seed: int, tmp_path: Path) -> None:
    world = World(seed, tmp_path / ".genkit")
    samples = [{"testCaseId": f"s{i}", "input": i} for i in range(SAMPLES)]
    limits = Limits(max_concurrency=world.rng.choice([1, 2, 7, 32]), target_seconds=20, evaluator_seconds=20)

    times = world.rng.choice([1, 1, 3])
    repeats = Repeats(target=times)

    run = run_sync(world.ge.evaluate(samples, target="f", evaluators=world.names, limits=limits, repeats=repeats))

    passes: list[int | None] = [None] if times == 1 else list(range(times))
    placed = [(result.test_case_id, result.repeat) for result in run.results]
    assert placed == [(f"s{i}", number) for i in range(SAMPLES) for number in passes]
    cells = {}
    for place, result in enumerate(run.results):
        i = place // times
        if i in world.broken:
            assert str(result.error).startswith(f"ValueError: broken {i} (test_any_run.py:")
            assert result.metrics == []
            continue
        assert result.output == {"x": i, "list": [i]}
        for metric in result.metrics:
            cells[str(result.test_case_id), metric.evaluator, result.repeat] = metric
    assert cells.keys() == {(*cell, number) for cell in world.expected for number in passes}
    for (case, evaluator, _), metric in cells.items():
        fate = world.expected[case, evaluator]
        if fate in ("pass", "fail"):
            assert (metric.outcome, metric.score) == (Outcome.VERDICT, fate == "pass")
        else:
            assert metric.outcome is Outcome.FAILED
            assert ("broken ruler" if fate == "raise" else "changed its data point") in str(metric.error)
    for summary in run.summary():
        fates = times * [fate for (_, name), fate in world.expected.items() if name == summary.evaluator]
        assert (summary.passed, summary.failed_status) == (fates.count("pass"), fates.count("fail"))
        assert summary.failed == fates.count("raise") + fates.count("change") + times * len(world.broken)
        assert summary.total == SAMPLES * times
