"""A sample may run several times: every pass is a result of its own, and none is lost or done twice."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from genkit_eval import ConfigError, DataPoint, EvalRun, GenkitEval, Limits, Repeats, run_sync

SAMPLES = [{"testCaseId": f"s{i}", "input": i} for i in range(3)]


@pytest.fixture
def counted(ge: GenkitEval) -> GenkitEval:
    """An app whose flow says how often it was called; an evaluator passes every second call."""
    calls = itertools.count()

    @ge.flow("count")
    async def count(value: int) -> int:
        return next(calls)

    @ge.define_evaluator("t/even", version="1")
    def even(point: DataPoint) -> bool:
        return int(point.output) % 2 == 0

    return ge


def in_short(run: EvalRun) -> list[tuple[str | None, int | None]]:
    return [(result.test_case_id, result.repeat) for result in run.results]


def test_every_pass_is_a_result_and_those_of_a_sample_lie_side_by_side(counted: GenkitEval) -> None:
    run = run_sync(counted.evaluate(SAMPLES, target="count", evaluators=["t/even"], repeats=Repeats(target=2)))

    assert in_short(run) == [("s0", 0), ("s0", 1), ("s1", 0), ("s1", 1), ("s2", 0), ("s2", 1)]
    assert sorted(result.output for result in run.results) == list(range(6))
    assert run.key.repeats == {"target": 2, "judge": 1}
    assert [summary.total for summary in run.summary()] == [6]


def test_without_repeats_nothing_is_said_of_them(counted: GenkitEval) -> None:
    run = run_sync(counted.evaluate(SAMPLES, target="count", evaluators=["t/even"]))

    assert in_short(run) == [("s0", None), ("s1", None), ("s2", None)]
    assert b"repeat" not in run.path.read_bytes()


def test_a_synchronous_target_repeats_as_well(ge: GenkitEval) -> None:
    ge.define_flow("echo", lambda value: value)
    ge.define_evaluator("t/yes", lambda point: True)

    run = run_sync(ge.evaluate(SAMPLES, target="echo", evaluators=["t/yes"], repeats=Repeats(target=3)))

    assert in_short(run) == [(f"s{i}", n) for i in range(3) for n in range(3)]


@pytest.mark.parametrize("target", [0, -1, 1.5, True, "2"])
def test_a_number_of_repeats_that_is_none_is_refused(target: object) -> None:
    with pytest.raises(ConfigError, match="expected a whole number from 1 up"):
        Repeats(target=target)  # type: ignore[arg-type]  # that is the point


def test_given_outputs_cannot_be_had_again(ge: GenkitEval) -> None:
    ge.define_evaluator("t/yes", lambda point: True)

    with pytest.raises(ConfigError, match="no target is called"):
        run_sync(
            ge.evaluate([{"output": 1}], target=None, evaluators=["t/yes"], repeats=Repeats(target=2)),
        )


@pytest.mark.parametrize("kind", ["inline", "file", "dataset"])
def test_a_run_that_was_stopped_makes_up_for_the_passes_that_are_missing(
    ge: GenkitEval, tmp_path: Path, kind: str
) -> None:
    calls: list[int] = []
    broken = [True]

    @ge.flow("fragile", metadata=None)
    async def fragile(value: int) -> int:
        if broken[0] and len(calls) == 4:
            raise KeyboardInterrupt
        calls.append(value)
        return value

    ge.define_evaluator("t/yes", lambda point: True, version="1")
    file = tmp_path / "samples.jsonl"
    file.write_text("".join(f'{{"testCaseId":"s{i}","input":{i}}}\n' for i in range(3)), encoding="utf-8")
    ge.datasets.create("three", SAMPLES)
    data = {"inline": SAMPLES, "file": file, "dataset": "three"}[kind]
    one_at_a_time = Limits(max_concurrency=1)
    with pytest.raises(KeyboardInterrupt):
        run_sync(
            ge.evaluate(  # type: ignore[arg-type]  # one of several kinds of data
                data, target="fragile", evaluators=["t/yes"], repeats=Repeats(target=3), limits=one_at_a_time
            )
        )
    [key] = ge.runs.list()
    broken[0] = False

    run = run_sync(ge.evaluate(SAMPLES if kind == "inline" else None, resume=key.eval_run_id))

    assert in_short(run) == [(f"s{i}", n) for i in range(3) for n in range(3)]
    assert sorted(calls) == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert run.key.repeats == {"target": 3, "judge": 1}
    assert run.key.case_count == 9
