"""A judge over HTTP that writes down what it is asked, a line a call, before it answers. Usage: counting_server.py LOG.

It prints its address, and serves until its input ends.
"""

from __future__ import annotations

import os
import sys

from genkit_eval.testing import Call, OpenAIServer


def main() -> None:
    log = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def judge(call: Call) -> str:
        os.write(log, f"{call.text()}\n".encode())
        return '{"verdict": true}'

    with OpenAIServer(judge, latency_seconds=0.004) as server:
        print(server.url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
