"""Which folder takes the place of `.genkit`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from genkit_eval.errors import ConfigError

__all__ = ["ENVIRONMENT_VARIABLE", "find_root"]

ENVIRONMENT_VARIABLE: Final = "GENKIT_EVAL_HOME"

_MARKERS = (
    ".git",
    "pyproject.toml",
    "requirements.txt",
    "package.json",
    "go.mod",
    "pom.xml",
    "build.gradle",
    "pubspec.yaml",
)


def find_root(explicit: Path | None = None, *, start: Path | None = None) -> Path:
    """The folder that datasets and runs lie in; it need not exist, and is not made.

    The one asked for, else `GENKIT_EVAL_HOME`, else the `.genkit` of the nearest folder upwards that has one,
    looking no further than the project, else `.genkit` at the project's root, or here where there is no project.
    The home directory's own `.genkit` is never taken, because other tools keep their settings there: at home it is
    `.genkit-eval`.

    Raises:
        ConfigError: the folder we are in is gone, or there is no such home directory.
    """
    if explicit is not None:
        return _absolute(explicit, "the root")
    from_environment = os.environ.get(ENVIRONMENT_VARIABLE)
    if from_environment:
        return _absolute(Path(from_environment), ENVIRONMENT_VARIABLE)
    here = _absolute(start or Path(), "the current folder")
    home = _home()
    for folder in (here, *here.parents):
        if folder == home:
            break
        if (folder / ".genkit").is_dir() or any((folder / marker).exists() for marker in _MARKERS):
            return folder / ".genkit"
    return here / (".genkit-eval" if here == home else ".genkit")


def _absolute(path: Path, name: str) -> Path:
    try:
        return path.expanduser().absolute()
    except RuntimeError as problem:
        raise ConfigError(f"{name} is '{path}', but there is no such home directory: give a whole path") from problem
    except FileNotFoundError as problem:
        raise ConfigError("the current folder was removed: change to another one, then retry") from problem


def _home() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:
        # a user without a home, as containers often have
        return None
