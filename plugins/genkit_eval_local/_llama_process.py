"""The process that serves one model file, for `_llama_server`: llama.cpp's own server, as `xllamacpp` brings it.

It is started as `python -I _llama_process.py` and imports nothing of this package. The first line of its stdin is a
JSON object of settings, the first of its stdout `{"port": …}` or `{"error": …}`. It serves on the loopback address
until its stdin is closed: which the system does when the process that started it ends, however it ends.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

__all__ = ["main"]


def main() -> int:
    """Serve until stdin is closed; exit code 1 if that cannot begin."""
    settings = json.loads(sys.stdin.readline())
    sys.path[:] = settings["path"]
    # whatever the library prints goes to stderr: stdout is for our one line
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    try:
        server = _served(settings)
    except ImportError as problem:
        print(json.dumps({"error": str(problem), "missing": True}), file=answer, flush=True)
        return 1
    except RuntimeError as problem:
        print(json.dumps({"error": str(problem)}), file=answer, flush=True)
        return 1
    print(json.dumps({"port": int(server.listening_address.rpartition(":")[2])}), file=answer, flush=True)
    sys.stdin.read()
    # its threads may be in the middle of a reply that nobody waits for
    os._exit(0)


def _served(settings: dict[str, Any]) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = settings["model"]
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.api_keys = [settings["key"]]
    params.n_parallel, params.n_ctx = settings["slots"], settings["slots"] * settings["context_tokens"]
    if settings["threads"] is not None:
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = settings["threads"]
    params.offline = True
    params.ui = params.endpoint_slots = params.endpoint_props = False
    # errors only: a line a request would be the prompts' second home
    params.verbosity = 1
    return xllamacpp.Server(params)


if __name__ == "__main__":
    sys.exit(main())
