"""Loading what is to be evaluated: an app by the name of its object, or the plugins that are installed."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType

from genkit_eval.app import GenkitEval
from genkit_eval.errors import ConfigError, GenkitEvalError, UnknownName
from genkit_eval.registry import Plugin

__all__ = ["KEPT", "PLUGIN_GROUP", "InstalledPlugin", "app_of_plugins", "installed_plugins", "load_app"]

PLUGIN_GROUP = "genkit_eval.plugins"
KEPT = "evaluators"
"""The folder, beside the runs, of evaluators in files."""


@dataclass(frozen=True, slots=True)
class InstalledPlugin:
    """What an entry point gave: a plugin, or the problem with it."""

    name: str
    source: str
    """The distribution that brings it, with its version, and the object it names."""
    plugin: Plugin | None = None
    problem: str | None = None
    took: tuple[str, ...] = ()
    """Which of the settings that were offered its factory has a parameter for."""


def installed_plugins(
    found: Iterable[EntryPoint] | None = None, *, offered: Mapping[str, object] | None = None
) -> list[InstalledPlugin]:
    """The plugins of the entry-point group `genkit_eval.plugins`, by name; one that is broken costs only itself.

    Of the settings that are `offered`, like a judge, a plugin's factory is given those that it has a parameter for.
    """
    points = entry_points(group=PLUGIN_GROUP) if found is None else found
    return [_loaded(point, offered or {}) for point in sorted(points, key=lambda point: point.name)]


def app_of_plugins(plugins: Iterable[InstalledPlugin], *, root: Path | None) -> tuple[GenkitEval, list[str]]:
    """An app with those plugins, and what is wrong with the others."""
    app, problems = GenkitEval(root=root), []
    for found in plugins:
        problem = found.problem
        if found.plugin is not None:
            plugin = found.plugin
            problem = _problem_of(lambda plugin=plugin: app.registry.install(plugin))  # type: ignore[misc]
        if problem is not None:
            problems.append(f"plugin '{found.name}' of {found.source} is left out: {problem}")
    return app, problems


def _loaded(point: EntryPoint, offered: Mapping[str, object]) -> InstalledPlugin:
    distribution = f"{point.dist.name} {point.dist.version}" if point.dist is not None else "an unknown distribution"
    source = f"{distribution} ({point.value})"
    kept: list[Plugin] = []
    taken: dict[str, object] = {}

    def load() -> None:
        value = point.load()
        if not isinstance(value, Plugin) and offered:
            taken.update(_taken(value, offered))
        plugin = value if isinstance(value, Plugin) else value(**taken)
        if not isinstance(plugin, Plugin):
            raise ConfigError(f"{point.value} gives {type(plugin).__name__}, not a Plugin")
        kept.append(plugin)

    problem = _problem_of(load)
    return InstalledPlugin(point.name, source, kept[0] if kept else None, problem, tuple(taken))


def _taken(factory: Callable[..., object], offered: Mapping[str, object]) -> dict[str, object]:
    """Those settings that the factory names as parameters; `**anything` is not a promise to use them."""
    parameters = inspect.signature(factory).parameters
    by_name = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return {name: value for name, value in offered.items() if name in parameters and parameters[name].kind in by_name}


def _problem_of(load: Callable[[], object]) -> str | None:
    try:
        load()
    except GenkitEvalError as problem:
        return str(problem)
    except (Exception, SystemExit) as problem:  # noqa: BLE001 - a stranger's code: one broken plugin must not cost the others
        return _with_place(problem)
    return None


def load_app(ref: str, *, folder: Path | None = None) -> GenkitEval:
    """The app that "module:object" or "path/to/file.py:object" names; modules are looked for in `folder` first.

    Raises:
        ConfigError: no such module or object, an error while it is imported, or an object that is no GenkitEval.
    """
    place, _, name = ref.rpartition(":") if not ref.endswith(".py") else (ref, "", "")
    folder = (folder or Path.cwd()).absolute()
    module = _module(place or name, folder, ref)
    if not place or not name:
        raise ConfigError(f"app '{ref}' names no object: write {_advice(module, place or name)}")
    value: object = module
    for part in name.split("."):
        if not hasattr(value, part):
            apps = _apps(module)
            problem = (
                UnknownName("object", name, apps) if apps else f"{place} has no GenkitEval object: define one there"
            )
            raise ConfigError(f"app '{ref}': {problem}")
        value = getattr(value, part)
    if not isinstance(value, GenkitEval):
        found = type(value).__name__
        raise ConfigError(f"app '{ref}' is {found}, not a GenkitEval: write {_advice(module, place)}")
    return value


def _module(place: str, folder: Path, ref: str) -> ModuleType:
    try:
        if place.endswith(".py"):
            return _module_of_file((folder / Path(place).expanduser()).absolute(), ref)
        _search_first(folder)
        return importlib.import_module(place)
    except GenkitEvalError:
        raise
    except ModuleNotFoundError as problem:
        if problem.name is not None and (place == problem.name or place.startswith(f"{problem.name}.")):
            raise ConfigError(f"app '{ref}': there is no module '{problem.name}' here or installed") from problem
        raise ConfigError(f"app '{ref}' cannot be imported: {_with_place(problem)}") from problem
    except (Exception, SystemExit) as problem:
        raise ConfigError(f"app '{ref}' cannot be imported: {_with_place(problem)}") from problem


def _module_of_file(path: Path, ref: str) -> ModuleType:
    if not path.is_file():
        raise ConfigError(f"app '{ref}': there is no file {path}")
    # types and pickles look their module up by its name, which must not take the place of another
    name = path.stem if path.stem not in sys.modules else f"_app_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ConfigError(f"app '{ref}': {path} is not a Python file")
    _search_first(path.parent)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _search_first(folder: Path) -> None:
    """Let the app import what lies beside it, as `python app.py` would."""
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def _apps(module: ModuleType) -> list[str]:
    return [name for name, value in vars(module).items() if isinstance(value, GenkitEval)]


def _advice(module: ModuleType, place: str) -> str:
    names = _apps(module)
    return " or ".join(f"'{place}:{name}'" for name in names) or f"'{place}:NAME' with the name of a GenkitEval object"


def _with_place(problem: BaseException) -> str:
    """An exception in a line, with the place in the user's code that raised it."""
    text = f"{type(problem).__name__}: {problem}" if str(problem) else type(problem).__name__
    frames = [frame for frame in traceback.extract_tb(problem.__traceback__) if not frame.filename.startswith("<")]
    if not frames or isinstance(problem, SyntaxError) or frames[-1].filename == __file__:
        return text
    return f"{text} ({frames[-1].filename}, line {frames[-1].lineno})"
