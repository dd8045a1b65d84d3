"""Print the benchmark's tables: `python -m tests.bench [--quick] [--only TOPIC] [--million] [--install]`.

The exit code is 0 whatever the figures are: a machine that others use as well is no judge.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench import builtin, cheap, faults, heuristics, imports, judged, limits, resume, store, waits
from tests.bench.options import Options
from tests.bench.table import Table, render

__all__ = ["main"]

TOPICS: Mapping[str, Callable[[Options], Iterable[Table]]] = {
    "cheap": cheap.tables,
    "builtin": builtin.tables,
    "jsonata": builtin.jsonata_tables,
    "heuristics": heuristics.tables,
    "imports": imports.tables,
    "store": store.tables,
    "resume": resume.tables,
    "waits": waits.tables,
    "judged": judged.tables,
    "limits": limits.tables,
    "faults": faults.tables,
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="How fast, beside hand-written loops.")
    parser.add_argument("--quick", action="store_true", help="one or two minutes: fewer samples, fewer rounds")
    parser.add_argument("--only", action="append", choices=TOPICS, metavar="TOPIC", help=f"of {', '.join(TOPICS)}")
    parser.add_argument("--million", action="store_true", help="a million samples from JSON Lines (some minutes)")
    parser.add_argument("--install", action="store_true", help="measure a plain install in a fresh environment")
    given = parser.parse_args()
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.system()}; the best of some rounds\n")
    with TemporaryDirectory(prefix="genkit-eval-bench-") as folder:
        options = Options(Path(folder), quick=given.quick, million=given.million, install=given.install)
        for topic in given.only or TOPICS:
            show(topic, options)


def show(topic: str, options: Options) -> None:
    """Print a topic's tables as they come; what breaks costs its own topic."""
    try:
        for table in TOPICS[topic](options):
            print(render(table), flush=True)
    except (RuntimeError, OSError) as problem:
        print(f"{topic} could not be measured: {problem}\n", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
