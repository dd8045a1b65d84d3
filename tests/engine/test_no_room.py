"""A disk that is full in the middle of a run: a clear error, and what ended before is kept."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from genkit_eval import GenkitEval, RunState, run_sync

APP = """
import resource, sys
from genkit_eval import GenkitEval, StoreError, run_sync

ge = GenkitEval(root=sys.argv[1])
ge.define_flow("f", lambda x: "x" * 1000)
ge.define_evaluator("t/true", lambda point: True, version="1")
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
try:
    run_sync(ge.evaluate([{"testCaseId": f"s{i}", "input": i} for i in range(1000)], target="f", evaluators=["t/true"]))
except StoreError as problem:
    print(problem)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="the limit on file sizes is Unix's")
@pytest.mark.slow
def test_a_full_disk_ends_the_run_and_keeps_what_was_done(tmp_path: Path) -> None:
    root = tmp_path / ".genkit"

    done = subprocess.run([sys.executable, "-c", APP, str(root)], capture_output=True, text=True, check=False)

    assert ".journal.jsonl" in done.stdout, done.stderr
    ge = GenkitEval(root=root)
    ge.define_flow("f", lambda x: "x" * 1000)
    ge.define_evaluator("t/true", lambda point: True, version="1")
    (key,) = ge.runs.list()
    kept = len(ge.runs.load(key).results)
    run = run_sync(ge.evaluate([{"testCaseId": f"s{i}", "input": i} for i in range(1000)], resume=key.eval_run_id))
    assert key.state is RunState.INCOMPLETE
    assert 50 < kept < 1000
    assert run.summary()[0].passed == 1000
