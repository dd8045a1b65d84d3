"""Measuring: each arm in a fresh process, arms in turn, the best of several rounds."""

from __future__ import annotations

import gc
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time, time
from typing import Any

__all__ = ["ROOT", "Arm", "Cost", "best", "children_cpu", "environment", "in_child", "measured", "report"]

ROOT = Path(__file__).parents[2]


@dataclass(slots=True)
class Cost:
    """What a piece of work took, and what it came to."""

    wall: float = 0.0
    cpu: float = 0.0
    added: float = 0.0
    """Peak of the resident memory above what was resident before, in bytes."""
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Arm:
    """A function of a module of the benchmark, to be called in a process of its own; it returns a Cost."""

    work: Callable[..., Cost]
    arguments: Mapping[str, Any] = field(default_factory=dict)


@contextmanager
def measured() -> Iterator[Cost]:
    """The cost of what is done within."""
    cost = Cost()
    gc.collect()
    before = _resident_now()
    cpu, wall = process_time(), perf_counter()
    yield cost
    cost.wall, cost.cpu = perf_counter() - wall, process_time() - cpu
    cost.added = _resident_peak() - before


def children_cpu() -> float:
    """The CPU time of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def environment() -> dict[str, str]:
    """For other processes: the same modules as here, wherever they come from."""
    variables = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    # where no compiled modules may be written, all would be compiled each time: nobody's installation is so
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    return variables


def in_child(arm: Arm) -> Cost:
    """Run an arm in a fresh interpreter."""
    name = f"{arm.work.__module__}:{arm.work.__name__}"
    command = [sys.executable, "-m", "tests.bench.child", name, json.dumps(dict(arm.arguments))]
    # each arm finds an empty cache: no judge's reply is that of another arm
    with TemporaryDirectory() as cache:
        variables = environment() | {"GENKIT_EVAL_CACHE": cache}
        done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{name} ended with {done.returncode}:\n{done.stderr}")
    cost = Cost(**json.loads(done.stdout.splitlines()[-1]))
    cost.facts["exit"] = time() - cost.facts.pop("ended")
    return cost


def best(arms: Mapping[str, Arm], rounds: int) -> dict[str, Cost]:
    """Run all arms in turn, several times: the least wall time, CPU time and memory of each, and its last facts."""
    costs: dict[str, list[Cost]] = {name: [] for name in arms}
    for _ in range(rounds):
        for name, arm in arms.items():
            costs[name].append(in_child(arm))
    return {name: _least(of_arm) for name, of_arm in costs.items()}


def _least(costs: list[Cost]) -> Cost:
    return Cost(
        wall=min(cost.wall for cost in costs),
        cpu=min(cost.cpu for cost in costs),
        added=min(cost.added for cost in costs),
        facts=costs[-1].facts,
    )


def report(cost: Cost) -> str:
    """As a child tells its parent, and when."""
    cost.facts["ended"] = time()
    return json.dumps(asdict(cost))


def _resident_now() -> float:
    try:
        # 5: the peak starts again from what is resident now
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return _peak_of_process()
    return _status("VmRSS")


def _resident_peak() -> float:
    return _status("VmHWM") if Path("/proc/self/status").exists() else _peak_of_process()


def _status(name: str) -> float:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return 1024.0 * next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def _peak_of_process() -> float:
    # where there is no /proc: bytes on macOS
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
