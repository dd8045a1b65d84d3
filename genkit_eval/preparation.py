"""What has to be made once for an evaluator, before the first run that names it: made, and kept beside the runs.

Each plan takes what is kept beside its own runs, so that it may be edited, and the app's registry stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from genkit_eval._files import Draft
from genkit_eval.datasets.yaml_files import parse_yaml, yaml_text
from genkit_eval.engine import Means, Plan
from genkit_eval.errors import ConfigError, DataFileError, JudgeError, ModelError, StoreError, Unprepared
from genkit_eval.registry import Preparation, Registry

__all__ = ["make_lacking", "take_kept"]

ADVICE = "mend it, or delete the file, so that it is made anew"


def take_kept(registry: Registry, names: Iterable[str], root: Path) -> Registry:
    """The registry with what an earlier run made for these evaluators, where that is kept under the root.

    Raises:
        ConfigError: what was kept, and perhaps edited, is of no use.
    """
    for name in names:
        path = _path(registry.preparations[name], root)
        if path.exists():
            registry = _defined(registry, name, _kept(path), path)
    return registry


async def make_lacking(plan: Plan, root: Path, means: Means) -> tuple[Registry, Sequence[str]]:
    """The plan's registry with what its evaluators lack, which is made and kept; and what there is to tell of it.

    Raises:
        Unprepared: only the cache may be asked, and it does not hold the answer.
        ModelError: whoever was to make it did not.
    """
    registry, told = plan.registry, []
    for name in plan.lacking:
        work = registry.preparations[name]
        path = _path(work, root)
        made = _keep(await _made(plan, name, path, means), work, path)
        registry = _defined(registry, name, made, path)
        # which may be what another run was quicker to keep
        told.append(f"{name}: what it lacked was made before the first case, at the run's expense; it goes by {path}")
    return registry, told


async def _made(plan: Plan, name: str, path: Path, means: Means) -> Any:
    used_by = next(cell.key for cell in plan.cells if cell.evaluator.own_name == name)
    try:
        return await means.ask_first(used_by, plan.registry.preparations[name].make)
    except ModelError as problem:
        if problem.kind == "not_cached":
            needs = plan.registry.evaluator(name).needs
            why = f"{path} is not there, and only the cache may be asked, which has no answer"
            raise Unprepared(name, f"{needs} ({why})") from problem
        said = f"evaluator '{name}' lacks what is made before the first case: {problem.problem}"
        raise JudgeError(said, kind=problem.kind, model=problem.model, text=problem.text) from problem


def _path(work: Preparation, root: Path) -> Path:
    return root / "prepared" / f"{work.key}.yaml"


def _keep(made: Any, work: Preparation, path: Path) -> Any:
    """What holds from now on: what was made, or what another run was quicker to keep."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with Draft(path) as draft:
            draft.write(f"# {work.note}\n{yaml_text(made)}".encode())
            draft.create()
    except FileExistsError:
        return _kept(path)
    except OSError as problem:
        raise StoreError(f"{path} cannot be written: {problem.strerror}") from problem
    return made


def _kept(path: Path) -> Any:
    try:
        return parse_yaml(path.read_text(encoding="utf-8"))
    except DataFileError as problem:
        raise ConfigError(f"{DataFileError(str(path), problem.problems)}: {ADVICE}") from problem
    except (OSError, UnicodeError) as problem:
        raise StoreError(f"{path} cannot be read: {problem}") from problem


def _defined(registry: Registry, name: str, made: Any, path: Path) -> Registry:
    work = registry.preparations[name]
    try:
        return registry.redefined(name, lambda fresh: work.define(fresh, made))
    except ConfigError as problem:
        raise ConfigError(f"{path}: {problem}: {ADVICE}") from problem
