"""What has to be made once for an evaluator, before the first run that names it: made, and kept beside the runs."""

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


def take_kept(registry: Registry, names: Iterable[str], folder: Path) -> None:
    """Define these evaluators with what an earlier run made for them, where that is kept.

    Raises:
        ConfigError: what was kept, and perhaps edited, is of no use.
    """
    for name in names:
        work = registry.preparations.get(name)
        if work is None:
            # a run beside this one was quicker
            continue
        path = _path(work, folder)
        made = _kept(path)
        if made is not None:
            _define(registry, name, work, made, path)


async def make_lacking(plan: Plan, registry: Registry, folder: Path, means: Means) -> Sequence[str]:
    """Make what evaluators of the plan lack, keep it, and define them with it; what was made is told.

    Raises:
        Unprepared: only the cache may be asked.
        ModelError: whoever was to make it did not.
    """
    told = []
    for name in plan.lacking:
        work = registry.preparations.get(name)
        if work is None:
            continue
        path = _path(work, folder)
        if means.terms.cache == "only":
            needs = registry.evaluator(name).needs
            raise Unprepared([name], f"{needs} ({path} is not there, and no model may be asked now)")
        used_by = next(cell.key for cell in plan.cells if cell.evaluator.own_name == name)
        try:
            made = await means.ask_first(used_by, work.make)
        except ModelError as problem:
            said = f"evaluator '{name}' lacks what is made before the first case: {problem.problem}"
            raise JudgeError(said, kind=problem.kind, model=problem.model, text=problem.text) from problem
        _define(registry, name, work, _keep(made, work, path), path)
        told.append(
            f"{name}: what it lacked was made before the first case, at the run's expense, and is kept in {path}"
        )
    return told


def _path(work: Preparation, folder: Path) -> Path:
    return folder / f"{work.key}.yaml"


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
    except FileNotFoundError:
        return None
    except DataFileError as problem:
        raise ConfigError(str(DataFileError(str(path), problem.problems))) from problem
    except (OSError, UnicodeError) as problem:
        raise StoreError(f"{path} cannot be read: {problem}") from problem


def _define(registry: Registry, name: str, work: Preparation, made: Any, path: Path) -> None:
    try:
        registry.redefine(name, lambda registry: work.define(registry, made))
    except ConfigError as problem:
        raise ConfigError(f"{path}: {problem}: mend it, or delete the file, so that it is made anew") from problem
    registry.preparations.pop(name, None)
