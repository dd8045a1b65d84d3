"""What has to be made once for an evaluator, before the first run that names it: made, and kept beside the runs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from genkit_eval._files import Draft
from genkit_eval.datasets.yaml_files import parse_yaml, yaml_text
from genkit_eval.errors import ConfigError, DataFileError, StoreError, Unprepared
from genkit_eval.registry import Preparation, Registry

__all__ = ["prepare"]


async def prepare(registry: Registry, names: Iterable[str], folder: Path, *, may_ask: bool = True) -> list[str]:
    """Make what these evaluators lack, unless the folder has it, and define them with it; what was made is told.

    Args:
        may_ask: whether a model may be asked.

    Raises:
        ConfigError: what was kept, and perhaps edited, is of no use.
        Unprepared: it is not there, and nobody may be asked.
        ModelError: whoever was to make it did not.
    """
    told = []
    for name in names:
        work = registry.preparations[name]
        path = folder / f"{work.key}.yaml"
        made = _kept(path)
        if made is None and not may_ask:
            needs = registry.evaluator(name).needs
            raise Unprepared([name], f"{needs} ({path} is not there, and no model may be asked now)")
        if made is None:
            made = await _made(work, path)
            told.append(f"{name}: what it lacked was made by a call beside the run, and is kept in {path}")
        _define(registry, name, work, made, path)
    return told


async def _made(work: Preparation, path: Path) -> Any:
    """What is made now, and its file."""
    made = await work.make()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with Draft(path) as draft:
            draft.write(f"# {work.note}\n{yaml_text(made)}".encode())
            draft.create()
    except FileExistsError:
        # another run was quicker: both go by the same
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
