"""Begin or reopen a run, say so, and hold it until the input ends. Usage: hold_run.py ROOT RUN_ID begin|reopen."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

from genkit_eval.stored import EvalRunKey
from genkit_eval.stores import LocalFileEvalStore, new_run_id

root, run_id, verb = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
store = LocalFileEvalStore(root)
if verb == "begin":
    run_id = new_run_id() if run_id == "new" else run_id
    journal = store.begin(EvalRunKey(eval_run_id=run_id, created_at=datetime.now(UTC)))
    journal.add(b'{"testCaseId":"a","input":1,"traceIds":[],"metrics":[]}')
    journal.flush()
else:
    journal = store.reopen(run_id)
print(run_id, flush=True)
sys.stdin.read()
journal.close()
