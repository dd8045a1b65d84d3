"""Kill a process that writes a run, again and again, and look at what it left. Usage: kill_runs.py ROOT ROUNDS RESULTS.

Every run is gone on with by the next process, until it is finished; nothing that was flushed may be missing.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from processes import start

from genkit_eval.errors import NotFound
from genkit_eval.stored import EvalRunKey, RunState
from genkit_eval.stores import Journal, LocalFileEvalStore

ROOT, ROUNDS, RESULTS = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])


def key(run_id: str) -> EvalRunKey:
    return EvalRunKey(eval_run_id=run_id, created_at=datetime(2026, 1, 2, tzinfo=UTC))


def opened(store: LocalFileEvalStore, run_id: str) -> Journal:
    try:
        return store.reopen(run_id)
    except NotFound:
        return store.begin(key(run_id))


def work(run_id: str, say: Callable[[object], None]) -> None:
    journal = opened(LocalFileEvalStore(ROOT), run_id)
    have = {value["testCaseId"]: slot for slot, value in journal.entries()}
    for number in range(RESULTS):
        name = f"case-{number}"
        if name not in have:
            value = {"testCaseId": name, "input": "x" * 10000, "traceIds": [], "metrics": [{"evaluator": "early"}]}
            have[name] = journal.add(json.dumps(value, separators=(",", ":")).encode())
            journal.add_metric(have[name], b'{"evaluator":"late"}')
        if number % 50 == 49:
            journal.flush()
            say(len(have))
    journal.finish(key(run_id), [have[f"case-{number}"] for number in range(RESULTS)])
    say("finished")


def check(run_id: str, flushed: int, *, finished: bool) -> bool:
    for path in (ROOT / "evals" / "index.json", ROOT / "evals" / f"{run_id}.json"):
        if path.exists():
            json.loads(path.read_bytes())
    store = LocalFileEvalStore(ROOT)
    states = {one.eval_run_id: one.state for one in store.list()}
    if run_id not in states:
        assert flushed == 0, f"{run_id} is lost"
        assert not finished, f"{run_id} is lost"
        return False
    run = store.load(run_id)
    assert run.complete == (states[run_id] is RunState.COMPLETE)
    assert run.complete or not finished
    assert len(run.results) >= flushed, f"{run_id}: {len(run.results)} of {flushed} flushed results"
    assert not store.unreadable()
    results = list(run.results)
    names = [one.test_case_id for one in results]
    assert len(set(names)) == len(names)
    # a result may be there without its late metric when the kill fell between the two lines
    late = [len(one.metrics) for one in results]
    assert set(late) <= {1, 2}
    assert late[:flushed].count(1) == 0, f"{run_id}: a late metric is lost"
    if run.complete:
        assert names == [f"case-{number}" for number in range(RESULTS)]
    return run.complete


def main() -> None:
    dice = random.Random(7)
    run_number, flushed, finished_runs, interrupted = 0, 0, 0, 0
    flushes = RESULTS // 50
    for turn in range(ROUNDS):
        run_id = f"run-{run_number}"
        # while adding, while finishing, and now and then after it
        lines = flushes + 1 if turn % 10 == 9 else flushes if turn % 3 == 0 else dice.randrange(flushes)
        said = start(partial(work, run_id)).kill_after(lines, dice.uniform(0, 0.05))
        flushed = max([flushed, *(int(line) for line in said if line != "finished")])
        if check(run_id, flushed, finished="finished" in said):
            run_number, flushed, finished_runs = run_number + 1, 0, finished_runs + 1
        else:
            interrupted += 1
    print(f"{ROUNDS} kills: {finished_runs} runs finished, {interrupted} times interrupted")
    assert finished_runs
    assert interrupted


if __name__ == "__main__":
    main()
