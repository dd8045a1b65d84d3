"""A finished run's outputs are judged once more: the target is not called, and what it gave is kept."""

from __future__ import annotations

import itertools
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import pytest

from genkit_eval import ConfigError, DataError, DataPoint, EvalRun, GenkitEval, Limits, NotGiven, Repeats, run_sync
from genkit_eval.report.run_report import run_subject
from genkit_eval.stored import EvalRunKey, RunState

SAMPLES = [{"testCaseId": f"s{i}", "input": i, "reference": i % 2, "tags": ["t"]} for i in range(4)]


class App:
    """A flow that counts its calls and fails once, and evaluators of which one can be told to stop."""

    def __init__(self, root: Path) -> None:
        self.calls, self.judged = itertools.count(), itertools.count()
        self.stop_at: int | None = None
        self.stuck = anyio.Event()
        self.ge = GenkitEval(root=root)
        self.ge.define_flow("parity", self._flow)
        self.ge.define_evaluator("t/equal", self._equal, version="1")
        self.ge.define_evaluator("t/low", self._low, version="1", kind="agentic")

    async def _flow(self, value: int) -> int:
        next(self.calls)
        if value == 3:
            raise ValueError("three is too much")
        return value % 2

    def _equal(self, point: DataPoint) -> bool:
        return bool(point.output == point.reference)

    async def _low(self, point: DataPoint) -> bool:
        if next(self.judged) == self.stop_at:
            self.stuck.set()
            await anyio.sleep_forever()
        return bool(point.output == 0)

    def parent(self, repeats: int = 1) -> EvalRun:
        return run_sync(
            self.ge.evaluate(SAMPLES, target="parity", evaluators=["t/equal"], repeats=Repeats(target=repeats))
        )

    def stopped(self, at: int, run: Callable[[], Awaitable[EvalRun]]) -> EvalRunKey:
        """Cancel a run in its judge's call of that number; the key of what is left."""
        self.stop_at = at

        async def main() -> None:
            self.stuck = anyio.Event()
            async with anyio.create_task_group() as group:
                group.start_soon(run)
                await self.stuck.wait()
                group.cancel_scope.cancel()

        anyio.run(main)
        [key] = [key for key in self.ge.runs.list() if key.state is RunState.INCOMPLETE]
        return key


@pytest.fixture
def app(tmp_path: Path) -> App:
    return App(tmp_path / ".genkit")


def test_outputs_are_judged_anew_and_the_target_is_left_alone(app: App) -> None:
    parent = app.parent()
    calls = next(app.calls)

    run = run_sync(app.ge.rescore(parent, ["t/low"]))

    assert next(app.calls) == calls + 1
    assert [(r.test_case_id, r.output, r.error) for r in run.results] == [
        (r.test_case_id, r.output, r.error) for r in parent.results
    ]
    assert [[(m.name, m.score) for m in r.metrics] for r in run.results] == [
        [("t/low", True)],
        [("t/low", False)],
        [("t/low", True)],
        [],
    ]
    assert run.key.target_errors == 1


def test_the_new_run_names_its_parent_and_what_made_the_outputs(app: App) -> None:
    parent = app.parent()
    before = parent.path.read_bytes()

    run = run_sync(app.ge.rescore(parent.id, ["t/low"]))

    assert (run.key.parent, run.key.state) == (parent.id, RunState.COMPLETE)
    assert (run.key.action_ref, run.key.action_version) == (parent.key.action_ref, parent.key.action_version)
    assert run.id != parent.id
    assert parent.path.read_bytes() == before
    assert [key.eval_run_id for key in app.ge.runs.list(target="/flow/parity")] == [run.id, parent.id]


def test_the_file_of_the_samples_is_named_again(app: App, tmp_path: Path) -> None:
    file = tmp_path / "samples.jsonl"
    file.write_text('{"testCaseId": "a", "input": 1, "reference": 1}\n', encoding="utf-8")
    parent = run_sync(app.ge.evaluate(file, target="parity", evaluators=["t/equal"]))
    file.unlink()

    run = run_sync(app.ge.rescore(parent))

    assert run_subject(run.key) == run_subject(parent.key) == "flow parity on samples.jsonl"


def test_what_was_known_of_a_sample_is_known_again(app: App) -> None:
    parent = app.parent()

    run = run_sync(app.ge.rescore(parent, ["t/low"]))

    for old, new in zip(parent.results, run.results, strict=True):
        assert {**new.to_json(), "metrics": None} == {**old.to_json(), "metrics": None}


def test_without_evaluators_those_of_the_run_judge_again_with_their_options(app: App) -> None:
    parent = app.parent()

    run = run_sync(app.ge.rescore(parent))

    assert [record.evaluator for record in run.key.evaluators] == ["/evaluator/t/equal"]
    assert [row.passed for row in run.summary()] == [3]


def test_repeats_keep_their_numbers(app: App) -> None:
    parent = app.parent(repeats=2)

    run = run_sync(app.ge.rescore(parent, ["t/low"]))

    assert [(r.test_case_id, r.repeat) for r in run.results] == [(f"s{i}", n) for i in range(4) for n in range(2)]
    assert run.key.repeats == {"target": 2, "judge": 1}


def test_judges_may_be_asked_several_times(app: App) -> None:
    run = run_sync(app.ge.rescore(app.parent(), ["t/low"], repeats=Repeats(judge=3)))

    assert next(app.judged) == 9
    assert run.key.repeats == {"target": 1, "judge": 3}


@pytest.mark.parametrize("repeats", [1, 2])
def test_a_rescoring_that_was_stopped_goes_on_where_it_was(app: App, repeats: int) -> None:
    parent = app.parent(repeats=repeats)
    calls = next(app.calls)
    stopped = app.stopped(2, lambda: app.ge.rescore(parent, ["t/low"], limits=Limits(max_concurrency=1)))

    run = run_sync(app.ge.evaluate(resume=stopped.eval_run_id))

    assert (run.complete, run.key.parent) == (True, parent.id)
    assert len(run.results) == 4 * repeats
    # each of the three answers a case once, and the one that was under way again
    assert next(app.judged) == 3 * repeats + 1
    assert next(app.calls) == calls + 1


def test_an_unfinished_run_is_refused(app: App) -> None:
    key = app.stopped(1, lambda: app.ge.evaluate(SAMPLES, target="parity", evaluators=["t/low"]))

    with pytest.raises(ConfigError, match="is not finished: resume it first"):
        run_sync(app.ge.rescore(key, ["t/equal"]))


def test_a_target_cannot_be_repeated(app: App) -> None:
    with pytest.raises(ConfigError, match="no target is called"):
        run_sync(app.ge.rescore(app.parent(), repeats=Repeats(target=2)))


def test_a_resumed_rescoring_takes_no_data(app: App) -> None:
    parent = app.parent()
    stopped = app.stopped(0, lambda: app.ge.rescore(parent, ["t/low"]))

    with pytest.raises(ConfigError, match="it takes no data"):
        run_sync(app.ge.evaluate(SAMPLES, resume=stopped.eval_run_id))


def test_a_rescoring_whose_parent_is_gone_says_so(app: App) -> None:
    parent = app.parent()
    stopped = app.stopped(0, lambda: app.ge.rescore(parent, ["t/low"]))
    app.ge.runs.delete(parent.id)

    with pytest.raises(ConfigError, match=f"judges the outputs of run '{parent.id}', which is gone"):
        run_sync(app.ge.evaluate(resume=stopped.eval_run_id))


def foreign(app: App, *ids: str) -> str:
    """A run file of Genkit's own tools, which know neither evaluators nor outcomes."""
    results = [{"testCaseId": name, "input": 1, "output": 0, "traceIds": [], "metrics": []} for name in ids]
    key = {"evalRunId": "theirs", "createdAt": "2026-11-30T09:00:00Z", "actionRef": "/flow/elsewhere"}
    folder = app.ge.root / "evals"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "theirs.json").write_text(json.dumps({"key": key, "results": results}), encoding="utf-8")
    return "theirs"


def test_a_run_of_other_tools_can_be_judged_too(app: App) -> None:
    run = run_sync(app.ge.rescore(foreign(app, "a", "b"), ["t/low"]))

    assert [(r.test_case_id, r.metrics[0].score) for r in run.results] == [("a", True), ("b", True)]
    assert run.key.action_ref == "/flow/elsewhere"


def test_a_run_that_names_no_evaluators_asks_for_some(app: App) -> None:
    with pytest.raises(NotGiven, match="names no evaluators"):
        run_sync(app.ge.rescore(foreign(app, "a")))


def test_results_that_cannot_be_told_apart_are_refused(app: App) -> None:
    with pytest.raises(DataError, match="has test case 'a' twice"):
        run_sync(app.ge.rescore(foreign(app, "a", "a"), ["t/low"]))
