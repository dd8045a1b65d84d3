"""`python -m genkit_eval.testing`: a server of OpenAI's protocol on loopback, which fails on request."""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import click

from genkit_eval.errors import ConfigError
from genkit_eval.testing.answers import Answer, Call
from genkit_eval.testing.faults import FAULTS, Wrapped, rate_limited, with_faults
from genkit_eval.testing.forms import in_form
from genkit_eval.testing.server import OpenAIServer

__all__ = ["main"]


@dataclass
class _Counts:
    statuses: Counter[str] = field(default_factory=Counter)

    def counting(self, script: Wrapped) -> Wrapped:
        async def answer(call: Call) -> Answer:
            given = script(call)
            said = given if isinstance(given, Answer) else await given
            self.statuses["reset" if said.reset else str(said.status)] += 1
            return said

        return answer


@click.command()
@click.option("--latency", type=click.FloatRange(min=0), default=0.0, metavar="S", help="Seconds before every answer.")
@click.option(
    "--fault",
    "faults",
    multiple=True,
    metavar="NAME=SHARE",
    help=f"A share of the tasks that meet a fault: {', '.join(FAULTS)}, or mixed. Repeatable.",
)
@click.option(
    "--per-second", type=click.FloatRange(min=0, min_open=True), metavar="N", help="Calls a second; then 429."
)
@click.option("--seed", type=int, default=0, metavar="N", help="Draw other tasks for the faults. [0]")
@click.option("--until-input-ends", is_flag=True, help="Serve until standard input ends, not until Ctrl-C.")
def main(latency: float, faults: Sequence[str], per_second: float | None, seed: int, *, until_input_ends: bool) -> None:
    """Serve chat completions, embeddings and the list of models on 127.0.0.1, at a port of the system's choice.

    The first line is the base URL; at the end comes what was counted, as JSON. Every answer is valid by the schema
    that was asked for, and depends on the call alone.
    """
    counts = _Counts()
    try:
        script: Wrapped = with_faults(in_form, dict(map(_share, faults)), seed=seed)
    except ConfigError as problem:
        raise click.UsageError(str(problem)) from problem
    if per_second is not None:
        script = rate_limited(script, per_second)
    with OpenAIServer(counts.counting(script), latency_seconds=latency, keep_calls=False) as server:
        click.echo(server.url)
        _wait(until_input_ends=until_input_ends)
        click.echo(json.dumps({"calls": server.count, "peak": server.peak, **counts.statuses}))


def _share(text: str) -> tuple[str, float]:
    name, _, share = text.partition("=")
    try:
        return name, float(share)
    except ValueError:
        raise click.UsageError(f"--fault {text}: expected NAME=SHARE with a number, like rate_limit=0.05") from None


def _wait(*, until_input_ends: bool) -> None:
    if until_input_ends:
        # Ctrl-C in the terminal is meant for whoever started this one
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        sys.stdin.read()
        return
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        return


if __name__ == "__main__":
    main()
