"""A judge that takes its time, over HTTP in a process of its own: `python -m tests.bench.judge_server`.

It prints its address and, when its standard input ends, how many calls came, and how many of them at one time.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from genkit_eval.testing import Answer, Call, OpenAIServer, chat_answer
from tests.bench.measure import ROOT, environment

__all__ = ["LATENCY", "STATEMENTS", "SUPPORTED", "judge_server", "main"]

LATENCY = 0.1
STATEMENTS = [f"The entry says this in sentence {number}." for number in range(1, 5)]
SUPPORTED = 3
"""So many of the statements hold."""

_VERDICTS = [
    {"number": number, "reason": "The text says so in other words.", "verdict": number <= SUPPORTED}
    for number in range(1, len(STATEMENTS) + 1)
]


def _ready(reply: object) -> Answer:
    body = chat_answer(json.dumps(reply)).body
    # made once: what the server computes is taken from the arms, which have the same cores
    return Answer(body=json.dumps({"model": "judge", **body} if isinstance(body, dict) else body).encode())


def main() -> None:
    """Serve until nobody listens."""
    statements, verdicts = _ready({"statements": STATEMENTS}), _ready({"verdicts": _VERDICTS})
    calls = 0

    def judge(call: Call) -> Answer:
        nonlocal calls
        calls += 1
        server.calls.clear()
        body: Any = call.body
        wanted = body["response_format"]["json_schema"]["schema"]["properties"]
        return statements if "statements" in wanted else verdicts

    with OpenAIServer(judge, latency_seconds=LATENCY) as server:
        print(server.url, flush=True)
        sys.stdin.read()
        print(json.dumps({"calls": calls, "peak": server.peak}), flush=True)


@contextmanager
def judge_server() -> Iterator[tuple[str, dict[str, int]]]:
    """Its address, and what came, which is known when the block has ended."""
    command = [sys.executable, "-m", "tests.bench.judge_server"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, env=environment(), stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        came: dict[str, int] = {}
        try:
            yield process.stdout.readline().strip(), came
        finally:
            # the end of its input is what ends it
            said, _ = process.communicate()
        came.update(json.loads(said))


if __name__ == "__main__":
    main()
