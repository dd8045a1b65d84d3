"""What importing costs beside importing pydantic, and what a plain install brings along."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement

from tests.bench.measure import ROOT, environment
from tests.bench.options import Options
from tests.bench.table import Row, Table, count, megabytes, seconds

__all__ = ["tables"]

OURS = "from genkit_eval import DataPoint, GenkitEval, Score"
BASELINE = "from pydantic import BaseModel, Field, JsonValue"
MOST_TIMES, MOST_SECONDS = 1.25, 0.150
MOST_DISTRIBUTIONS, MOST_BYTES = 31, 40e6

# the interpreter's own start is not counted
_TIMED = "import time; t = time.process_time(); {}; print(time.process_time() - t)"


def tables(options: Options) -> Iterator[Table]:
    """Imports, then the install."""
    yield _imports(5 if options.quick else 20)
    yield _installed(options)


def _imports(rounds: int) -> Table:
    statements = [BASELINE, OURS]
    times: dict[str, list[float]] = {statement: [] for statement in statements}
    for _ in range(rounds + 1):
        for statement in statements:
            times[statement].append(float(_printed(_TIMED.format(statement))))
    # the first one of each may have compiled
    theirs, ours = (min(times[statement][1:]) for statement in statements)
    loaded = _printed("import genkit_eval, sys; print('pydantic' in sys.modules)") == "True"
    return Table(
        "Imports, CPU time",
        [
            Row("import genkit_eval: pydantic is loaded", "", "yes" if loaded else "no", None, "no", not loaded),
            Row(OURS, seconds(theirs), seconds(ours), ours / theirs, f"≤ {MOST_TIMES} ×", ours <= MOST_TIMES * theirs),
            Row("", "", seconds(ours), None, f"≤ {seconds(MOST_SECONDS)}", ours <= MOST_SECONDS),
        ],
        [f"baseline: {BASELINE}"],
    )


def _printed(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment(), capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def _installed(options: Options) -> Table:
    found = _fresh(options.folder / "install") if options.install else _from_metadata()
    size = sum(found.values())
    largest = sorted(found.items(), key=lambda item: -item[1])[:5]
    return Table(
        "Plain install, " + ("in a fresh environment" if options.install else "by the metadata of this environment"),
        [
            Row("distributions", "", count(len(found)), None, f"≤ {MOST_DISTRIBUTIONS}", len(found) <= 31),
            Row("size without .pyc", "", megabytes(size), None, f"≤ {megabytes(MOST_BYTES)}", size <= MOST_BYTES),
        ],
        ["the largest: " + ", ".join(f"{name} {megabytes(bytes_)}" for name, bytes_ in largest)],
    )


def _fresh(folder: Path) -> dict[str, int]:
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    own = {"pip", "setuptools"}
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--quiet", "install", str(ROOT)]
    subprocess.run(pip, check=True, stdout=sys.stderr)
    packages = next(iter(folder.glob("lib/python*/site-packages")), folder / "Lib" / "site-packages")
    return {
        name: _size(found)
        for found in distributions(path=[str(packages)])
        if (name := _normal(found.metadata["Name"])) not in own
    }


def _from_metadata() -> dict[str, int]:
    """The distributions that a plain install needs, as far as this environment has them."""
    sizes = {"genkit-eval": _own_size()}
    wanted: list[str] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    while wanted:
        need = Requirement(wanted.pop())
        name = _normal(need.name)
        if name not in sizes and (need.marker is None or need.marker.evaluate({"extra": ""})):
            found = distribution(name)
            sizes[name] = _size(found)
            wanted += found.requires or ()
    return sizes


def _own_size() -> int:
    folders = (ROOT / "genkit_eval", *(ROOT / "plugins").iterdir())
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    return sum(path.stat().st_size for path in files)


def _size(found: Distribution) -> int:
    paths = [Path(str(file.locate())) for file in found.files or () if file.suffix != ".pyc"]
    return sum(path.stat().st_size for path in paths if path.is_file())


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
