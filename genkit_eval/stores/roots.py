"""Which folder takes the place of `.genkit`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

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
    """
    if explicit is not None:
        return explicit.expanduser().absolute()
    from_environment = os.environ.get(ENVIRONMENT_VARIABLE)
    if from_environment:
        return Path(from_environment).expanduser().absolute()
    here = (start or Path.cwd()).absolute()
    home = Path.home()
    for folder in (here, *here.parents):
        if folder == home:
            break
        if (folder / ".genkit").is_dir() or any((folder / marker).exists() for marker in _MARKERS):
            return folder / ".genkit"
    return here / (".genkit-eval" if here == home else ".genkit")
