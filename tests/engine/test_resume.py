"""A run that was stopped goes on where it was: nothing lost, nothing done twice."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from genkit_eval import ConfigError, DataFileError, DataPoint, EvalRun, GenkitEval, Limits, NotFound, RunInUse, run_sync
from tests.engine.counting_app import CONCURRENCY, COUNT, build, given, given_to

APP = Path(__file__).with_name("counting_app.py")


def start(root: Path, kind: str) -> subprocess.Popen[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    return subprocess.Popen(
        [sys.executable, str(APP), str(root), kind], stdout=subprocess.PIPE, text=True, env=environment
    )


def kill_after(process: subprocess.Popen[str], done: int) -> str:
    """Kill it once it says that so many cases are done; the run's id."""
    assert process.stdout is not None
    run_id = ""
    for line in process.stdout:
        run_id, count = line.split()
        if int(count) >= done:
            break
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    return run_id


def in_numbers(run: EvalRun) -> list[Any]:
    return [summary.model_dump() for summary in run.summary()]


def calls(root: Path, name: str = "calls") -> int:
    return (root.parent / name).stat().st_size


@pytest.fixture(scope="module", params=["sync", "async"])
def whole(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, EvalRun]:
    """The kind of app, and its run without an interruption."""
    kind = str(request.param)
    ge = build(tmp_path_factory.mktemp("whole") / ".genkit", kind)
    return kind, run_sync(ge.evaluate(given(), target="f", evaluators=["t/vowels", "t/starts_low"]))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_after_a_kill_nothing_is_lost_and_little_is_repeated(
    whole: tuple[str, EvalRun], tmp_path: Path, seed: int
) -> None:
    kind, uninterrupted = whole
    root = tmp_path / ".genkit"
    run_id = kill_after(start(root, kind), random.Random(seed).randrange(COUNT))
    ge = build(root, kind)

    run = asyncio.run(ge.evaluate(given(), resume=run_id))

    assert run.complete
    assert in_numbers(run) == in_numbers(uninterrupted)
    assert [(r.test_case_id, r.output) for r in run.results] == [
        (r.test_case_id, r.output) for r in uninterrupted.results
    ]
    assert all(len(result.metrics) == 2 for result in run.results)
    assert calls(root) <= COUNT + CONCURRENCY
    if kind == "async":
        assert calls(root, "judged") <= COUNT + CONCURRENCY


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_after_a_kill_every_pass_is_there_once_and_few_are_done_again(tmp_path: Path, seed: int) -> None:
    root = tmp_path / ".genkit"
    run_id = kill_after(start(root, "repeated"), random.Random(seed).randrange(COUNT))
    samples, repeats = given_to("repeated")

    run = asyncio.run(build(root, "repeated").evaluate(samples, resume=run_id))

    placed = [(result.test_case_id, result.repeat) for result in run.results]
    assert placed == [(sample["testCaseId"], number) for sample in samples for number in range(repeats.target)]
    assert all(len(result.metrics) == 2 for result in run.results)
    assert calls(root) <= COUNT + CONCURRENCY
    assert calls(root, "judged") <= COUNT + CONCURRENCY


def test_a_finished_run_is_resumed_without_a_call(tmp_path: Path) -> None:
    root = tmp_path / ".genkit"
    ge = build(root, "sync")
    run = run_sync(ge.evaluate(given(), target="f", evaluators=["t/vowels"]))

    again = run_sync(ge.evaluate(resume=run.id))

    assert calls(root) == COUNT
    assert in_numbers(again) == in_numbers(run)


def interrupted(ge: GenkitEval, data: Any, done: int, **more: Any) -> str:
    """Start a run and stop it once so many cases are done; its id."""
    ids: list[str] = []

    async def main() -> None:
        task = asyncio.ensure_future(ge.evaluate(data, progress=lambda p: ids.append(p.run_id), **more))
        while len(ge.runs.load(ids[0]).results if ids else []) < done:
            await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait([task])

    asyncio.run(main())
    return ids[0]


def slow_from(ge: GenkitEval, first: int) -> list[int]:
    """A flow whose first session answers up to an input, then waits for ever; what it was called with."""
    seen: list[int] = []
    stuck = False

    @ge.flow("f")
    async def flow(x: int) -> int:
        nonlocal stuck
        seen.append(x)
        if x >= first and not stuck:
            stuck = True
            await asyncio.Event().wait()
        return x

    ge.define_evaluator("t/even", lambda point: point.output % 2 == 0, version="1")
    return seen


@pytest.mark.case("run/resume-after-dataset-change")
def test_rows_that_changed_are_run_again_and_the_others_are_kept_by_id(tmp_path: Path) -> None:
    ge = GenkitEval(root=tmp_path / ".genkit")
    seen = slow_from(ge, 4)
    rows = [{"testCaseId": f"s{i}", "input": i} for i in range(1, 6)]
    more: dict[str, Any] = {"target": "f", "evaluators": ["t/even"], "limits": Limits(max_concurrency=1)}
    run_id = interrupted(ge, rows, 3, **more)
    seen.clear()
    changed = [{"testCaseId": "new", "input": 77}, rows[0], {"testCaseId": "s2", "input": 22}, *rows[2:]]

    run = run_sync(ge.evaluate(changed, resume=run_id))

    assert seen == [77, 22, 4, 5]
    assert [(r.test_case_id, r.output) for r in run.results] == [
        ("new", 77),
        ("s1", 1),
        ("s2", 22),
        ("s3", 3),
        ("s4", 4),
        ("s5", 5),
    ]
    (summary,) = run.summary()
    assert (summary.total, summary.passed) == (6, 2)


@pytest.mark.parametrize(
    "changed",
    [{"output": "b"}, {"context": ["b"]}, {"tools": [{"name": "b"}]}, {"turns": [{"role": "user", "content": "b"}]}],
)
@pytest.mark.anyio
async def test_a_given_answer_that_changed_in_any_part_is_judged_again(ge: GenkitEval, changed: dict[str, Any]) -> None:
    judged: list[str] = []

    def breaks_at_two(point: DataPoint) -> bool:
        judged.append(point.test_case_id or "")
        if len(judged) == 2:
            raise ValueError("stop here")
        return True

    ge.define_evaluator("t/looks", breaks_at_two, version="1")
    samples: list[dict[str, Any]] = [{"testCaseId": name, "output": "a"} for name in ("one", "two", "three")]
    limits = Limits(max_concurrency=1, max_failures=1)
    run = await ge.evaluate(samples, target=None, evaluators=["t/looks"], limits=limits)

    await ge.evaluate([{**samples[0], **changed}, *samples[1:]], resume=run.id)

    assert judged == ["one", "two", "one", "three"]


def test_a_dataset_run_goes_on_with_the_version_it_began_with(tmp_path: Path) -> None:
    ge = GenkitEval(root=tmp_path / ".genkit")
    slow_from(ge, 3)
    rows = [{"testCaseId": f"s{i}", "input": i} for i in range(5)]
    ge.datasets.create("numbers", rows)
    more: dict[str, Any] = {"target": "f", "evaluators": ["t/even"], "limits": Limits(max_concurrency=1)}
    run_id = interrupted(ge, "numbers", 3, **more)
    ge.datasets.update("numbers", [{"input": 100}], expected_version=1)

    run = run_sync(ge.evaluate(resume=run_id))

    assert [result.output for result in run.results] == [0, 1, 2, 3, 4]
    assert run.key.dataset_version == 1


def test_a_run_of_samples_given_in_code_asks_for_them(tmp_path: Path) -> None:
    ge = GenkitEval(root=tmp_path / ".genkit")
    slow_from(ge, 3)
    run_id = interrupted(
        ge, [{"input": i} for i in range(5)], 2, target="f", evaluators=["t/even"], limits=Limits(max_concurrency=1)
    )

    with pytest.raises(ConfigError, match="give the same data again"):
        run_sync(ge.evaluate(resume=run_id))


def test_a_file_run_goes_on_from_its_file(tmp_path: Path) -> None:
    ge = GenkitEval(root=tmp_path / ".genkit")
    slow_from(ge, 3)
    data = tmp_path / "data.jsonl"
    data.write_text("".join(f'{{"input": {i}}}\n' for i in range(6)))
    run_id = interrupted(ge, data, 3, target="f", evaluators=["t/even"], limits=Limits(max_concurrency=1))

    run = run_sync(ge.evaluate(resume=run_id))

    assert [result.output for result in run.results] == list(range(6))


def test_an_evaluator_that_changed_meanwhile_is_refused(tmp_path: Path) -> None:
    ge = GenkitEval(root=tmp_path / ".genkit")
    slow_from(ge, 3)
    rows = [{"input": i} for i in range(5)]
    run_id = interrupted(ge, rows, 3, target="f", evaluators=["t/even"], limits=Limits(max_concurrency=1))
    changed = GenkitEval(root=ge.root)
    changed.define_flow("f", lambda x: x)
    changed.define_evaluator("t/even", lambda point: True, version="2")

    with pytest.raises(ConfigError, match="began with version 1 of evaluator 't/even', which is now 2"):
        run_sync(changed.evaluate(rows, resume=run_id))


@pytest.mark.slow
def test_a_run_in_progress_cannot_be_resumed_by_another_process(tmp_path: Path) -> None:
    root = tmp_path / ".genkit"
    process = start(root, "async")
    assert process.stdout is not None
    run_id = process.stdout.readline().split()[0]
    ge = build(root, "async")

    with pytest.raises(RunInUse, match=str(process.pid)):
        asyncio.run(ge.evaluate(given(), resume=run_id))

    process.communicate()
    assert process.returncode == 0


def test_an_unknown_run_is_named(tmp_path: Path) -> None:
    ge = GenkitEval(root=tmp_path / ".genkit")

    with pytest.raises(NotFound, match="'run-x'"):
        run_sync(ge.evaluate(resume="run-x"))


def test_a_call_that_outlives_the_run_and_its_loop_ends_in_silence(ge: GenkitEval) -> None:
    entered, release = threading.Event(), threading.Event()

    @ge.flow("f")
    def flow(x: int) -> int:
        entered.set()
        release.wait()
        return x

    async def main() -> None:
        task = asyncio.ensure_future(ge.evaluate([{"input": 1}], target="f", evaluators=[]))
        await asyncio.to_thread(entered.wait)
        task.cancel()
        await asyncio.wait([task])

    # other tests leave calls behind that never end
    before = set(threading.enumerate())
    asyncio.run(main())
    calls = [one for one in threading.enumerate() if one.name == "genkit-eval-call" and one not in before]
    release.set()
    for thread in calls:
        thread.join()

    # pytest fails a test in which a thread ended with an exception
    assert calls


@pytest.mark.parametrize(
    "damaged", ['{"broken":1}', '{"testCaseId":"s0","input":0,"metrics":[{"evaluator":"x"}]}', "{}"]
)
def test_a_damaged_line_that_is_json_all_the_same_is_done_again(ge: GenkitEval, damaged: str) -> None:
    ge.define_evaluator("t/yes", lambda point: True)
    stop = 3

    def flow(x: int) -> int:
        if x == stop:
            raise KeyboardInterrupt
        return x

    ge.define_flow("f", flow)
    samples = [{"testCaseId": f"s{i}", "input": i} for i in range(5)]
    with pytest.raises(KeyboardInterrupt):
        run_sync(ge.evaluate(samples, target="f", evaluators=["t/yes"], limits=Limits(max_concurrency=1)))
    (key,) = ge.runs.list()
    journal = ge.runs.load(key.eval_run_id).path
    header, _, *rest = journal.read_text(encoding="utf-8").splitlines()
    journal.write_text("\n".join([header, damaged, *rest]) + "\n", encoding="utf-8")
    stop = -1

    run = run_sync(ge.evaluate(samples, resume=key.eval_run_id))

    assert [(one.test_case_id, one.output) for one in run.results] == [(f"s{i}", i) for i in range(5)]
    assert run.summary()[0].passed == 5


def test_a_file_that_was_touched_is_checked_again_before_the_run_goes_on(tmp_path: Path) -> None:
    ge = GenkitEval(root=tmp_path / ".genkit")
    slow_from(ge, 3)
    data = tmp_path / "data.jsonl"
    rows = [f'{{"testCaseId": "s{i}", "input": {i}}}\n' for i in range(6)]
    data.write_text("".join(rows))
    run_id = interrupted(ge, data, 3, target="f", evaluators=["t/even"], limits=Limits(max_concurrency=1))
    data.write_text("".join([*rows, "{torn"]))

    with pytest.raises(DataFileError, match="line 7"):
        run_sync(ge.evaluate(resume=run_id))

    data.write_text("".join([*rows, '{"testCaseId": "s6", "input": 6}\n']))
    run = run_sync(ge.evaluate(resume=run_id))

    assert [result.output for result in run.results] == list(range(7))


def test_a_flow_that_changed_meanwhile_is_told(tmp_path: Path) -> None:
    ge = GenkitEval(root=tmp_path / ".genkit")
    slow_from(ge, 3)
    rows = [{"input": i} for i in range(5)]
    run_id = interrupted(ge, rows, 3, target="f", evaluators=["t/even"], limits=Limits(max_concurrency=1))
    changed = GenkitEval(root=ge.root)
    changed.define_flow("f", lambda x: x + 100)
    changed.define_evaluator("t/even", lambda point: point.output % 2 == 0, version="1")
    notices: list[str] = []

    run = run_sync(changed.evaluate(rows, resume=run_id, progress=lambda progress: notices.extend(progress.notices)))

    assert [result.output for result in run.results] == [0, 1, 2, 103, 104]
    assert ["/flow/f has changed since the run began" in notice for notice in notices] == [True]


def test_a_file_that_is_gone_is_asked_for(tmp_path: Path) -> None:
    ge = GenkitEval(root=tmp_path / ".genkit")
    slow_from(ge, 3)
    data = tmp_path / "data.jsonl"
    data.write_text("".join(f'{{"input": {i}}}\n' for i in range(6)))
    run_id = interrupted(ge, data, 3, target="f", evaluators=["t/even"], limits=Limits(max_concurrency=1))
    moved = data.rename(tmp_path / "moved.jsonl")

    with pytest.raises(ConfigError, match="is not there any more: give the same data again"):
        run_sync(ge.evaluate(resume=run_id))

    assert len(run_sync(ge.evaluate(moved, resume=run_id)).results) == 6


def test_an_output_whose_judge_was_still_out_is_no_finished_case(tmp_path: Path) -> None:
    ge = GenkitEval(root=tmp_path / ".genkit")
    ge.define_flow("f", lambda x: x)
    stuck = asyncio.Event()

    @ge.define_evaluator("t/judge", version="1")
    async def judge(point: DataPoint) -> bool:
        if point.input >= 3 and not stuck.is_set():
            await asyncio.Event().wait()
        return True

    rows = [{"testCaseId": f"s{i}", "input": i} for i in range(6)]
    run_id = interrupted(ge, rows, 4, target="f", evaluators=["t/judge"], limits=Limits(max_concurrency=1))
    kept = ge.runs.load(run_id)
    outputs, finished = len(kept.results), [result.test_case_id for result in kept.finished()]
    figures = [(summary.total, summary.inconclusive) for summary in kept.summary()]
    stuck.set()

    run = run_sync(ge.evaluate(rows, resume=run_id))

    assert outputs == 4
    assert finished == ["s0", "s1", "s2"]
    assert figures == [(3, 0)]
    assert run.summary()[0].passed == 6
